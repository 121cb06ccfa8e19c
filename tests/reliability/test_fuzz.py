"""Parsers answer or refuse: on what once broke them, on a few hundred mutants, and the harness sees a broken twin."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reliability.fuzz import Parser, attempt, regressions, run
from reliability.mutate import mutant
from reliability.parsers import parsers

from maskov.errors import InputError, RunError

ALL = parsers()


@pytest.mark.parametrize("parser", ALL, ids=lambda p: p.name)
def test_good_inputs_are_read(parser: Parser) -> None:
    read = [seed for seed in parser.seeds if _reads(parser, seed)]
    assert read, "no seed is a good input"


def _reads(parser: Parser, data: bytes) -> bool:
    try:
        parser.read(data)
    except InputError:
        return False
    return True


@pytest.mark.parametrize("parser", ALL, ids=lambda p: p.name)
def test_what_once_broke_a_parser_does_not(parser: Parser) -> None:
    for path in regressions(parser):
        assert attempt(parser, path.read_bytes()) is None, path


@pytest.mark.parametrize("parser", ALL, ids=lambda p: p.name)
def test_mutants_are_read_or_refused(parser: Parser) -> None:
    faults, _ = run(parser, 150, first=10**9)
    assert faults == []


@pytest.mark.parametrize("parser", ALL, ids=lambda p: p.name)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.binary(max_size=200) | st.text(max_size=80).map(lambda t: t.encode("utf-8", "surrogatepass")))
def test_anything_is_read_or_refused(parser: Parser, data: bytes) -> None:
    assert attempt(parser, data) is None


def test_mutants_depend_on_their_number_alone_and_differ() -> None:
    seeds = ALL[0].seeds
    some = [mutant(seeds, k) for k in range(200)]
    assert some == [mutant(seeds, k) for k in range(200)] and len(set(some)) > 150


def _twin(read: Any) -> Parser:
    return Parser("twin", (b"x",), read)


def _endless(data: bytes) -> None:
    while True:
        time.monotonic()


def _greedy(data: bytes) -> int:
    return len(bytearray(800 * 2**20))


def _wordy(data: bytes) -> None:
    raise InputError("input", expected="x" * 5000, came="something")


def _failing(data: bytes) -> None:
    raise RunError("not the input's fault")


@pytest.mark.parametrize(
    ("read", "told"),
    [
        (lambda data: 1 // 0, "ZeroDivisionError"),
        (_endless, "more than"),
        (_greedy, "MB"),
        (_wordy, "characters"),
        (_failing, "exit code 1"),
    ],
)
def test_the_harness_sees_broken_parsers(read: Any, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reliability.fuzz.WAIT", 20.0)
    monkeypatch.setattr("reliability.fuzz.SECONDS", 10.0 if told == "MB" else 2.0)
    fault = attempt(_twin(read), b"x")
    assert fault is not None and told in fault.told


def test_the_corpus_of_regressions_is_named_after_parsers() -> None:
    corpus = Path(__file__).parents[2] / "reliability" / "corpus"
    names = {path.name for path in corpus.iterdir()} if corpus.is_dir() else set()
    assert names <= {parser.name for parser in ALL} | {"seeds"}
