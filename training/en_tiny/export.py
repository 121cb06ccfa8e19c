"""Write a checkpoint as the folder that the package ships: float16 weights, configuration and tokenizer.

    python export.py CHECKPOINT --seed-model FOLDER --out en-tiny

The configuration names float32 as the type to compute in, so that a plain ``from_pretrained`` widens the stored float16
numbers (exactly) and layer norms and softmaxes run in the precision that the card's figures were measured in.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from transformers import AutoTokenizer, BertForMaskedLM

LIMIT = 10_000_000  # bytes of model.safetensors


def export(checkpoint: Path, seed_model: Path, out: Path) -> int:
    """Write config.json, model.safetensors and the tokenizer files to ``out``; the bytes of the weights.

    Raises ``ValueError`` where a weight is too large for float16 or the file is larger than the package allows.
    """
    model = BertForMaskedLM.from_pretrained(checkpoint).half()
    wrong = [name for name, weight in model.named_parameters() if not weight.isfinite().all()]
    if wrong:
        raise ValueError(f"not finite in float16: {', '.join(wrong)}")
    model.save_pretrained(out)
    AutoTokenizer.from_pretrained(seed_model).save_pretrained(out)
    _edit(out / "config.json", dtype="float32")
    _edit(out / "tokenizer_config.json", is_local=None, local_files_only=None)
    for file in out.iterdir():
        file.chmod(0o644)
    size = (out / "model.safetensors").stat().st_size
    if size > LIMIT:
        raise ValueError(f"model.safetensors has {size} bytes, more than {LIMIT}")
    return size


def _edit(path: Path, **changes: str | None) -> None:
    """Set entries of a JSON file; None removes one (how a tokenizer was loaded is no part of it)."""
    content = json.loads(path.read_text(encoding="utf-8")) | changes
    kept = {key: value for key, value in content.items() if key not in changes or value is not None}
    path.write_text(json.dumps(kept, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def main() -> None:
    """Export and print the size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--seed-model", type=Path, required=True, help="folder with the tokenizer")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    print(f"{export(args.checkpoint, args.seed_model, args.out)} bytes of weights in {args.out}")


if __name__ == "__main__":
    main()
