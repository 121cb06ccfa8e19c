"""A data collator that masks by any schedule, for torch and the Hugging Face Trainer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskov.errors import InputError
from maskov.schedules import Schedule, schedule

Flags = NDArray[np.bool_]
IGNORED = -100


class MaskScheduleCollator:
    """Batches with hidden sites drawn from a mask schedule at each sequence's own length.

    spec: a schedule or its text form; tokenizer: of Hugging Face, with a mask token; replace: shares of hidden sites
    that become the mask token, a random token, or stay ((1, 0, 0) by default; BERT's own is (0.8, 0.1, 0.1)); seed:
    None draws anew in every process from torch's seed, so that data loader workers and epochs differ; a number makes
    batches repeat from the start of each process; pad_to_multiple_of: of the padded length.

    A call takes examples with ``input_ids`` (or lists of ids) and gives torch tensors ``input_ids``,
    ``attention_mask`` and ``labels`` [B, L], −100 where no prediction is asked for: visible sites, special tokens and
    padding. A schedule with loss weights adds ``loss_weights`` [B], the mean weight given each sequence's visible
    count; the trainer's loss must multiply by it. Sites are the tokens that are not special. Raises ``InputError``.

    >>> from maskov.schedules import schedule
    >>> schedule("0.9*bert+0.1*full").full_mask_mass(64)
    0.1
    """

    def __init__(
        self,
        spec: str | Schedule,
        tokenizer: Any,
        *,
        replace: tuple[float, float, float] = (1.0, 0.0, 0.0),
        seed: int | None = None,
        pad_to_multiple_of: int | None = None,
    ) -> None:
        self.schedule = schedule(spec)
        self.tokenizer, self.replace = tokenizer, _shares(replace)
        self.seed, self.pad_to_multiple_of = seed, pad_to_multiple_of
        if getattr(tokenizer, "mask_token_id", None) is None:
            remedy = "add one with tokenizer.add_special_tokens({'mask_token': '[MASK]'})"
            raise InputError("tokenizer", expected="one with a mask token", came="none", remedy=remedy)
        self.special = np.array(sorted(map(int, tokenizer.all_special_ids)), dtype=np.int64)
        ordinary = np.setdiff1d(np.arange(len(tokenizer)), self.special)
        self.ordinary = ordinary.astype(np.int64)
        self._generator: np.random.Generator | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without the generator: every process that the collator is sent to makes its own."""
        return {**self.__dict__, "_generator": None}

    @property
    def rng(self) -> np.random.Generator:
        """This process's generator: of ``seed`` and the loader's worker, or of torch's seed."""
        if self._generator is None:
            import torch

            info = torch.utils.data.get_worker_info()
            worker = 0 if info is None else info.id + 1
            root = torch.initial_seed() % 2**63 if self.seed is None else self.seed
            self._generator = np.random.Generator(np.random.Philox(np.random.SeedSequence([root, worker])))
        return self._generator

    def __call__(self, examples: Sequence[Any]) -> dict[str, Any]:
        """One batch."""
        import torch

        batch = self._padded(examples)
        ids = batch["input_ids"].numpy()
        sites = self._sites(ids, batch["attention_mask"].numpy() > 0)
        hidden, weights = self._hidden(sites)
        batch["labels"] = torch.from_numpy(np.where(hidden, ids, IGNORED))
        batch["input_ids"] = torch.from_numpy(self._replaced(ids, hidden))
        if self.schedule.weighted:
            batch["loss_weights"] = torch.from_numpy(weights)
        return batch

    def _padded(self, examples: Sequence[Any]) -> dict[str, Any]:
        rows = [e if hasattr(e, "keys") else {"input_ids": e} for e in examples]
        if not rows or any("input_ids" not in row for row in rows):
            raise InputError("examples", expected="tokenised examples with input_ids", came="others")
        kept = [{"input_ids": list(map(int, row["input_ids"]))} for row in rows]
        padded = self.tokenizer.pad(kept, return_tensors="pt", pad_to_multiple_of=self.pad_to_multiple_of)
        return {"input_ids": padded["input_ids"], "attention_mask": padded["attention_mask"]}

    def _sites(self, ids: NDArray[np.int64], real: Flags) -> Flags:
        return np.asarray(real & ~np.isin(ids, self.special))

    def _hidden(self, sites: Flags) -> tuple[Flags, NDArray[np.float32]]:
        """Hidden flags [B, L] and loss weights [B]; a sequence without sites has nothing hidden."""
        hidden, weights = np.zeros_like(sites), np.ones(len(sites), dtype=np.float32)
        for b, row in enumerate(sites):
            columns = np.flatnonzero(row)
            if len(columns):
                visible = self.schedule.sample_visible(len(columns), 1, self.rng)[0]
                hidden[b, columns] = ~visible
                weights[b] = _weights(self.schedule, len(columns))[int(visible.sum())]
        return hidden, weights

    def _replaced(self, ids: NDArray[np.int64], hidden: Flags) -> NDArray[np.int64]:
        mask, random, _ = self.replace
        u = self.rng.random(ids.shape)
        drawn = self.rng.choice(self.ordinary, size=ids.shape)
        found = np.where(hidden & (u < mask), int(self.tokenizer.mask_token_id), ids)
        return np.asarray(np.where(hidden & (u >= mask) & (u < mask + random), drawn, found))


@lru_cache(maxsize=4096)
def _weights(mu: Schedule, length: int) -> NDArray[np.float64]:
    """Mean loss weight given the visible count: [N + 1]; 0 where the schedule has no mass."""
    law, objective = mu.visible_law(length), mu.objective_law(length)
    ratio = np.divide(objective, law, out=np.zeros_like(law), where=law > 0)
    return np.asarray(np.where(np.isfinite(ratio), ratio, 0.0))


def _shares(replace: tuple[float, float, float]) -> tuple[float, float, float]:
    values = tuple(float(x) for x in replace)
    if len(values) != 3 or min(values) < 0 or abs(sum(values) - 1) > 1e-9:
        raise InputError("replace", expected="shares of (mask, random, keep) that sum to 1", came=repr(replace)[:60])
    return values[0], values[1], values[2]
