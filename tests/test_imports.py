"""The import graph: rooms use rooms above them only; the theory half and ``--help`` load nothing heavy."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import maskov

ROOT = Path(maskov.__file__).parent

# From LAYOUT in README.md: a room may import rooms of earlier lines, and its own.
ORDER = [
    ["errors", "quantities", "rooms"],
    ["randomness", "protocols", "results", "files", "place"],
    ["laws", "schedules", "survival", "texts", "workers"],
    ["conformance"],
    ["models"],
    ["glauber"],
    ["compatibility", "influence", "coupling", "drift", "diagnostics"],
    ["basins", "topics", "phase"],
    ["identifiability"],
    ["corpora", "learning"],
    ["advisor"],
    ["plots"],
    ["report"],
    ["audit"],
    ["cli", "__main__"],
]
RANK = {room: k for k, rooms in enumerate(ORDER) for room in rooms}
# Looked up when a result is asked to draw itself: by name, at call time.
BY_NAME = {("results", "plots")}


def _room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("maskov."):
            found.add(node.module.split(".")[1])
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[1] for alias in node.names if alias.name.startswith("maskov."))
    return found


def test_rooms_import_upward_only() -> None:
    wrong = []
    for path in sorted(ROOT.rglob("*.py")):
        room = _room(path)
        if room == "__init__":
            continue
        assert room in RANK, f"a room that the order does not know: {room}"
        for other in _imports(path) - {room}:
            if (room, other) not in BY_NAME and RANK[other] > RANK[room]:
                wrong.append(f"{path.relative_to(ROOT)} imports {other}")
    assert wrong == []


def test_every_room_stands_in_the_readme() -> None:
    readme = (ROOT.parents[1] / "README.md").read_text(encoding="utf-8")
    rooms = {_room(p) for p in ROOT.rglob("*.py")} - {"__init__", "__main__"}
    assert [room for room in sorted(rooms | {"data"}) if f"  {room}" not in readme] == []


def _loaded_after(code: str) -> set[str]:
    tail = "\nimport sys; print('\\n'.join(sorted({m.split('.')[0] for m in sys.modules})))"
    run = subprocess.run([sys.executable, "-c", code + tail], capture_output=True, text=True, check=True, timeout=120)
    return set(run.stdout.split())


def test_theory_never_imports_torch() -> None:
    code = "import maskov.laws, maskov.schedules, maskov.identifiability, maskov.conformance"
    assert not {"torch", "transformers", "matplotlib", "zarr"} & _loaded_after(code)


def test_import_maskov_is_instant() -> None:
    assert not {"numpy", "scipy", "torch", "click"} & _loaded_after("import maskov")


def test_help_loads_click_alone() -> None:
    code = "from click.testing import CliRunner\nfrom maskov.cli.main import cli\n"
    code += "r = CliRunner().invoke(cli, ['--help'])\nassert r.exit_code == 0, r.output"
    assert not {"numpy", "scipy", "torch", "zarr", "matplotlib", "pandas"} & _loaded_after(code)


def test_public_names_exist() -> None:
    for name in maskov.__all__:
        assert getattr(maskov, name) is not None
    assert callable(maskov.glauber) and callable(maskov.law)


def test_no_pickle_and_no_remote_code_by_default() -> None:
    for path in ROOT.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
        assert not {"pickle", "dill", "joblib", "shelve", "marshal"} & names, path
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg in ("allow_pickle", "trust_remote_code"):
                assert not (isinstance(node.value, ast.Constant) and node.value.value is True), path
