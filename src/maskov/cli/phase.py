"""``maskov phase``: where do chains stop forgetting, over temperatures and lengths?"""

from __future__ import annotations

from typing import Any

import click

from maskov.cli.options import study_options, temperatures_option, texts_option

EXAMPLE = """\b
Examples:
  maskov phase en-tiny --sites 8,16,32 --temperatures 1,1.5,2,2.5,3 --out phase
  maskov phase en-tiny --sites 8,16,32 --temperatures 1,1.5,2,2.5,3 --out phase --resume
  maskov phase 'law:curie-weiss?sites=8&beta=1' --coupling uniform --pairs 100
"""


def _whole(context: click.Context, option: click.Parameter, text: str | None) -> tuple[int, ...] | None:
    try:
        return None if text is None else tuple(int(part) for part in text.split(","))
    except ValueError:
        raise click.BadParameter(f"expected whole numbers with commas, got {text!r:.60}") from None


@click.command("phase", epilog=EXAMPLE, short_help="Meeting and hitting times over temperatures and lengths.")
@click.argument("model_name", metavar="MODEL")
@texts_option
@temperatures_option("0.3,0.37,0.456,0.562,0.693,0.854,1.05,1.3,1.6,1.97,2.43,3")
@click.option(
    "--sites", metavar="LIST", callback=_whole, help="Comma list of n.  [default: 8,16,32,64,128, where texts allow]"
)
@click.option("--pairs", type=click.IntRange(2), default=16, show_default=True, metavar="N", help="Pairs in each cell.")
@click.option("--max-sweeps", type=float, metavar="S", help="Longest run.  [default: twice the crossover's n log n]")
@click.option(
    "--multiple", type=float, default=5.0, show_default=True, metavar="M", help="Crossover at M n log n steps."
)
@click.option(
    "--coupling",
    type=click.Choice(["maximal", "uniform", "gumbel"]),
    default="maximal",
    show_default=True,
    help="How one draw is shared.",
)
@click.option(
    "--starts", default="auto", show_default=True, metavar="auto|texts|permutation|worst[:TOKEN]", help="As in couple."
)
@click.option("--embedder", default="auto", show_default=True, help="For hitting times; none without them (laws).")
@click.option("--fraction", type=float, default=0.9, show_default=True, help="Of the plateau, that counts as a hit.")
@click.option("--out", "folder", metavar="FOLDER", help="One file a cell, so that a run can go on later.")
@click.option(
    "--resume", is_flag=True, help="Go on with FOLDER, also with more temperatures or sites; complete cells are kept."
)
@click.option("--workers", default="1", show_default=True, metavar="N|ray", help="Processes, or a Ray cluster.")
@click.option("--ray-address", metavar="ADDRESS", help="Of a Ray cluster that runs.")
@study_options
def command(
    model_name: str,
    texts: str | None,
    temperatures: tuple[float, ...],
    sites: tuple[int, ...] | None,
    folder: str | None,
    device: str,
    dtype: str,
    seed: int,
    json_target: str | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Phase diagram of MODEL: how long two chains take to meet, and a chain to drift away, at each temperature and
    length n; the crossover temperature of each n, and whether it moves with n.

    Texts are cropped to n tokens. The sites of a law are replaced by n.
    """
    from maskov.cli.inputs import load_model, texts_for
    from maskov.cli.output import finish, model_inputs
    from maskov.cli.progress import bar
    from maskov.phase import phase_diagram

    model = load_model(model_name, device, dtype)
    with bar("cells", quiet, "cell") as progress:
        found = phase_diagram(
            model,
            texts_for(model, texts),
            temperatures=temperatures,
            sites=sites,
            folder=folder,
            device=device,
            dtype=dtype,
            seed=seed,
            progress=progress,
            **options,
        )
    asked = {
        key: options[key] for key in ("pairs", "max_sweeps", "multiple", "coupling", "starts", "embedder", "fraction")
    }
    inputs = model_inputs(model, seed=seed, texts=texts, temperatures=temperatures, sites=found.sites, **asked)
    finish("phase", inputs, found, json_target, quiet, warnings=_warnings(found))


def _warnings(found: Any) -> list[str]:
    """What a reader should mind: lengths without texts, starts of several texts, crossovers off the grid."""
    told = []
    if found.left_out:
        told.append(f"no two texts are long enough for n = {', '.join(map(str, found.left_out))}: left out")
    joined = sorted({c.sites for c in found.cells if c.joined})
    if joined:
        told.append(f"starts of n = {', '.join(map(str, joined))} run on from one text into the next")
    for c in found.meeting.crossovers:
        side = getattr(c.value, "side", None)
        if side is not None:
            told.append(f"n = {c.sites}: τ_c is {'above' if side == 'lower' else 'below'} the temperatures of the grid")
        if c.crossings > 1:
            told.append(
                f"n = {c.sites}: the share of slow pairs crosses one half {c.crossings} times; the hottest counts"
            )
    return told
