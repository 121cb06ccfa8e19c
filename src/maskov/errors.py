"""The exceptions of the package; each carries what a caller can act on."""

from __future__ import annotations


class MaskovError(Exception):
    """Anything that maskov refuses or fails at, with the exit code of the command line.

    Attributes: ``exit_code``, 1 for a failed run, 2 for bad input, 130 for an interrupt.
    """

    exit_code = 1


class InputError(MaskovError):
    """Input that cannot be used: what was expected, what came, what to do about it.

    >>> print(InputError("temperature", expected="a number above 0", came="-1", remedy="pass --temperature 1"))
    temperature: expected a number above 0, got -1; pass --temperature 1
    """

    exit_code = 2

    def __init__(self, what: str, *, expected: str, came: str, remedy: str = "") -> None:
        self.what, self.expected, self.came, self.remedy = what, expected, came, remedy
        tail = f"; {remedy}" if remedy else ""
        super().__init__(f"{_bounded(what)}: expected {expected}, got {_bounded(came)}{tail}")


def _bounded(text: str, most: int = 400) -> str:
    """What came may be as long as a file; a message that tells it may not."""
    return text if len(text) <= most else f"{text[: most - 40]}… ({len(text):,} characters)"


class ConformanceError(InputError):
    """An implementation broke the law of its protocol (``what`` names the law)."""


class StoreError(InputError):
    """A stored trace or record that is damaged, of another schema, or of another model."""


class RunError(MaskovError):
    """A run that failed for a reason outside of its input (full disk, lost worker)."""


class Interrupted(MaskovError):
    """A run that the user stopped; everything up to ``complete_steps`` is stored.

    Attributes: ``complete_steps``, steps of every chain (or units of work) that are safe; ``resume``, the command that
    goes on.
    """

    exit_code = 130

    def __init__(self, complete_steps: int, resume: str = "", what: str = "steps") -> None:
        self.complete_steps, self.resume = complete_steps, resume
        super().__init__(
            f"interrupted; {complete_steps} {what} are complete" + (f"; resume with: {resume}" if resume else "")
        )
