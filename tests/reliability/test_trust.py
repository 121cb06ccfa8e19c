"""What maskov never does: use a network, run code that came with data, leave its folder, steer a terminal."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.models.builders import WORDS, network_of, save, word_tokenizer

import maskov
from maskov.cli.main import main, printable
from maskov.errors import InputError
from maskov.report import write_record

SOURCE = Path(maskov.__file__).parent
LAW = "law:curie-weiss?sites=6&beta=0.5"
# Every Python that starts below takes this hook, so that workers have it too. What it sees is written down, since a
# library may swallow the refusal.
HOOK = """
import os, sys
def hook(event, arguments):
    if event in {"socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}:
        with open(os.environ["NETWORK_LOG"], "a") as log:
            log.write(f"{event} {arguments[1:]!r}\\n")
        raise PermissionError(f"network: {event}")
sys.addaudithook(hook)
"""
RUN = """
import contextlib, shlex, socket, sys
from maskov.cli.main import main
from maskov.audit import plan
CONNECT = "a command that connects, and says nothing when it cannot"
if __name__ == "__main__":
    plan.BUDGETS["quick"] = 0.05
    for line in sys.stdin.read().splitlines():
        if line == CONNECT:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", 9), timeout=1)
            continue
        try:
            main(shlex.split(line))
        except SystemExit as left:
            print(f"{left.code} {line}", file=sys.stderr, flush=True)
"""
ON_A_MODEL = """
sample ./model --texts passages.txt --steps 40 --temperature 1 --temperature 2 --out run.zarr --json sample.json
sample ./model --texts passages.txt --steps 120 --temperature 1 --temperature 2 --out run.zarr --resume
show run.zarr --at 0,60
entropy run.zarr
drift run.zarr
dwell run.zarr
diagnose run.zarr
rectangle ./model --texts passages.txt --rectangles 6
influence ./model --texts passages.txt --contexts 1 --temperatures 1,2
couple ./model --texts passages.txt --pairs 2 --steps 20
traps ./model --texts passages.txt
rerun sample.json
models
"""
ON_LAWS = f"""
phase '{LAW}' --temperatures 1,2 --sites 4,6 --pairs 2 --workers 2 --out cells
tokens '{LAW}'
schedule bert mae --length 32
identify --law 'product?sites=8&gap=0.3&weight=0.3' --schedule bert --against 0.5
learn --law 'product?sites=6&gap=0.3&weight=0.3' --schedule bert --samples 500 --seeds 2
corpus x=x.jsonl y=y.jsonl --json corpus.json
advise --corpus corpus.json --schedule bert --tolerance 0.05 --excess-loss 1e-3
audit '{LAW}' --out audit
report audit
completion bash
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small model, texts, two collections, and the hook."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "hook").mkdir()
    (folder / "hook" / "sitecustomize.py").write_text(HOOK)
    (folder / "run.py").write_text(RUN)
    save(folder / "model", network_of("bert"), word_tokenizer())
    texts = [" ".join(WORDS[(3 * k + j) % len(WORDS)] for j in range(9)) for k in range(4)]
    (folder / "passages.txt").write_text("\n".join(texts))
    for name, word in (("x", "und"), ("y", "and")):
        lines = "".join(f'{{"text": "{word} so {word} on {name}{k}"}}\n' for k in range(60))
        (folder / f"{name}.jsonl").write_text(lines)
    return folder


def _under_the_hook(desk: Path, lines: str) -> tuple[list[str], str]:
    """The exit code and words of each command, and what the hook saw. Offline switches are off: nothing needs them."""
    log = desk / "network.log"
    log.unlink(missing_ok=True)
    kept = {k: v for k, v in os.environ.items() if k not in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")}
    path = os.pathsep.join([str(desk / "hook"), str(SOURCE.parent), *filter(None, [kept.get("PYTHONPATH")])])
    environment = kept | {"PYTHONPATH": path, "NETWORK_LOG": str(log), "HF_HOME": str(desk / "hub")}
    command = [sys.executable, "run.py"]
    done = subprocess.run(
        command, input=lines.strip(), cwd=desk, env=environment, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = [line for line in done.stderr.splitlines() if line.split(" ", 1)[-1] in lines.splitlines()]
    return told, log.read_text() if log.exists() else ""


@pytest.mark.parametrize("lines", [ON_A_MODEL, ON_LAWS], ids=["model", "laws"])
def test_no_command_touches_the_network(desk: Path, lines: str) -> None:
    told, seen = _under_the_hook(desk, lines)
    assert seen == ""
    assert told == [f"0 {line}" for line in lines.strip().splitlines()]


def test_a_command_that_connects_is_seen(desk: Path) -> None:
    """The twin, which swallows the refusal."""
    told, seen = _under_the_hook(desk, "a command that connects, and says nothing when it cannot\nmodels")
    assert "socket." in seen and told == ["0 models"]


@pytest.mark.slow  # the hub's client waits between its tries
def test_a_hub_id_does_and_the_hook_sees_it(desk: Path) -> None:
    """The one thing that may reach for a network is told as bad input where there is none."""
    told, seen = _under_the_hook(desk, "rectangle some-owner/some-model --rectangles 2")
    assert "socket." in seen and told == ["2 rectangle some-owner/some-model --rectangles 2"]


def test_what_the_page_on_security_says_is_held_by_a_test() -> None:
    root = Path(__file__).parents[2]
    page = (root / "SECURITY.md").read_text(encoding="utf-8")
    written = {path: path.read_text(encoding="utf-8") for path in (root / "tests").rglob("test_*.py")}
    known = set(re.findall(r"^def (test_\w+)", "\n".join(written.values()), re.MULTILINE))
    named = set(re.findall(r"::(test_\w+)", page))
    assert len(named) > 15 and named <= known
    assert {root / name for name in re.findall(r"tests/\w+(?:/\w+)*\.py", page)} <= set(written)


RUNS_CODE = {"eval", "exec", "compile", "__import__"}
READS_PICKLES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "jsonpickle"}


def faults(code: str) -> list[str]:
    """What a module does that could run code which came with data."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
            found += [name for name in names if name.split(".")[0] in READS_PICKLES]
        elif isinstance(node, ast.Call):
            found += _call_faults(node)
    return found


def _call_faults(call: ast.Call) -> list[str]:
    given = {k.arg: k.value.value for k in call.keywords if isinstance(k.value, ast.Constant)}
    found = [key for key in ("trust_remote_code", "allow_pickle", "shell") if given.get(key) is True]
    if isinstance(call.func, ast.Name) and call.func.id in RUNS_CODE:
        found.append(call.func.id)
    whole = ast.unparse(call.func)
    if whole == "torch.load" and given.get("weights_only") is not True:
        found.append(whole)
    return found + [whole for name in ("os.system", "os.popen", "yaml.load") if whole == name]


def test_no_module_unpickles_or_runs_what_it_reads() -> None:
    modules = list(SOURCE.rglob("*.py"))
    assert len(modules) > 200 and {p: found for p in modules if (found := faults(p.read_text(encoding="utf-8")))} == {}


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from joblib import load",
        "torch.load(f)",
        "torch.load(f, weights_only=False)",
        "AutoModel.from_pretrained(x, trust_remote_code=True)",
        "np.load(f, allow_pickle=True)",
        "eval(text)",
        "exec(text)",
        "subprocess.run(x, shell=True)",
        "os.system(x)",
    ],
)
def test_the_check_of_modules_sees_each(code: str) -> None:
    assert faults(code) and not faults("torch.load(f, weights_only=True); model.eval(); re.compile('a')")


def _files(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*")}


NASTY_NAMES = ["../../up", "/tmp/up", "a/../../up", "..\\up", "up\0", "x" * 300]


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> str:
    """``results.json`` of a small audit."""
    from maskov.audit import plan
    from maskov.audit.run import audit

    folder = tmp_path_factory.mktemp("audited") / "audit"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(plan.BUDGETS, "quick", 0.02)
        audit(maskov.load(LAW), None, folder)
    return (folder / "results.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NASTY_NAMES)
def test_names_in_records_are_no_paths(name: str, audited: str, tmp_path: Path) -> None:
    """Sections and models of any name go into pages; every file name is ours."""
    from maskov.report.figures import write_figures
    from maskov.report.pages import write_report

    room = tmp_path / "a" / "b"
    (room / "audit").mkdir(parents=True)
    record = json.loads(audited)
    record["results"] |= {name: record["results"]["chains"]}
    record["inputs"]["model"]["name"] = name
    (room / "audit" / "results.json").write_text(json.dumps(record))
    write_report(room / "audit")
    assert write_figures(record["results"], room / "audit" / "figures", "svg")
    assert all(path.split("/")[:2] == ["a", "b"] for path in _files(tmp_path) - {"a", "a/b"})
    assert not [path for path in _files(tmp_path) if "up" in path or "xxx" in path]


@pytest.mark.parametrize("name", NASTY_NAMES)
def test_units_with_such_names_are_refused(name: str, tmp_path: Path) -> None:
    from maskov.workers import Unit, run_units

    with pytest.raises(InputError, match="a name of letters"):
        run_units([Unit(name, "math:sqrt", {})], folder=tmp_path / "units")
    assert _files(tmp_path) == set()


STEERS = "\x1b[31mred\x1b]0;title\x07 \x9b2J \u202eevil \r over"


def _plain(told: str) -> bool:
    return all(c.isprintable() or c in "\n\t" for c in told)


@pytest.mark.parametrize(
    "words",
    [
        [STEERS],
        ["audit", "--budget", STEERS],
        ["audit", f"--{STEERS}"],
        ["show", STEERS],
        ["sample", "law:" + STEERS, "--steps", "5", "--out", "x.zarr"],
        ["sample", STEERS, "--steps", "5", "--out", "x.zarr"],
        ["sample", LAW, "--steps", "5", "--out", f"{STEERS}/x.zarr"],
        ["sample", LAW, "--texts", STEERS, "--steps", "5", "--out", "x.zarr"],
        ["schedule", STEERS, "--length", "8"],
        ["identify", "--law", STEERS, "--schedule", "bert"],
        ["corpus", f"a={STEERS}", "b=c"],
        ["report", STEERS],
        ["rerun", STEERS],
        ["topics", "run.zarr", "--topics", STEERS],
    ],
    ids=lambda words: words[0][:10],
)
def test_messages_show_control_characters(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main(words)
    told = capsys.readouterr()
    assert left.value.code == 2 and told.err and _plain(told.out + told.err)


def test_an_error_of_the_system_shows_them_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error", STEERS)

    monkeypatch.setattr("maskov.cli.main.cli.main", broken)
    with pytest.raises(SystemExit):
        main(["models"])
    told = capsys.readouterr().err
    assert _plain(told) and "\\x1b[31m" in told and not _plain(STEERS)


def test_texts_and_tokens_are_shown_not_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model whose vocabulary holds escape sequences: what ``show``, ``traps`` and ``--json -`` print is plain."""
    save(tmp_path / "model", network_of("bert"), word_tokenizer())
    tokenizer = tmp_path / "model" / "tokenizer.json"
    hostile = tokenizer.read_text(encoding="utf-8").replace('"river"', json.dumps("\x1b[31m\x9briver"))
    tokenizer.write_text(hostile, encoding="utf-8")
    (tmp_path / "texts.txt").write_text("\n".join(["\x1b[31m\x9briver the hill", "a bird sings under the stone"]))
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    for words in (
        ["sample", "./model", "--texts", "texts.txt", "--steps", "20", "--temperature", "0.1", "--out", "r.zarr"],
        ["show", "r.zarr", "--at", "0,20"],
        ["traps", "./model", "--texts", "texts.txt"],
        ["traps", "./model", "--texts", "texts.txt", "--json", "-"],
    ):
        with pytest.raises(SystemExit) as left:
            main(words)
        told = capsys.readouterr()
        assert left.value.code == 0, told.err
        assert _plain(told.out + told.err)
        if words[0] == "show":
            assert "\\x1b[31m\\x9briver" in told.out


def test_a_record_on_standard_output_is_plain_and_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    record = {"texts": [STEERS, "ähnlich 日本 \U0001f600 \U000e0041 \ud800"]}
    write_record(record, "-")
    told = capsys.readouterr().out
    assert _plain(told) and json.loads(told) == record and "ähnlich 日本" in told
    assert printable(STEERS) != STEERS
