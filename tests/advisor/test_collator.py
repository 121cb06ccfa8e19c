"""The collator realises the schedule's law at every length, hides nothing special, and works in a Trainer."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from tests.models.builders import WORDS, network_of, word_tokenizer

from maskov.advisor import MaskScheduleCollator
from maskov.errors import InputError
from maskov.schedules import schedule

TOKENIZER = word_tokenizer()
SPECS = [
    "fixed:0.15",
    "bernoulli:0.15",
    "uniform",
    "truncnorm:0.55,0.25,0.5,1",
    "0.9*fixed:0.15+0.1*full",
    "span:0.3,2",
]


def _examples(count: int, n: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(n)
    return [dict(TOKENIZER(" ".join(rng.choice(WORDS, n)))) for _ in range(count)]


def _visible_counts(collator: MaskScheduleCollator, n: int, draws: int = 4000) -> np.ndarray:
    labels = np.concatenate([collator(_examples(200, n))["labels"].numpy() for _ in range(draws // 200)])
    return n - (labels != -100).sum(axis=1)


def _p_value(counts: np.ndarray, law: np.ndarray) -> float:
    """Of a chi-square test; counts expected fewer than five times are put together."""
    assert law[np.unique(counts)].min() > 0
    seen, wanted = np.bincount(counts, minlength=len(law)), law * len(counts)
    rare = wanted < 5
    a, b = np.append(seen[~rare], seen[rare].sum()), np.append(wanted[~rare], wanted[rare].sum())
    a, b = a[b > 0], b[b > 0]
    return float(stats.chisquare(a, b).pvalue) if len(a) > 1 else 1.0


@pytest.mark.parametrize("spec", SPECS)
def test_visible_counts_follow_the_schedule(spec: str) -> None:
    counts = _visible_counts(MaskScheduleCollator(spec, TOKENIZER, seed=1), 12)
    assert _p_value(counts, schedule(spec).visible_law(12)) > 1e-3


@pytest.mark.parametrize(("made", "asked"), [("bernoulli:0.15", "bernoulli:0.25"), ("uniform", "uniform:0.1,1")])
def test_another_schedule_is_told_apart(made: str, asked: str) -> None:
    """The twin: the right mean is not enough, and the test above has the power to see it."""
    counts = _visible_counts(MaskScheduleCollator(made, TOKENIZER, seed=1), 12)
    assert _p_value(counts, schedule(asked).visible_law(12)) < 1e-6


def test_special_tokens_and_padding_are_never_hidden() -> None:
    examples = [*_examples(5, 4), *_examples(5, 9)]
    batch = MaskScheduleCollator("full", TOKENIZER, seed=0)(examples)
    ids, labels = batch["input_ids"].numpy(), batch["labels"].numpy()
    special = np.array(TOKENIZER.all_special_ids)
    assert not np.isin(labels[labels != -100], special).any()
    assert (ids[labels != -100] == TOKENIZER.mask_token_id).all()
    for row, example in zip(labels, examples, strict=True):
        assert (row != -100).sum() == len(example["input_ids"]) - 2
    before = MaskScheduleCollator("hide:1", TOKENIZER, seed=0)(examples)
    kept = before["labels"].numpy() == -100
    original = TOKENIZER.pad([{"input_ids": e["input_ids"]} for e in examples], return_tensors="pt")[
        "input_ids"
    ].numpy()
    assert (before["input_ids"].numpy()[kept] == original[kept]).all()


def test_replacement_shares() -> None:
    batch = MaskScheduleCollator("full", TOKENIZER, replace=(0.8, 0.1, 0.1), seed=3)(_examples(2000, 10))
    ids, labels = batch["input_ids"].numpy(), batch["labels"].numpy()
    hidden = labels != -100
    masked, same = (ids == TOKENIZER.mask_token_id)[hidden].mean(), (ids == labels)[hidden].mean()
    assert masked == pytest.approx(0.8, abs=0.01)
    assert same == pytest.approx(0.1 + 0.1 / len(WORDS), abs=0.02)
    assert not np.isin(ids[hidden & (ids != TOKENIZER.mask_token_id)], TOKENIZER.all_special_ids).any()


def test_loss_weights_are_those_of_the_schedule() -> None:
    collator = MaskScheduleCollator("uniform*N/h", TOKENIZER, seed=0)
    batch = collator(_examples(50, 8))
    hidden = (batch["labels"] != -100).sum(dim=1).numpy()
    weights = batch["loss_weights"].numpy()
    assert weights[hidden > 0] == pytest.approx(8 / hidden[hidden > 0])
    assert "loss_weights" not in MaskScheduleCollator("uniform", TOKENIZER)(_examples(2, 8))


def test_batches_repeat_with_a_seed_and_workers_differ() -> None:
    examples = _examples(32, 10)
    one, two = (MaskScheduleCollator("uniform", TOKENIZER, seed=5)(examples)["labels"] for _ in range(2))
    assert torch.equal(one, two)
    loader = torch.utils.data.DataLoader(
        [examples[0]] * 32, batch_size=8, num_workers=2, collate_fn=MaskScheduleCollator("uniform", TOKENIZER, seed=5)
    )
    batches = [batch["labels"] for batch in loader]
    assert not torch.equal(batches[0], batches[1])  # two workers, one example


@pytest.mark.filterwarnings("ignore")
def test_a_trainer_takes_it(tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    from transformers import Trainer, TrainingArguments

    network = network_of("bert").train()
    before = {name: p.detach().clone() for name, p in network.named_parameters()}
    arguments = TrainingArguments(
        output_dir=str(tmp_path), max_steps=2, per_device_train_batch_size=4, report_to=[], use_cpu=True,
        disable_tqdm=True, save_strategy="no", logging_steps=1,
    )  # fmt: skip
    collator = MaskScheduleCollator("0.9*bert+0.1*full", TOKENIZER, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = Trainer(network, arguments, train_dataset=_examples(16, 9), data_collator=collator)  # type: ignore[arg-type]
        done = trainer.train()
    assert np.isfinite(done.training_loss) and done.training_loss > 0
    assert any(not torch.equal(before[name], p) for name, p in network.named_parameters())


def test_wrong_use() -> None:
    with pytest.raises(InputError, match="sum to 1"):
        MaskScheduleCollator("bert", TOKENIZER, replace=(0.8, 0.1, 0.2))
    with pytest.raises(InputError, match="input_ids"):
        MaskScheduleCollator("bert", TOKENIZER)([{"ids": [1]}])

    class Bare:
        mask_token_id = None

    with pytest.raises(InputError, match="a mask token"):
        MaskScheduleCollator("bert", Bare())
