"""``maskov rerun``: make a record again and say whether it came out the same."""

from __future__ import annotations

from typing import Any

import click

from maskov.cli.output import say

EXAMPLE = """\b
Examples:
  maskov couple 'law:curie-weiss?sites=8&beta=0.5' --pairs 8 --json couple.json
  maskov rerun couple.json
"""


@click.command("rerun", epilog=EXAMPLE, short_help="Make a record again, and compare.")
@click.argument("record", metavar="RECORD")
@click.option("--tolerance", type=float, default=0.0, show_default=True, help="Share by which numbers may differ.")
@click.option("--json", "json_target", metavar="FILE", help="Keep the new record in FILE.")
@click.pass_context
def command(context: click.Context, record: str, tolerance: float, json_target: str | None) -> int:
    """Carry out the command that made RECORD, and compare the results: exit 0 when they agree, 1 when they don't.

    Laws repeat to the last bit. Networks repeat on the same machine and versions; elsewhere allow a --tolerance.
    Files that the command named are read from where they lie now, relative to the present folder.
    """
    from maskov.report.differences import differences
    from maskov.report.record import read_record

    before = read_record(record)
    after = _again(context, before, record, json_target)
    found = differences(before["results"], after["results"], tolerance)
    for change in _changed_inputs(before["inputs"], after["inputs"]):
        say(change)
    for difference in found[:20]:
        say(f"{difference.path}: {_short(difference.before)} before, {_short(difference.after)} now")
    if len(found) > 20:
        say(f"… and {len(found) - 20} more")
    say("the results differ" if found else "the results are the same")
    return 1 if found else 0


def _again(context: click.Context, before: dict[str, Any], name: str, target: str | None) -> dict[str, Any]:
    """The new record of the command that made an old one."""
    import tempfile
    from pathlib import Path

    from maskov.report.record import read_record

    words = _checked(before, name)
    with tempfile.TemporaryDirectory() as folder:
        new = Path(target) if target else Path(folder) / "new.json"
        writes = words[0] == "audit" or any(word.split("=")[0] == "--out" for word in words)
        out = ["--out", str(Path(folder) / "out")] if writes else []
        again = [*_without(words, "--json", "--out", "--resume"), *out, "--json", str(new)]
        group = context.find_root().command
        code = group.main(again, prog_name="maskov", standalone_mode=False)
        if code:
            raise click.exceptions.Exit(int(code))
        return read_record(new)


def _checked(before: dict[str, Any], name: str) -> list[str]:
    from maskov.errors import InputError

    words = before["inputs"].get("arguments")
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        remedy = "only records that a command wrote can be made again"
        raise InputError(name, expected="a record with its command's words", came="none", remedy=remedy)
    if words[0] in ("rerun", "report", "completion") or words[0] != before["command"]:
        raise InputError(name, expected=f"the words of maskov {before['command']}", came=words[0][:40])
    if "-" in words and "--json" not in words[max(0, words.index("-") - 1)]:
        remedy = "write the texts to a file and run the command on it"
        raise InputError(name, expected="texts in a file", came="standard input", remedy=remedy)
    return words


def _without(words: list[str], *options: str) -> list[str]:
    """``words`` without these options and their values; ``--resume`` has none."""
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in options:
            skip = word != "--resume"
        elif not word.startswith(tuple(f"{option}=" for option in options)):
            kept.append(word)
    return kept


def _changed_inputs(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Sentences on versions, model and settings that are others now."""
    from maskov.report.differences import differences

    old, new = ({k: v for k, v in inputs.items() if k not in ("arguments", "out")} for inputs in (before, after))
    return [f"note: {d.path} was {_short(d.before)}, is {_short(d.after)}" for d in differences(old, new)]


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "…"
