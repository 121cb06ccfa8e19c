"""``maskov diagnose``: has a run mixed?"""

from __future__ import annotations

from typing import Any

import click

from maskov.cli.options import json_option, quiet_option, seed_option

EXAMPLE = """\b
Examples:
  maskov sample antibody --texts chains.fasta --chains 8 --sweeps 300 --out run.zarr
  maskov diagnose run.zarr
  maskov diagnose run.zarr --discard 0.5 --target-ess 1000 --json diagnosis.json
"""


@click.command("diagnose", epilog=EXAMPLE, short_help="Is a run mixed? ESS, R-hat, stuck chains, how long to run.")
@click.argument("run", metavar="RUN")
@click.option("--discard", type=float, default=0.25, show_default=True, help="Share of the steps to leave out first.")
@click.option("--target-ess", type=float, default=400.0, show_default=True, help="Effective draws that are enough.")
@click.option("--target-r-hat", type=float, default=1.01, show_default=True, help="R-hat that is low enough.")
@click.option("--model", "model_name", metavar="MODEL", help="Where the run's model lies now, to read stuck chains.")
@click.option("--no-texts", is_flag=True, help="Load no model; stuck chains without their texts.")
@seed_option
@json_option
@quiet_option
def command(
    run: str,
    discard: float,
    target_ess: float,
    target_r_hat: float,
    model_name: str | None,
    no_texts: bool,
    seed: int,
    json_target: str | None,
    quiet: bool,
) -> None:
    """Whether the chains of RUN have mixed, temperature by temperature: effective sample size and split R-hat of scalar
    summaries, chains that are stuck, and how many sweeps would be enough.
    """
    from maskov.cli.output import finish
    from maskov.diagnostics import diagnose
    from maskov.glauber import open_trace

    trace = open_trace(run)
    found = diagnose(trace, discard=discard, target_ess=target_ess, target_r_hat=target_r_hat, seed=seed)
    warnings: list[str] = []
    if not no_texts and any(cell.stuck for cell in found.cells):
        found = _read(found, run, model_name, warnings)
    asked = {"discard": discard, "target_ess": target_ess, "target_r_hat": target_r_hat, "seed": seed}
    inputs = {"run": run, "model": trace.manifest.model, **asked}
    finish("diagnose", inputs, found, json_target, quiet, warnings=warnings)


def _read(found: Any, run: str, model_name: str | None, warnings: list[str]) -> Any:
    """The texts of stuck chains, where the model can be had; a diagnosis stands without them too."""
    from maskov.cli.inputs import load_run
    from maskov.diagnostics import with_texts
    from maskov.errors import InputError

    try:
        trace, model = load_run(run, model_name)
    except InputError as error:
        if model_name is not None:
            raise
        warnings.append(f"stuck chains are shown without their texts ({error})")
        return found
    return with_texts(found, trace, model)
