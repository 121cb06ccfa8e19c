"""``maskov couple``: when do two chains with shared randomness meet?"""

from __future__ import annotations

import click

from maskov.cli.options import clamp_option, study_options, temperature_option, texts_option

EXAMPLE = """\b
Examples:
  maskov couple en-tiny --temperature 1.5 --temperature 2 --pairs 8 --steps 2000
  maskov couple 'law:curie-weiss?sites=64&beta=0.5' --coupling uniform --pairs 100
"""


@click.command("couple", epilog=EXAMPLE, short_help="When do two chains with shared randomness meet?")
@click.argument("model_name", metavar="MODEL")
@texts_option
@temperature_option
@click.option(
    "--pairs",
    type=click.IntRange(1),
    metavar="N",
    help="Number of pairs.  [default: one per text, 16 at most; 100 on a law]",
)
@click.option(
    "--coupling",
    type=click.Choice(["maximal", "uniform", "gumbel"]),
    default="maximal",
    show_default=True,
    help="How one draw is shared.",
)
@click.option("--steps", type=click.IntRange(1), metavar="N", help="Longest run.  [default: 20 n log n, at least 1000]")
@click.option(
    "--starts",
    default="auto",
    show_default=True,
    metavar="auto|texts|permutation|worst[:TOKEN]",
    help="Two texts; a text and its permutation; or the worst case (all TOKEN, by default '!') against a text.",
)
@click.option(
    "--lag", type=click.IntRange(1), metavar="L", help="Also bound the distance to stationarity by L-lag chains."
)
@clamp_option
@study_options
def command(
    model_name: str,
    texts: str | None,
    temperatures: tuple[float, ...],
    pairs: int | None,
    coupling: str,
    steps: int | None,
    starts: str,
    lag: int | None,
    clamp: str | None,
    seed: int,
    device: str,
    dtype: str,
    json_target: str | None,
    quiet: bool,
) -> None:
    """Meeting times of coupled chains on MODEL: P(not met by t) bounds the memory of the start from above.

    A law without texts starts from its worst case, all-plus against all-minus.
    """
    from maskov.cli.inputs import load_model, texts_for
    from maskov.cli.output import finish, model_inputs
    from maskov.cli.progress import bar
    from maskov.coupling import meeting_times

    model = load_model(model_name, device, dtype)
    values = list(temperatures) or [1.0]
    with bar("coupled steps", quiet) as progress:
        found = meeting_times(
            model,
            texts_for(model, texts),
            temperatures=values,
            coupling=coupling,
            n_pairs=pairs,
            starts=starts,
            max_steps=steps,
            lag=lag,
            seed=seed,
            clamp=clamp,
            progress=progress,
        )
    inputs = model_inputs(
        model,
        seed=seed,
        texts=texts,
        temperatures=values,
        pairs=pairs,
        coupling=coupling,
        steps=steps,
        starts=starts,
        lag=lag,
        clamp=clamp,
    )
    late = [f"τ = {c.temperature:g}: {c.censored} of {c.n_pairs} pairs had not met" for c in found.cells if c.censored]
    finish("couple", inputs, found, json_target, quiet, warnings=late)
