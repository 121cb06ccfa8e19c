"""What a notebook makes of a trace: a frame of its series, and a table in place of a row of words."""

from __future__ import annotations

import numpy as np
import pytest

from maskov.compatibility import entropy_production
from maskov.glauber import glauber
from maskov.glauber.trace import Trace
from maskov.models import load


@pytest.fixture(scope="module")
def trace() -> Trace:
    model = load("law:curie-weiss?sites=6&beta=0.4")
    return glauber(model, ["000000", "111111"], temperature=[0.5, 2.0], steps=100, window=8, chains=3)


def test_a_frame_has_one_row_per_window_and_chain(trace: Trace) -> None:
    frame = trace.to_dataframe()
    assert len(frame) == 13 * 6 and frame["step"].max() == 100  # the last window is shorter
    for b in range(6):
        mine = frame[frame["chain"] == b]
        assert (mine["temperature"] == trace.temperatures[b]).all() and (np.diff(mine["step"]) > 0).all()
        for name, values in trace.series.items():
            assert np.array_equal(mine[name].to_numpy(), values[:, b], equal_nan=True)


def test_a_trace_shows_itself_and_escapes_what_it_shows(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "curie-weiss" in trace._repr_html_() and "0.5, 2" in trace._repr_html_()
    monkeypatch.setitem(trace.manifest.model, "name", "<script>")
    assert "<script>" not in trace._repr_html_() and "&lt;script&gt;" in trace._repr_html_()


def test_entropy_production_prints_its_numbers(trace: Trace) -> None:
    found = entropy_production(trace)
    assert len(str(found).splitlines()) == 3 and f"{found.cells[1].production.value:.4f}" in str(found)
    assert "Estimate(" not in found._repr_html_()
