import numpy as np
import pytest

from maskov.errors import InputError
from maskov.laws import Tabular, law, random_tabular, read_table


def test_table_files_round_trip(tmp_path) -> None:
    p = random_tabular(3, 2, seed=1)
    for key, values in (("table", np.exp(p.table)), ("log_table", p.table + 5.0)):
        path = tmp_path / f"{key}.npz"
        np.savez(path, **{key: values})
        q = law(f"table?file={path}")
        np.testing.assert_allclose(q.table, p.table, atol=1e-12)
        assert q.text == f"table?file={path}" and law(q.text).fingerprint == q.fingerprint and len(q.fingerprint) == 64


def test_impossible_states_are_allowed(tmp_path) -> None:
    np.savez(tmp_path / "law.npz", table=np.array([[0.5, 0.0], [0.25, 0.25]]))
    p = read_table(tmp_path / "law.npz")
    assert p.log_prob(np.array([[0, 1]]))[0] == -np.inf
    assert not (p.sample(np.random.default_rng(0), 500) == [0, 1]).all(axis=1).any()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"p": np.ones(4) / 4}, "one array named table or log_table"),
        ({}, "no array"),
        ({"table": np.ones(2) / 2, "log_table": np.zeros(2)}, "got both"),
        ({"table": np.ones((2, 3)) / 6}, r"\(V, V, …, V\)"),
        ({"table": np.array(1.0)}, r"\(V, V, …, V\)"),
        ({"table": np.ones((1, 1))}, r"V ≥ 2"),
        ({"table": np.array([0.5, 0.6])}, "sum to 1"),
        ({"table": np.array([1.5, -0.5])}, "a negative one"),
        ({"table": np.array([np.nan, 1.0])}, "NaN"),
        ({"table": np.array([np.inf, 1.0])}, "sum to 1"),
        ({"table": np.zeros((0,))}, "an empty table"),
        ({"log_table": np.array([np.nan, 0.0])}, "NaN"),
        ({"log_table": np.array([np.inf, 0.0])}, "inf"),
        ({"log_table": np.array([-np.inf, -np.inf])}, "without mass"),
        ({"table": np.array(["a", "b"])}, "real numbers"),
        ({"table": np.array([0.5, 0.5j])}, "real numbers"),
        ({"table": np.array([0.5, None], dtype=object)}, "plain numbers"),
    ],
)
def test_every_malformed_file_has_its_own_message(tmp_path, arrays, message) -> None:
    path = tmp_path / "law.npz"
    np.savez(path, **arrays)
    with pytest.raises(InputError, match=message):
        read_table(path)


def test_files_that_are_no_archives(tmp_path) -> None:
    (tmp_path / "text.npz").write_text("not a zip")
    (tmp_path / "empty.npz").write_bytes(b"")
    np.save(tmp_path / "single.npy", np.ones(2))
    np.savez(tmp_path / "whole.npz", table=np.ones(64) / 64)
    (tmp_path / "cut.npz").write_bytes((tmp_path / "whole.npz").read_bytes()[:300])
    for name, message in (
        ("text.npz", "plain numbers"), ("empty.npz", "plain numbers"), ("cut.npz", "plain numbers"),
        ("single.npy", "a single array"), ("absent.npz", "no file"), (".", "a folder"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            read_table(tmp_path / name)


def test_concentration_and_seed() -> None:
    assert (random_tabular(3, 3, 1).table == random_tabular(3, 3, 1).table).all()
    assert (random_tabular(3, 3, 1).table != random_tabular(3, 3, 2).table).all()
    peaked, flat = random_tabular(3, 3, 0, 0.01).table, random_tabular(3, 3, 0, 1000.0).table
    assert np.isfinite(peaked).all() and np.ptp(flat) < 0.3 < np.ptp(peaked)
    for bad in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="concentration"):
            random_tabular(2, 2, 0, bad)


def test_concentration_one_is_uniform_on_the_simplex() -> None:
    """E p(x)² = 2/(m(m + 1)) on the flat Dirichlet law of m states."""
    second = np.mean([np.exp(2 * random_tabular(2, 3, seed).table).mean() for seed in range(400)])
    assert abs(second / (2 / (8 * 9)) - 1) < 0.1


def test_a_table_must_be_of_numbers() -> None:
    with pytest.raises(InputError, match="real numbers"):
        Tabular([["a", "b"], ["c", "d"]])
    with pytest.raises(InputError, match="table"):
        Tabular([[0.0, 1.0], [0.0]])


def test_marginal_tables() -> None:
    p = random_tabular(3, 3, seed=2)
    np.testing.assert_allclose(
        np.exp(p.log_marginal_table(np.array([True, False, True]))), np.exp(p.table).sum(axis=1), atol=1e-14
    )
    assert p.log_marginal_table(np.zeros(3, dtype=bool)).shape == ()
