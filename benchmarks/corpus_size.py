"""Wall time and peak memory of ``maskov corpus`` on large collections.

    python benchmarks/corpus_size.py --megabytes 50

Two collections of random text are written to a temporary folder: 50,000 words with Zipf's frequencies, of which the
second collection likes every other one more and its neighbour less; documents of log-normal length about 2,000
characters, in paragraphs; no document twice. The command then runs in a process of its own, and its seconds and peak
resident memory are printed as one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

VOCABULARY, TILT, TYPICAL = 50_000, 0.25, 300  # words; log-odds of the tilt; words of a typical document
LETTERS = np.frombuffer(b"etaoinshrdlucmfwypvbgkqjxz", dtype=np.uint8)


def vocabulary(rng: np.random.Generator) -> NDArray[np.str_]:
    """Distinct words, short ones first."""
    sizes = np.clip(rng.normal(np.linspace(3, 9, VOCABULARY), 1.5), 2, 14).astype(int)
    words = dict.fromkeys(bytes(rng.choice(LETTERS, size)).decode() for size in sizes)
    return np.array(list(words))


def frequencies(words: int, sign: int) -> NDArray[np.float64]:
    """Zipf's law, every other word e^{±tilt} times as frequent: [words]."""
    p = np.exp(sign * TILT * (-1.0) ** np.arange(words)) / (np.arange(words) + 2.7)
    return np.asarray(p / p.sum())


def write_collection(path: Path, size: int, words: NDArray[np.str_], sign: int, rng: np.random.Generator) -> int:
    """Documents as JSONL until ``size`` bytes are written; returns how many."""
    p, written, count = frequencies(len(words), sign), 0, 0
    with path.open("w", encoding="utf-8") as file:
        while written < size:
            lengths = np.clip(rng.lognormal(np.log(TYPICAL), 0.6, 256), 20, 5000).astype(int)
            drawn = np.split(words[rng.choice(len(words), size=int(lengths.sum()), p=p)], np.cumsum(lengths)[:-1])
            for document in drawn:
                paragraphs = [" ".join(document[k : k + 60]) + "." for k in range(0, len(document), 60)]
                written += file.write(json.dumps({"text": "\n\n".join(paragraphs)}) + "\n")
                count += 1
    return count


def measured(command: list[str]) -> dict[str, float]:
    """Seconds and peak resident megabytes of a command that must succeed."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    return {
        "seconds": round(seconds, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3),
    }


def main() -> None:
    """Write, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=50, help="of each collection")
    parser.add_argument("--tokenizer", default="words")
    parser.add_argument("--quick", action="store_true", help="naive Bayes on single tokens alone")
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    words = vocabulary(rng)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.jsonl" for name in ("a", "b")]
        documents = [
            write_collection(path, int(args.megabytes * 1e6), words, sign, rng)
            for path, sign in zip(paths, (1, -1), strict=True)
        ]
        command = [sys.executable, "-m", "maskov", "corpus", *(f"{p.stem}={p}" for p in paths)]
        command += ["--tokenizer", args.tokenizer, "--json", f"{folder}/record.json"]
        found = measured(command + ["--quick"] * args.quick)
        verdict = json.loads(Path(folder, "record.json").read_text())["results"]["verdict"]
    print(json.dumps({"megabytes": args.megabytes, "documents": documents, **found, "verdict": verdict}))


if __name__ == "__main__":
    main()
