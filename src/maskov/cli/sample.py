"""``maskov sample``: run chains into a trace."""

from __future__ import annotations

import shlex
from typing import Any

import click

from maskov.cli.options import clamp_option, out_option, study_options, temperature_option, texts_option

EXAMPLE = """\b
Examples:
  maskov sample en-tiny --temperature 0.5 --temperature 1 --sweeps 50 --out run.zarr
  maskov sample antibody --texts chains.fasta --clamp 1-30 --steps 2000 --out run.zarr
  maskov sample en-tiny --temperature 0.5 --temperature 1 --sweeps 200 --out run.zarr --resume
  maskov sample en-tiny --scan '0.9*bert+0.1*full' --sweeps 50 --out blocks.zarr
"""


@click.command("sample", epilog=EXAMPLE, short_help="Run mask-and-resample chains into a trace.")
@click.argument("model_name", metavar="MODEL")
@texts_option
@temperature_option
@click.option("--steps", type=click.IntRange(1), metavar="N", help="Steps of every chain.")
@click.option("--sweeps", type=float, metavar="N", help="Sweeps: every free site N times, on average.")
@click.option("--chains", type=click.IntRange(1), metavar="B", help="Per temperature.  [default: one per text]")
@clamp_option
@out_option
@click.option(
    "--scan",
    default="single",
    show_default=True,
    metavar="SCAN",
    help="Sites of a step: single (random), systematic (in order), or the hidden set of a mask schedule, as hide:3.",
)
@click.option("--resume", is_flag=True, help="Continue the run at --out, if there is one.")
@click.option(
    "--engine",
    type=click.Choice(["auto", "lazy", "plain"]),
    default="auto",
    show_default=True,
    help="How to get the same trajectory.",
)
@study_options
def command(
    model_name: str,
    texts: str | None,
    temperatures: tuple[float, ...],
    steps: int | None,
    sweeps: float | None,
    chains: int | None,
    clamp: str | None,
    out: str,
    scan: str,
    resume: bool,
    engine: str,
    seed: int,
    device: str,
    dtype: str,
    json_target: str | None,
    quiet: bool,
) -> None:
    """Glauber dynamics of MODEL: mask one random free site, draw it from the model's conditional, repeat.

    Chains start at the texts, all temperatures run in one batch, and the trace holds every change. Ctrl-C keeps what is
    complete; --resume goes on to the same trace as an uninterrupted run. With --scan SCHEDULE a step resamples a block.
    """
    from maskov.cli.inputs import load_model, texts_for
    from maskov.cli.output import finish, model_inputs
    from maskov.cli.progress import run_bar
    from maskov.cli.provenance import command_line
    from maskov.glauber.run import glauber

    model = load_model(model_name, device, dtype)
    starts = texts_for(model, texts)
    with run_bar(quiet) as progress:
        trace = glauber(
            model,
            starts,
            temperature=list(temperatures) or [1.0],
            steps=steps,
            sweeps=sweeps,
            seed=seed,
            chains=chains,
            out=out,
            clamp=clamp,
            resume=resume,
            command=command_line(),
            progress=progress,
            engine=engine,
            scan=scan,
        )
    asked = {"temperatures": list(temperatures) or [1.0], "clamp": clamp, "scan": scan, "out": out}
    inputs = model_inputs(model, seed=seed, texts=texts, **asked)
    finish("sample", inputs, summary(trace), json_target, quiet, text=_told(trace, out))


def summary(trace: Any) -> dict[str, Any]:
    """The record's ``results`` of a run: its size, and change rate and entropy of each temperature."""
    import numpy as np

    series, temperatures = trace.series, trace.temperatures
    rates = [
        {
            "temperature": float(t),
            "change_rate": float(np.mean(series["changed"][:, temperatures == t])),
            "entropy": float(np.mean(series["entropy"][:, temperatures == t])),
        }
        for t in dict.fromkeys(temperatures.tolist())
    ]
    sites = [len(s.free) for s in trace.starts]
    return {"steps": trace.steps, "chains": trace.n_chains, "sites": float(np.mean(sites)), "temperatures": rates}


def _told(trace: Any, out: str) -> str:
    from maskov.glauber.scan import read_scan

    found = summary(trace)
    sweeps = found["steps"] / read_scan(trace.manifest.scan).steps_per_sweep(round(found["sites"]))
    chains = f"{found['chains']} chain{'s' if found['chains'] > 1 else ''}"
    head = f"{chains} × {found['steps']} steps ({sweeps:.3g} sweeps) in {out}"
    rows = [
        f"  τ = {r['temperature']:<6g} change rate {r['change_rate']:.3f} per step, entropy {r['entropy']:.3f} nats"
        for r in found["temperatures"]
    ]
    return "\n".join([head, *rows, f"read them with: maskov show {shlex.quote(out)} --chain 0 --at 0,{found['steps']}"])
