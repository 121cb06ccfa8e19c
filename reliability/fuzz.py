"""Throw inputs at every parser: each must answer or refuse with a message, at once, in little memory.

python reliability/fuzz.py --inputs 100000            # random mutants of good inputs
python reliability/fuzz.py --engine atheris --parser schedule --inputs 100000      # guided by coverage
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from reliability.mutate import mutant
from reliability.parsers import Parser, parsers

from maskov.errors import MaskovError

CORPUS = Path(__file__).parent / "corpus"
# Of the processor, so that a busy machine makes nobody slow; and of the clock, for a parser that only waits.
SECONDS, WAIT = 2.0, 60.0
MEGABYTES = 512


class Fault(NamedTuple):
    """An input that a parser neither read nor refused. data: the input; told: what happened."""

    parser: str
    data: bytes
    told: str


class TooSlow(BaseException):
    """Raised by the clock; no parser may catch it as its own."""


def _ring(number: int, frame: Any) -> None:
    raise TooSlow


@contextmanager
def _clock() -> Iterator[None]:
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, _ring)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.setitimer(signal.ITIMER_REAL, WAIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def attempt(parser: Parser, data: bytes) -> Fault | None:
    """One input: None when it was read or refused with exit code 2 and a message."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with _clock(), warnings.catch_warnings():
            warnings.simplefilter("error")
            parser.read(data)
    except MaskovError as error:
        return _message_fault(parser, data, error)
    except TooSlow:
        return Fault(parser.name, data, f"more than {SECONDS} s")
    except BaseException as error:
        return Fault(parser.name, data, f"{type(error).__name__}: {error}"[:200])
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return Fault(parser.name, data, f"{grown:.0f} MB") if grown > MEGABYTES else None


def _message_fault(parser: Parser, data: bytes, error: MaskovError) -> Fault | None:
    """A refusal must have exit code 2 and a message of bounded length that a terminal can print."""
    from maskov.cli.main import printable

    text = printable(str(error))
    if error.exit_code != 2:
        return Fault(parser.name, data, f"exit code {error.exit_code}: {text[:100]}")
    if not 0 < len(text) < 2000:
        return Fault(parser.name, data, f"a message of {len(text)} characters")
    return None


def run(parser: Parser, inputs: int, first: int = 0) -> tuple[list[Fault], dict[str, float]]:
    """``inputs`` mutants; at most twenty faults, and how it went."""
    faults: list[Fault] = []
    started = time.monotonic()
    for number in range(first, first + inputs):
        fault = attempt(parser, mutant(parser.seeds, number))
        if fault is not None:
            faults.append(fault)
            if len(faults) >= 20:
                break
    seconds = time.monotonic() - started
    return faults, {"inputs": number - first + 1, "seconds": seconds}


def regressions(parser: Parser) -> list[Path]:
    """Inputs that once were faults."""
    return sorted((CORPUS / parser.name).glob("*")) if (CORPUS / parser.name).is_dir() else []


def keep(fault: Fault) -> Path:
    """Store a fault's input among the regressions."""
    import hashlib

    folder = CORPUS / fault.parser
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / hashlib.sha256(fault.data).hexdigest()[:16]
    target.write_bytes(fault.data)
    return target


def guided(parser: Parser, inputs: int) -> None:
    """The same under atheris: inputs that reach new code are kept and changed further. Stops at the first fault."""
    import atheris

    def one(data: bytes) -> None:
        fault = attempt(parser, data)
        if fault is not None:
            keep(fault)
            raise AssertionError(f"{fault.told}: {fault.data!r}")

    atheris.instrument_all()
    seeds = CORPUS / "seeds" / parser.name
    seeds.mkdir(parents=True, exist_ok=True)
    for k, seed in enumerate(parser.seeds):
        (seeds / str(k)).write_bytes(seed)
    atheris.Setup([sys.argv[0], f"-runs={inputs}", "-max_len=2000", "-verbosity=0", str(seeds)], one)
    atheris.Fuzz()


def main() -> None:
    """Print one line a parser; leave with 1 when there was a fault."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--inputs", type=int, default=100_000)
    options.add_argument("--first", type=int, default=0, help="number of the first mutant")
    options.add_argument("--parser", help="one parser only")
    options.add_argument("--engine", choices=["random", "atheris"], default="random")
    given = options.parse_args()
    chosen = [p for p in parsers() if given.parser in (None, p.name)]
    if given.engine == "atheris":
        guided(chosen[0], given.inputs)
    wrong = sum(_tell(parser, run, given.inputs, given.first) for parser in chosen)
    sys.exit(1 if wrong else 0)


def _tell(parser: Parser, how: Callable[..., Any], inputs: int, first: int) -> int:
    faults, went = how(parser, inputs, first)
    print(f"{parser.name:16} {went['inputs']:>8,} inputs  {went['seconds']:7.1f} s  {len(faults)} faults", flush=True)
    for fault in faults:
        print(f"  {keep(fault)}: {fault.told}", flush=True)
    return len(faults)


if __name__ == "__main__":
    main()
