"""The training itself: transformers' Trainer, with the adapter's own answers to the dev items as its evaluation."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from transformers import EarlyStoppingCallback, Trainer, TrainerCallback

from harness.errors import RunStopped
from harness.models.local.engine import memory_errors
from harness.plugins.train.arguments import arguments_of, check_trackers
from harness.plugins.train.examples import ByLength, Example, Lessons, Scores, scores_of
from harness.plugins.train.learners import Learner, fits_of
from harness.plugins.train.packed import PackedLearner
from harness.plugins.train.recipe import ADAPTER, Recipe, leads
from harness.runtime.progress import Progress

STATE = "trainer_state.json"


@dataclass(frozen=True)
class Learned:
    """A finished training."""

    network: Any
    """With the weights of the chosen step; None where the adapter alone is kept, as 4 bits take none."""
    curve: list[dict[str, float]]
    """Loss and learning rate by step, and scores on dev at the steps that were evaluated."""
    step: int
    """The chosen one."""
    micro_batch: int
    """Examples that went through the model at once."""
    weights: Any = None
    """All of them by name, in the process that writes, where several processes had a part of each."""


class _Watch(TrainerCallback):  # type: ignore[misc]  # transformers has no types
    """Shows progress, begins passes, and stops a training whose loss is not finite."""

    def __init__(self, examples: Pass, progress: Progress, learning_rate: float) -> None:
        self._examples, self._progress, self._rate = examples, progress, learning_rate
        self._ticks: Iterator[int] | None = None

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._examples.begin(int(state.epoch + 1e-6))

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Count the step, those of an earlier process as done, and have the last one evaluated."""
        if self._ticks is None:
            self._progress.cached = state.global_step - 1
            self._ticks = self._progress.watch(count(1), range(state.max_steps))
        while self._progress.done < state.global_step:
            next(self._ticks)
        if state.global_step >= state.max_steps:  # the last step is one to choose from, wherever it falls
            control.should_evaluate = control.should_save = True

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Stop once the loss is not finite: no later step can repair it."""
        if not all(math.isfinite(logs[name]) for name in ("loss", "grad_norm") if name in logs):
            raise RunStopped(
                f"the loss is no number any more at step {state.global_step}: take a smaller recipe.learning_rate (it "
                f"is {self._rate:g}), or recipe.dtype=float32."
            )

    def close(self) -> None:
        if self._ticks is not None:
            self._ticks.close()  # type: ignore[attr-defined]  # a generator


class _Teacher(Trainer):  # type: ignore[misc]  # transformers has no types
    """A Trainer that evaluates by the adapter's answers to the dev items."""

    def __init__(
        self,
        *args: Any,
        score: Callable[[], Scores],
        rank: Callable[[Scores], float],
        say: Callable[[str], None],
        lengths: Sequence[int],
        answers: Callable[[Any, Any], tuple[Any, Any]] | None,
        **more: Any,
    ) -> None:
        super().__init__(*args, **more)
        self._score, self._rank, self._say, self._lengths, self._answers = score, rank, say, lengths, answers

    def compute_loss(self, model: Any, inputs: Any, *args: Any, **more: Any) -> Any:
        """Return the loss of a batch, each of whose rows has several answers if premises are packed."""
        if self._answers is None:
            return super().compute_loss(model, inputs, *args, **more)
        logits, labels = self._answers(model, inputs)
        outputs = SimpleNamespace(logits=logits)
        return self.compute_loss_func(outputs, labels, num_items_in_batch=more.get("num_items_in_batch"))

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        """Return the sampler of a pass: the Trainer's own, or ByLength."""
        if not self._lengths:
            return super()._get_train_sampler(train_dataset)
        return ByLength(
            self._lengths, self.args.train_batch_size * self.args.gradient_accumulation_steps, self.args.seed
        )

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Return the scores on dev; called by the Trainer at the steps of its arguments."""
        self.model.eval()
        with torch.autocast(self.args.device.type, torch.bfloat16) if self.args.bf16 else nullcontext():
            scores = self._score()
        metrics = {f"eval_{name}": value for name, value in scores.items()}
        metrics["eval_rank"] = self._rank(scores)
        self.log(dict(metrics))
        if leads():
            shown = ", ".join(
                f"{name} {100 * scores[key]:.2f}" for name, key in (("F1", "f1"), ("accuracy", "accuracy"))
            )
            self._say(f"step {self.state.global_step:,}: {shown} on dev")
        self.control: Any = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics


def train(learner: Learner, lessons: Lessons, recipe: Recipe, folder: Path, progress: Progress, dtype: str) -> Learned:
    """Train as the recipe says, from the last checkpoint in `folder` if there is one, and return the chosen step.

    When memory runs out, the batch is divided and the gradients of its parts are accumulated. Raises RunStopped.
    """
    network = with_lora(learner.network, recipe)
    for parts in _divisors(recipe.batch_size):
        teacher, watch = _teacher(learner, network, lessons, recipe, folder, progress, dtype, parts)
        try:
            with memory_errors() as errors:
                teacher.train(resume_from_checkpoint=last_whole(folder))
        finally:
            watch.close()
        if not errors:
            break
        progress.say(f"out of memory with {recipe.batch_size // parts} examples at once: going on with fewer")
        progress.done = 0
    else:
        raise RunStopped(
            "out of memory with one example at once: take a machine with more memory, a smaller base, "
            "recipe.max_length=256, recipe.dtype=bfloat16 or recipe.lora.r=16."
        )
    best = teacher.state.best_global_step
    curve = [dict(entry) for entry in teacher.state.log_history if "loss" in entry or "eval_f1" in entry]
    divided = teacher.is_fsdp_enabled or teacher.is_deepspeed_enabled
    weights = teacher.accelerator.get_state_dict(teacher.model_wrapped) if divided else None  # of all, by all processes
    network = teacher.accelerator.unwrap_model(teacher.model)
    if recipe.lora.r:
        if leads():
            network.save_pretrained(folder / ADAPTER)
        network = None if recipe.bits else network.merge_and_unload()
    return Learned(network, curve, best, recipe.batch_size // parts, weights)


def last_whole(folder: Path) -> str | None:
    """Return the last complete checkpoint; remove incomplete ones, which a killed process left."""
    whole = []
    for checkpoint in folder.glob("checkpoint-*"):
        if (checkpoint / STATE).exists() and (checkpoint / STATE).read_text().rstrip().endswith("}"):
            whole.append(checkpoint)
        elif leads():
            shutil.rmtree(checkpoint)
    return str(max(whole, key=lambda path: int(path.name.rpartition("-")[2]))) if whole else None


def _divisors(size: int) -> list[int]:
    """Return the numbers of equal parts into which a batch can be divided, ascending."""
    return [parts for parts in range(1, size + 1) if size % parts == 0]


def _teacher(
    learner: Learner,
    network: Any,
    lessons: Lessons,
    recipe: Recipe,
    folder: Path,
    progress: Progress,
    dtype: str,
    parts: int,
) -> tuple[_Teacher, _Watch]:
    examples = Pass(lessons, learner)
    watch = _Watch(examples, progress, recipe.learning_rate)
    patience = [EarlyStoppingCallback(recipe.patience)] if recipe.patience else []
    check_trackers(recipe, folder)
    teacher = _Teacher(
        model=network,
        args=arguments_of(recipe, len(examples), folder, dtype, parts, cpu=learner.network.device.type == "cpu"),
        data_collator=lambda units: learner.batch([example for unit in units for example in unit]),
        train_dataset=examples,
        eval_dataset=lessons.dev.rows,
        compute_loss_func=learner.loss,
        callbacks=[watch, *patience],
        score=lambda: scores_of(learner, lessons.prompt, lessons.dev.rows),
        rank=partial(rank_of, by=recipe.by, ties=recipe.settings != "paper", items=len(lessons.dev.rows)),
        say=progress.say,
        lengths=examples.lengths if recipe.group_by_length else (),
        answers=learner.answers if isinstance(learner, PackedLearner) else None,
    )
    from transformers.trainer_callback import PrinterCallback, ProgressCallback

    for callback in (PrinterCallback, ProgressCallback):
        teacher.remove_callback(callback)
    return teacher, watch


def rank_of(scores: Scores, *, by: str, ties: bool, items: int) -> float:
    """Return what the chosen step has most of: its score on dev and, of equal scores, the smaller loss on dev.

    F1 and accuracy over so many items are fractions with denominators up to twice their number, so that two different
    ones are further apart than what the loss adds.
    """
    return scores[by] + (1 / (1 + scores["loss"]) / (2 * items + 1) ** 2 if ties else 0.0)


def with_lora(network: Any, recipe: Recipe) -> Any:
    """Return the network with low-rank adapters, trained in place of its weights, if the recipe has any."""
    if not recipe.lora.r:
        return network
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        r=recipe.lora.r,
        lora_alpha=recipe.lora.alpha,
        lora_dropout=recipe.lora.dropout,
        target_modules=list(recipe.lora.targets) if recipe.lora.targets else "all-linear",
        task_type="SEQ_CLS" if recipe.kind == "nli" else "CAUSAL_LM",
    )
    return get_peft_model(network, config)


class Pass(torch.utils.data.Dataset[list[Example]]):
    """The examples of the current pass, one by one or, where premises are packed, premise by premise."""

    def __init__(self, lessons: Lessons, learner: Learner) -> None:
        self._lessons, self._learner, self._renews, self._epoch = lessons, learner, lessons.renews, 0
        self._first = self._rows = lessons.epoch(0)
        self._units = learner.units(self._first)
        self.lengths = [lessons.lengths[unit[0]] for unit in self._units]

    def begin(self, epoch: int) -> None:
        """Take the examples of a pass; there are as many as in the first."""
        if self._renews and epoch != self._epoch:
            rows = self._lessons.epoch(epoch)
            fits = fits_of(self._learner, rows)
            # What is too long under its new names is learned under those of the first pass.
            self._rows = [old if fit.problem else new for old, new, fit in zip(self._first, rows, fits, strict=True)]
            self._epoch = epoch

    def __len__(self) -> int:
        return len(self._units)

    def __getitem__(self, place: int) -> list[Example]:
        return [self._rows[k] for k in self._units[place]]
