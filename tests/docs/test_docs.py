"""Documentation that works: commands parse and run, blocks of Python run, the site builds without a warning."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from tests.docs.commands import RECORDS, ROOT, Shown, made_small, pages, shown
from tests.models.builders import WORDS, network_of, save, word_tokenizer

from maskov.cli.main import cli, main

TEXTS = [" ".join(WORDS[(3 * k + j) % len(WORDS)] for j in range(9)) for k in range(4)]
EVERY = [command for page in pages() for command in shown(page)]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what a reader of the pages has: three models, passages, chains."""
    folder = tmp_path_factory.mktemp("desk")
    for k, name in enumerate(("model", "first", "second")):
        save(folder / "path" / "to" / name, network_of("bert", seed=k), word_tokenizer())
    (folder / "passages.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    chains = ["EVQLLESGGGLVQPGGSLRLSCAASGFTFSSYAMS", "QVQLQQSGAELARPGASVKMSCKASGYTFTRYTMH"]
    (folder / "chains.fasta").write_text("".join(f">c{k}\n{c}\n" for k, c in enumerate(chains)), encoding="utf-8")
    for name, word in (("german", "und"), ("english", "and")):
        lines = "".join(f'{{"text": "{word} so {word} on {name}{k}"}}\n' for k in range(60))
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    _topic_files(folder)
    return folder


def _topic_files(folder: Path) -> None:
    """Anchors of three topics, other texts of the same topics, a sample of training text, shares of topics."""
    topics = {f"t{t}": [" ".join(Random(100 * t + k).sample(WORDS, 6)) for k in range(12)] for t in range(3)}
    (folder / "topics.json").write_text(json.dumps(topics), encoding="utf-8")
    (folder / "shares.json").write_text(json.dumps(dict.fromkeys(topics, 0.2)), encoding="utf-8")
    labelled = [{"topic": f"t{k % 3}", "text": " ".join(Random(f"held {k}").sample(WORDS, 7))} for k in range(45)]
    (folder / "passages.jsonl").write_text("".join(json.dumps(line) + "\n" for line in labelled), encoding="utf-8")
    (folder / "training-sample.txt").write_text(
        "\n".join(f"{WORDS[k % len(WORDS)]} {TEXTS[k % 4]}" for k in range(20)), encoding="utf-8"
    )


def test_there_are_commands_to_check() -> None:
    assert len(EVERY) > 40 and len({command.page for command in EVERY}) > 8


@pytest.mark.parametrize("command", EVERY, ids=lambda c: f"{c.page}: {c.line[:60]}")
def test_every_shown_command_parses(command: Shown) -> None:
    found = cli.get_command(None, command.words[0])  # type: ignore[arg-type]
    assert found is not None, command.words[0]
    found.make_context(command.words[0], list(command.words[1:]))


def _page_names() -> list[str]:
    return [page.name for page in pages() if page.name not in RECORDS and shown(page)]


@pytest.mark.parametrize("name", _page_names())
def test_every_shown_command_runs(name: str, desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from maskov.audit import plan

    for part in desk.iterdir():
        (tmp_path / part.name).symlink_to(part)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(plan.BUDGETS, "quick", 0.5)
    page = next(page for page in pages() if page.name == name)
    for command in shown(page):
        found = cli.get_command(None, command.words[0])  # type: ignore[arg-type]
        takes_texts = found is not None and any("--texts" in option.opts for option in found.params)
        with pytest.raises(SystemExit) as left:
            main([*made_small(command.words, takes_texts)])
        assert left.value.code == 0, command.line


_PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = [(page.name, block) for page in pages() for block in _PYTHON.findall(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(("name", "block"), BLOCKS, ids=[f"{n}-{k}" for k, (n, _) in enumerate(BLOCKS)])
def test_every_block_of_python_runs(
    name: str, block: str, desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in desk.iterdir():
        (tmp_path / part.name).symlink_to(part)
    monkeypatch.chdir(tmp_path)
    exec(compile(block, name, "exec"), {"__name__": "page"})


def _site_python() -> str:
    """The interpreter that has mkdocs: `make test` gives it an environment of its own, since the newest theme and the
    oldest templates that pygpcca admits do not agree.
    """
    own = ROOT / ".venv-docs" / "bin" / "python"
    if own.exists():
        return str(own)
    pytest.importorskip("material", reason="the site needs `make docs`, or maskov[docs]")
    return sys.executable


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """Strict: a page outside of the navigation, a dead link or anchor, a name without docstring is an error."""
    command = [_site_python(), "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "site" / "reference" / "studies" / "index.html").read_text(encoding="utf-8").count(">>>") == 0
