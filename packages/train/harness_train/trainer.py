"""transformers' Trainer, with the adapter's own answers to the dev items as its evaluation."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import torch
from transformers import Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_callback import PrinterCallback, ProgressCallback

from harness.errors import ConfigError, RunStopped
from harness.runtime.progress import Progress
from harness_train.examples import Example, Lessons, Scores, scores_of
from harness_train.learners import Learner, fits_of
from harness_train.recipe import Recipe

STATE = "trainer_state.json"
TOKENS_ON_CPU = 2048
"""Tokens that learn at once: a base of 135 million weights took 4 GB with them, and 24 GB with eight long examples."""


class Teacher(Trainer):  # type: ignore[misc]  # transformers has no types
    """A Trainer that chooses by F1 of the adapter's answers to the dev items; of equal ones by the smaller loss."""

    def __init__(
        self, learner: Learner, network: Any, lessons: Lessons, recipe: Recipe, work: Path, progress: Progress,
        dtype: str, longest: int,
    ) -> None:  # fmt: skip
        self._score: Callable[[], Scores] = lambda: scores_of(learner, lessons.prompt, lessons.dev.rows)
        self._items, self._say = len(lessons.dev.rows), progress.say
        examples = Pass(lessons, learner)
        cpu = learner.network.device.type == "cpu"
        at_once = _at_once(recipe, longest, cpu=cpu)
        super().__init__(
            model=network,
            args=_arguments(recipe, len(examples), work, dtype, at_once, cpu=cpu),
            data_collator=learner.batch,
            train_dataset=examples,
            eval_dataset=lessons.dev.rows,
            compute_loss_func=learner.loss,
            callbacks=[_Watch(examples, progress, recipe.learning_rate)],
        )
        for callback in (PrinterCallback, ProgressCallback):
            self.remove_callback(callback)

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Return the scores on dev; called by the Trainer at the steps of its arguments."""
        self.model.eval()
        with torch.autocast(self.args.device.type, torch.bfloat16, enabled=self.args.bf16):
            scores = self._score()
        metrics = {f"eval_{name}": value for name, value in scores.items()}
        # F1 over so many items is a fraction whose denominator is at most twice their number: two that differ are
        # further apart than what the loss adds.
        metrics["eval_rank"] = scores["f1"] + 1 / (1 + scores["loss"]) / (2 * self._items + 1) ** 2
        self.log(dict(metrics))
        self._say(f"step {self.state.global_step:,}: F1 {100 * scores['f1']:.2f} on dev")
        self.control: Any = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics


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


class Pass(torch.utils.data.Dataset[Example]):
    """The examples of the current pass."""

    def __init__(self, lessons: Lessons, learner: Learner) -> None:
        self._lessons, self._learner, self._renews, self._epoch = lessons, learner, lessons.renews, 0
        self._first = self._rows = lessons.epoch(0)

    def begin(self, epoch: int) -> None:
        """Take the examples of a pass; there are as many as in the first."""
        if self._renews and epoch != self._epoch:
            rows = self._lessons.epoch(epoch)
            fits = fits_of(self._learner, rows)
            # What is too long under its new names is learned under those of the first pass.
            self._rows = [old if fit.problem else new for old, new, fit in zip(self._first, rows, fits, strict=True)]
            self._epoch = epoch

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: int) -> Example:
        return self._rows[place]


def _at_once(recipe: Recipe, longest: int, *, cpu: bool) -> int:
    """Return how many examples of a step go through the model at once. Raises ConfigError if they do not divide it.

    A CPU gets by itself what has place in TOKENS_ON_CPU: where memory runs out there, the system kills the process.
    """
    parts = [n for n in range(1, recipe.batch_size + 1) if recipe.batch_size % n == 0]
    if (asked := recipe.micro_batch) and asked not in parts:
        raise ConfigError(f"recipe.micro_batch={asked} does not divide recipe.batch_size={recipe.batch_size}.")
    return asked or max((n for n in parts if not cpu or n * longest <= TOKENS_ON_CPU), default=1)


def _arguments(recipe: Recipe, examples: int, work: Path, dtype: str, at_once: int, *, cpu: bool) -> Any:
    """Return the Trainer's arguments. Raises ConfigError for those of recipe.trainer that it does not have."""
    every = max(1, round(math.ceil(examples / recipe.batch_size) / recipe.evaluations))
    settings: dict[str, Any] = {
        "output_dir": str(work),
        "per_device_train_batch_size": at_once,
        "gradient_accumulation_steps": recipe.batch_size // at_once,
        "num_train_epochs": recipe.epochs,
        "learning_rate": recipe.learning_rate,
        "lr_scheduler_type": recipe.schedule,
        "warmup_steps": recipe.warmup,  # a share of the steps
        "weight_decay": recipe.weight_decay,
        "bf16": dtype == "bfloat16",
        "seed": recipe.seed,
        "use_cpu": cpu,
        "eval_strategy": "steps",
        "eval_steps": every,
        "save_strategy": "steps",
        "save_steps": every,
        "save_total_limit": 2,
        "load_best_model_at_end": True,
        "metric_for_best_model": "rank",
        "restore_callback_states_from_checkpoint": True,
        "logging_steps": max(1, every // 10),
        "logging_nan_inf_filter": False,
        "remove_unused_columns": False,
        "dataloader_pin_memory": False,  # the adapter has put the tensors on their device already
        "disable_tqdm": True,
        "report_to": "none",
        "log_level": "error",
    }
    own = dict(recipe.trainer or {})
    if twice := own.keys() & settings.keys() - {"report_to", "log_level", "logging_steps"}:
        raise ConfigError(f"recipe.trainer.{min(twice)}: the recipe and the command set it themselves; leave it out.")
    try:
        arguments = TrainingArguments(**settings | own)
    except (TypeError, ValueError, ImportError, RuntimeError) as error:
        raise ConfigError(f"recipe.trainer: {' '.join(str(error).split())[:300]}") from error
    arguments._n_gpu = min(1, arguments.n_gpu)  # not by threads over several GPUs, which would change the batches
    return arguments


def last_whole(work: Path) -> str | None:
    """Return the last complete checkpoint; remove incomplete ones, which a killed process left."""
    whole = []
    for checkpoint in work.glob("checkpoint-*"):
        if (checkpoint / STATE).exists() and (checkpoint / STATE).read_text().rstrip().endswith("}"):
            whole.append(checkpoint)
        else:
            shutil.rmtree(checkpoint)
    return str(max(whole, key=lambda path: int(path.name.rpartition("-")[2]))) if whole else None
