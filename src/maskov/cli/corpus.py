"""``maskov corpus``: how well a few visible tokens tell text collections apart."""

from __future__ import annotations

import click

from maskov.cli.options import json_option, quiet_option, seed_option

EXAMPLE = """\b
Examples:
  maskov corpus de=german.jsonl en=english.jsonl
  maskov corpus code='src/**/*.py' prose=texts/ --tokenizer bytes --json corpus.json
  maskov corpus de=german/ en=english/ --schedule bert --schedule '0.95*bert+0.05*full' --length 512
\b
A file of a folder or glob is a document; a single plain file holds one a paragraph (one a line, where no line is
blank), JSONL one a record, FASTA one a sequence. Every kind may end in .gz.
"""


@click.command("corpus", epilog=EXAMPLE, short_help="How well a few visible tokens tell text collections apart.")
@click.argument("pairs", metavar="NAME=PATH...", nargs=-1, required=True)
@click.option(
    "--tokenizer", default="words", show_default=True, metavar="words|bytes|ID", help="ID: a model's name or folder."
)
@click.option(
    "--weights",
    default="equal",
    show_default=True,
    metavar="HOW",
    help="equal, documents, tokens, or K numbers: 0.7,0.3",
)
@click.option("--schedule", "specs", multiple=True, metavar="SPEC", help="A mask schedule to read off; repeatable.")
@click.option("--length", type=click.IntRange(1), metavar="N", help="Sites of the schedules.  [default: the curve's]")
@click.option(
    "--longest", type=click.IntRange(1), metavar="V", help="Largest visible count.  [default: from the texts]"
)
@click.option("--visible", metavar="LIST", help="Visible counts with commas.  [default: 1,2,4,… up to the largest]")
@click.option("--field", default="text", show_default=True, help="Field of JSONL records that holds the text.")
@click.option("--quick", is_flag=True, help="Naive Bayes on single tokens alone: looser bounds, a tenth of the time.")
@seed_option
@json_option
@quiet_option
def command(
    pairs: tuple[str, ...],
    tokenizer: str,
    weights: str,
    specs: tuple[str, ...],
    length: int | None,
    longest: int | None,
    visible: str | None,
    field: str,
    quick: bool,
    seed: int,
    json_target: str | None,
    quiet: bool,
) -> None:
    """Upper bounds of the residual mode uncertainty of two or more text collections at 1, 2, 4, … visible tokens, and
    whether it falls exponentially or like a power."""
    from maskov.cli.output import finish
    from maskov.cli.progress import bar
    from maskov.corpora import corpus_uncertainty
    from maskov.corpora.measure import CLASSIFIERS

    collections = read_pairs(pairs)
    given = weights if weights in ("equal", "documents", "tokens") else _numbers(weights)
    counts = None if visible is None else _counts(visible)
    with bar("corpus", quiet, "%") as move:
        found = corpus_uncertainty(
            collections,
            tokenizer=tokenizer,
            weights=given,
            schedules=specs,
            length=length,
            longest=longest,
            visible=counts,
            field=field,
            classifiers=("unigram",) if quick else CLASSIFIERS,
            seed=seed,
            progress=None if move is None else lambda share, at: move(round(100 * share, 1), 100, at=at),
        )
    inputs = {
        "collections": collections,
        "tokenizer": tokenizer,
        "weights": weights,
        "schedules": list(specs),
        "length": length,
        "longest": longest,
        "visible": counts,
        "quick": quick,
        "seed": seed,
    }
    finish("corpus", inputs, found, json_target, quiet, text=found.table(), warnings=found.warnings)


def read_pairs(pairs: tuple[str, ...]) -> dict[str, str]:
    """``NAME=PATH`` arguments as a dict; ``InputError`` on a missing name or path, or a name that comes twice."""
    from maskov.errors import InputError

    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, path = pair.partition("=")
        if not equals or not name.strip() or not path:
            raise InputError("collection", expected="NAME=PATH, such as de=german/", came=repr(pair[:80]))
        if name in found:
            raise InputError("collection", expected="each name once", came=f"{name} twice", remedy="rename one of them")
        found[name] = path
    return found


def _numbers(text: str) -> list[float]:
    from maskov.errors import InputError

    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        expected = "equal, documents, tokens, or numbers with commas"
        raise InputError("--weights", expected=expected, came=repr(text[:60])) from None


def _counts(text: str) -> list[int]:
    from maskov.errors import InputError

    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError("--visible", expected="whole numbers with commas", came=repr(text[:60])) from None
