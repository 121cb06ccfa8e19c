"""``maskov topics``: which topics a run's chains keep coming back to."""

from __future__ import annotations

import click

from maskov.cli.options import json_option, quiet_option, seed_option

EXAMPLE = """\b
Examples:
  maskov topics run.zarr                                   the twelve bundled topics
  maskov topics run.zarr --topics topics.json --heldout passages.jsonl
  maskov topics run.zarr --reference training-sample.txt   against the training text
\b
FILE of --topics: JSON {"topic": ["anchor text", …]}, JSONL {"topic": …, "text": …}, or FASTA with topic=NAME headers.
"""


@click.command("topics", epilog=EXAMPLE, short_help="Topics that a run keeps coming back to.")
@click.argument("run", metavar="RUN")
@click.option("--topics", metavar="FILE", help="Topics as anchor texts, or - for standard input.  [default: bundled]")
@click.option(
    "--heldout",
    metavar="FILE|anchors",
    help="Texts with topics to calibrate on; anchors: each left out in turn.  [default: bundled passages if they fit]",
)
@click.option("--reference", metavar="FILE", help="Texts that stand for random passages, e.g. of the training text.")
@click.option("--prior", metavar="FILE", help='JSON {"topic": share}: topics among random passages.')
@click.option("--fpr", type=float, default=0.05, show_default=True, help="Of texts outside of a topic that may pass.")
@click.option("--level", type=float, default=0.05, show_default=True, help="Of the verdicts, family-wise.")
@click.option("--burn-in", type=float, default=0.1, show_default=True, help="Share of the run that does not count.")
@click.option(
    "--kept", type=click.IntRange(2), help="Most states of each chain.  [default: 400, fewer with many chains]"
)
@click.option("--shuffles", type=click.IntRange(0), default=199, show_default=True, help="Sets of shuffled topics.")
@click.option("--embedder", default="auto", show_default=True, help="use, minilm, pooled, hamming, or a folder.")
@click.option("--model", "model_name", metavar="MODEL", help="Where the run's model lies now, if it moved.")
@seed_option
@json_option
@quiet_option
def command(
    run: str,
    topics: str | None,
    heldout: str | None,
    reference: str | None,
    prior: str | None,
    fpr: float,
    level: float,
    burn_in: float,
    kept: int | None,
    shuffles: int,
    embedder: str,
    model_name: str | None,
    seed: int,
    json_target: str | None,
    quiet: bool,
) -> None:
    """Time, visits and returns of RUN's chains in each topic, against random passages and shuffled topics."""
    from maskov.cli.inputs import load_run
    from maskov.cli.output import finish, model_inputs
    from maskov.cli.progress import bar
    from maskov.topics import as_anchors, read_prior, topic_recurrence

    anchors = as_anchors(topics)  # a fault in a file should not wait for the model
    shares = None if prior is None else read_prior(prior)
    trace, model = load_run(run, model_name)
    options = {"heldout": heldout, "reference": reference, "fpr": fpr, "level": level, "burn_in": burn_in}
    more = {"kept": kept, "shuffles": shuffles, "seed": seed}
    with bar("topics", quiet, "state") as progress:
        found = topic_recurrence(
            trace,
            model,
            anchors,
            embedder,
            prior=shares,
            progress=progress,
            **options,  # type: ignore[arg-type]
            **more,  # type: ignore[arg-type]
        )
    inputs = model_inputs(model, run=run, topics=topics, prior=prior, embedder=embedder, **options, **more)
    finish("topics", inputs, found, json_target, quiet, warnings=found.notes)
