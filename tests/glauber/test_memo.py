"""The memory of contexts: what it keeps, what goes first, how much it holds; and the packs of ragged chains."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from maskov.glauber.memo import Memory, Note, context
from maskov.glauber.packs import Pack, packs, partition


def _key(k: int) -> bytes:
    return context(np.array([k, 0, 0], dtype=np.int32), 1)


def test_a_context_is_the_state_without_its_site() -> None:
    x = np.array([4, 5, 6], dtype=np.int32)
    y = np.array([4, 9, 6], dtype=np.int32)
    assert context(x, 1) == context(y, 1) != context(x, 0)
    assert len({context(x, k) for k in range(3)}) == 3 and x.tolist() == [4, 5, 6]
    assert context(x, 0) != context(y, 0)


def test_rows_least_recently_used_go_first() -> None:
    memory = Memory(columns=3, budget=4 * (2 * 412 + 8 * 100) * 4 // 3 + 8)  # room for four rows
    for k in range(4):
        memory.keep_row(_key(k), np.full(100, float(k)))
    assert memory.row(_key(0)) is not None
    memory.keep_row(_key(4), np.full(100, 4.0))
    assert memory.row(_key(1)) is None
    for k in (0, 2, 3, 4):
        row = memory.row(_key(k))
        assert row is not None and (row == k).all()


def test_notes_belong_to_context_temperature_and_token() -> None:
    memory = Memory(columns=3, budget=3 * 412 * 4)  # room for three notes
    memory.keep_note(_key(0), 0.5, 7, Note(0.1, 0.2, 0.3))
    assert memory.note(_key(0), 0.5, 7) == (0.1, 0.2, 0.3)
    for other in ((_key(1), 0.5, 7), (_key(0), 0.6, 7), (_key(0), 0.5, 8)):
        assert memory.note(*other) is None
    for k in range(1, 4):
        memory.note(_key(0), 0.5, 7)
        memory.keep_note(_key(k), 0.5, 7, Note(float(k), 0.0, 0.0))
    assert memory.note(_key(0), 0.5, 7) is not None and memory.note(_key(1), 0.5, 7) is None


def test_memory_is_bounded_in_bytes() -> None:
    memory = Memory(columns=3, budget=100_000)
    for k in range(500):
        memory.keep_row(_key(k), np.zeros(256, dtype=np.float32))
        memory.keep_note(_key(k), 1.0, 0, Note(0.0, 0.0, 0.0))
    rows, notes = sum(memory.row(_key(k)) is not None for k in range(500)), len(memory._notes)
    assert 20 < rows <= 75_000 // (1024 + 2 * 412) and 20 < notes <= 25_000 // 412


def test_room_for_rows_grows_with_regret_only() -> None:
    """Rows that nobody asks for again share the first slab; rows that return find room after some misses."""
    idle, busy = Memory(columns=3), Memory(columns=3)
    for k in range(1000):
        idle.keep_row(_key(k), np.zeros(4))
    for k in [*range(300)] * 3:
        if busy.row(_key(k)) is None:
            busy.keep_row(_key(k), np.full(4, float(k)))
    held = [sum(memory.row(_key(k)) is not None for k in range(1000)) for memory in (idle, busy)]
    assert held == [128, 300]
    assert all(row is not None and (row == k).all() for k in range(300) if (row := busy.row(_key(k))) is not None)


class _Pads:
    pad_token_id, forward_overhead = 0, 12.0

    class codec:
        limit = 20


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 20), min_size=1, max_size=8), st.floats(0.5, 60))
def test_the_cheapest_groups(lengths: list[int], overhead: float) -> None:
    sizes = np.array(lengths)
    groups = partition(sizes, overhead)
    assert sorted(np.concatenate(groups).tolist()) == list(range(len(sizes)))
    cost = sum(overhead + len(g) * sizes[g].max() for g in groups)
    values, best = np.unique(sizes), np.inf
    for cuts in range(1 << (len(values) - 1)):  # every way to cut the sorted lengths
        label = np.array([bin(cuts & ((1 << k) - 1)).count("1") for k in range(len(values))])
        of = label[np.searchsorted(values, sizes)]
        best = min(best, sum(overhead + (of == j).sum() * sizes[of == j].max() for j in np.unique(of)))
    assert np.isclose(cost, best)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 20), min_size=1, max_size=8), st.integers(0, 99))
def test_states_go_into_packs_and_back(lengths: list[int], seed: int) -> None:
    sizes = np.array(lengths)
    states = np.full((len(sizes), sizes.max()), -1)
    for row, size in zip(states, sizes, strict=True):
        row[:size] = np.random.default_rng(seed).integers(1, 9, size=size)
    after, seen = np.full_like(states, -1), []
    for pack in packs(_Pads(), sizes):
        block = pack.gathered(states, sizes)
        assert pack.width <= 20 and (block >= 0).all()
        assert ((block == 0).sum(axis=1) == pack.width - sizes[pack.members]).all()
        # Either nobody is padded, or everybody: kernels, and rounding, do not depend on who runs beside whom.
        assert len(np.unique((block == 0).any(axis=1))) == 1 or pack.width == 20
        pack.scatter(block, after, sizes)
        seen.extend(pack.members.tolist())
    assert np.array_equal(after, states) and sorted(seen) == list(range(len(sizes)))


def test_models_without_padding_run_length_by_length() -> None:
    found = list(packs(object(), np.array([3, 5, 3])))
    assert [(p.members.tolist(), p.width) for p in found] == [([0, 2], 3), ([1], 5)]
    assert isinstance(found[0], Pack)
