"""``maskov audit``: the main job, the whole study of a model."""

from __future__ import annotations

from typing import Any

import click

from maskov.cli.options import clamp_option, study_options, texts_option
from maskov.cli.output import say, warn

EXAMPLE = """\b
Examples:
  maskov audit
  maskov audit antibody --texts chains.fasta --out antibody-audit
  maskov audit FOLDER --texts passages.txt --budget standard --resume --out study
"""


@click.command("audit", epilog=EXAMPLE, short_help="Study a model: one command, one report.")
@click.argument("model_name", metavar="[MODEL]", default="en-tiny")
@texts_option
@click.option("--out", metavar="DIR", help="A new folder.  [default: audit-MODEL]")
@click.option(
    "--budget",
    type=click.Choice(["quick", "standard", "full"]),
    default="quick",
    show_default=True,
    help="About 2 minutes, 15 minutes, or 3 hours on two cores.",
)
@click.option("--resume", is_flag=True, help="Continue the audit at --out, if there is one.")
@clamp_option
@study_options
def command(
    model_name: str,
    texts: str | None,
    out: str | None,
    budget: str,
    resume: bool,
    clamp: str | None,
    seed: int,
    device: str,
    dtype: str,
    json_target: str | None,
    quiet: bool,
) -> None:
    """Study MODEL (default: the bundled English one) on texts (default: the bundled ones of its kind).

    Writes report.html, results.json, tables/*.parquet and trace.zarr into DIR.
    """
    from maskov.audit import audit
    from maskov.cli.inputs import load_model, texts_for
    from maskov.cli.provenance import command_line, provenance
    from maskov.report.pages import write_report

    folder = out or default_folder(model_name)
    model = load_model(model_name, device, dtype)
    chosen = texts_for(model, texts)
    if texts is None and chosen is not None and model.name == "en-tiny" and budget == "quick":
        from maskov.texts import openings

        chosen = openings(chosen)
    with _bar(quiet) as progress:
        done = audit(
            model,
            chosen,
            folder,
            budget=budget,
            seed=seed,
            clamp=clamp,
            resume=resume,
            command=command_line(*([] if out else ["--out", folder])),
            provenance=provenance(),
            progress=progress,
        )
        report = write_report(done.path)
    if json_target is not None:
        from maskov.report.record import write_record

        write_record(done.record(), json_target)
    if json_target != "-":
        from maskov.report.summary import sentences

        say("\n".join([*sentences(done.record()), "", f"report: {report}"]))
    if not quiet:
        warn(done.warnings)


def default_folder(model_name: str) -> str:
    """``audit-`` and the last part of the model's name, letters and digits only.

    >>> default_folder("law:curie-weiss?sites=6&beta=0.5"), default_folder("../my models/bert")
    ('audit-law-curie-weiss-sites-6-beta-0.5', 'audit-bert')
    """
    last = model_name if model_name.startswith("law:") else model_name.replace("\\\\", "/").rstrip("/").split("/")[-1]
    kept = "".join(c if c.isalnum() or c in "._" else "-" for c in last).strip("-.")
    return f"audit-{kept[:60] or 'model'}"


def _bar(quiet: bool) -> Any:
    from maskov.cli.progress import stages

    return stages(quiet)
