import contextlib
import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskov.errors import InputError
from maskov.laws import law
from maskov.laws.parse import FAMILIES


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("curie-wiess?sites=5&beta=1", "did you mean curie-weiss"),
        ("Ising-Ring?sites=5&beta=1", "did you mean ising-ring"),
        ("zzz", "expected one of curie-weiss, ising-ring"),
        ("", "no family"),
        ("law:", "no family"),
        ("ising-ring?sites=5&bta=1", "did you mean beta"),
        ("ising-ring?sites=5&color=1", "keys of sites, beta"),
        ("ising-ring?sites=5", "none for beta"),
        ("ising-ring", "none for sites, beta"),
        ("ising-ring?sites=5&beta", "beta=value"),
        ("ising-ring?sites=5&beta=", "number such as 0.5, got nothing"),
        ("ising-ring?sites=5&&beta=1", "an empty part"),
        ("ising-ring?sites=5&sites=5&beta=1", "sites twice"),
        ("ising-ring?sites=five&beta=1", "sites: expected a whole number, got 'five'"),
        ("ising-ring?sites=5.0&beta=1", "a whole number"),
        ("ising-ring?sites=0&beta=1", "from 3 to"),
        ("curie-weiss?sites=0&beta=1", "from 1 to"),
        ("curie-weiss?sites=-3&beta=1", "from 1 to"),
        ("curie-weiss?sites=99999999999999999999&beta=1", "a whole number"),
        ("curie-weiss?sites=5&beta=nan", "beta: expected a finite number"),
        ("curie-weiss?sites=5&beta=-inf", "a finite number"),
        ("curie-weiss?sites=5&beta=1e999", "a finite number"),
        ("curie-weiss?sites=5&beta=1e7", "beta"),
        ("curie-weiss?sites=5&beta=1_0", "a number such as"),
        ("curie-weiss?sites=5&beta=__import__('os')", "a number such as"),
        ("curie-weiss?sites=5&beta=٣", "a number such as"),
        ("product?sites=5&gap=0.5&weight=0.3", "gap: expected a number above 0 and below 0.5"),
        ("product?sites=5&gap=0&weight=0.3", "gap"),
        ("product?sites=5&gap=0.1&weight=1", "weight: expected a number above 0 and below 1"),
        ("product?sites=5&gap=0.1&weight=-0.1", "weight"),
        ("markov?sites=5&stay=0.9,0.6", "weight: expected 1 numbers"),
        ("markov?sites=5&stay=0.9,0.6&weight=0.3,0.3", "weight"),
        ("markov?sites=5&stay=0.9,1.0&weight=0.3", "stay"),
        ("markov?sites=5&stay=&weight=0.3", "stay|weight"),
        ("markov?sites=5&symbols=1&stay=0.9", "symbols"),
        ("incompatible?sites=3&symbols=3&strength=-1", "at least 0"),
        ("incompatible?sites=30&symbols=3", "states"),
        ("random?sites=3&symbols=3&concentration=0", "concentration"),
        ("random?sites=3&symbols=3&seed=-1", "seed"),
        ("ising-torus?rows=5&cols=5&beta=1", "states to enumerate"),
        ("table?file=", "path of an .npz file"),
        ("table?file=a\0b", "path of an .npz file"),
        ("table?file=/nowhere/law.npz", "no file"),
        ("table?sha256=abc", "a digest"),
        ("product?sha256=abc", "a digest"),
        ("ising-ring?sites=5&beta=\ud800", "lone surrogate at character 24"),
        ("\udc80", "lone surrogate at character 0"),
        (3, "text form, got int"),
        (None, "text form, got NoneType"),
    ],
)
def test_bad_forms_say_what_is_wrong(text, message) -> None:
    with pytest.raises(InputError, match=message) as error:
        law(text)
    assert error.value.exit_code == 2
    str(error.value).encode("utf-8")


def test_forms_with_defaults_prefix_and_order() -> None:
    assert (
        law("law:markov?stay=0.9,0.6&weight=0.3&sites=20").text == "markov?sites=20&symbols=2&stay=0.9,0.6&weight=0.3"
    )
    assert law("incompatible?symbols=3&sites=3").text == "incompatible?sites=3&symbols=3&seed=0&strength=1"
    assert law("curie-weiss?sites=50&beta=1.2").text == "curie-weiss?sites=50&beta=1.2"
    assert law("curie-weiss?sites=5&beta=+1.20e0").beta == 1.2


def test_pickled_files_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "law.npz"
    path.write_bytes(pickle.dumps({"table": [0.5, 0.5]}))
    with pytest.raises(InputError, match="plain numbers"):
        law(f"table?file={path}")


@settings(max_examples=150, deadline=None)
@given(
    st.text(max_size=20), st.sampled_from(sorted(FAMILIES)), st.text(alphabet="sitebagwh=&?,.0123456789e-", max_size=25)
)
def test_any_text_is_a_law_or_an_input_error(noise: str, family: str, query: str) -> None:
    for text in (noise, f"{family}?{query}", f"{family}?sites={noise}"):
        with contextlib.suppress(InputError):
            law(text)
