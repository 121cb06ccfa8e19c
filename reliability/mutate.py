"""Inputs that are nearly right: seeds cut, joined, repeated and spoiled, as a function of a number alone."""

from __future__ import annotations

import random

# What parsers trip over: numbers at the edge, brackets, separators, encodings, controls.
SPOILERS: tuple[bytes, ...] = (
    *(
        b"nan",
        b"inf",
        b"-inf",
        b"1e999",
        b"-1",
        b"0",
        b"1e-400",
        b"99999999999999999999",
        b"1_000",
        b"0x10",
        b"\xc2\xb2",
    ),
    *(
        b"[",
        b"]",
        b"{",
        b"}",
        b"(",
        b'"',
        b"'",
        b"\\",
        b",",
        b":",
        b";",
        b"=",
        b"&",
        b"?",
        b"*",
        b"+",
        b"|",
        b">",
        b"#",
    ),
    *(b"\x00", b"\n", b"\r\n", b"\r", b"\t", b" ", b"\x1b[31m", b"\x7f", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80"),
    *(
        b"\xe2\x80\xae",
        b"\xf0\x9f\x98\x80",
        b"null",
        b"true",
        b"[]",
        b"{}",
        b"../..",
        b"/etc/passwd",
        b"<script>",
        b"%s",
    ),
)


def mutant(seeds: tuple[bytes, ...], number: int, most: int = 4000) -> bytes:
    """The input of this number: a seed after one to six changes.

    >>> mutant((b"fixed:0.15",), 7) == mutant((b"fixed:0.15",), 7)
    True
    """
    rng = random.Random(number)
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.randint(1, 6)):
        _change(data, seeds, rng)
    return bytes(data[:most])


def _change(data: bytearray, seeds: tuple[bytes, ...], rng: random.Random) -> None:
    at, kind = rng.randint(0, len(data)), rng.randint(0, 7)
    length = rng.randint(1, 8)
    if kind == 0:
        del data[at : at + length]
    elif kind == 1:
        data[at:at] = rng.choice(SPOILERS)
    elif kind == 2:
        data[at : at + length] = rng.choice(SPOILERS)
    elif kind == 3 and data:
        data[min(at, len(data) - 1)] ^= 1 << rng.randint(0, 7)
    elif kind == 4:
        other = rng.choice(seeds)
        start = rng.randint(0, len(other))
        data[at:at] = other[start : start + rng.randint(1, 40)]
    elif kind == 5:
        data[at:at] = bytes(data[at : at + length]) * rng.choice((2, 3, 50, 400))
    elif kind == 6:
        del data[at:]
    else:
        data[at:at] = rng.randbytes(length)
