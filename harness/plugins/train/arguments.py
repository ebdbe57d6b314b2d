"""What transformers' Trainer is told: the recipe's settings, the command's own, and `recipe.trainer` by its names."""

from __future__ import annotations

import math
import os
from dataclasses import fields
from pathlib import Path
from typing import Any

from transformers import TrainingArguments

from harness.errors import ConfigError, unknown
from harness.plugins.train.recipe import Recipe


def check_trackers(recipe: Recipe, folder: Path) -> None:
    """Raise ConfigError for a tracker that is not installed. TensorBoard's files stand beside the checkpoint."""
    from transformers.integrations import get_reporting_integration_callbacks

    trackers = (recipe.trainer or {}).get("report_to")
    if "tensorboard" in (trackers or ()):
        os.environ.setdefault("TENSORBOARD_LOGGING_DIR", str(folder.with_suffix(".tensorboard")))
    try:
        for callback in get_reporting_integration_callbacks(trackers):
            callback()
    except (RuntimeError, ValueError, ImportError) as error:
        raise ConfigError(f"recipe.trainer.report_to={trackers}: {' '.join(str(error).split())[:200]}") from error


def arguments_of(recipe: Recipe, examples: int, folder: Path, dtype: str, parts: int, *, cpu: bool) -> Any:
    """Return the Trainer's arguments; steps are of a whole batch, over all processes."""
    from accelerate import PartialState

    micro = recipe.batch_size // parts
    steps = math.ceil(examples / (recipe.batch_size * PartialState(cpu=cpu).num_processes))
    every = max(1, round(steps / recipe.evaluations))
    trainer = dict(recipe.trainer or {})
    settings: dict[str, Any] = {
        "output_dir": str(folder),
        "per_device_train_batch_size": micro,
        "gradient_accumulation_steps": parts,
        "num_train_epochs": recipe.epochs,
        "learning_rate": recipe.learning_rate,
        "lr_scheduler_type": recipe.schedule,
        "warmup_steps": recipe.warmup,
        "weight_decay": recipe.weight_decay,
        "max_grad_norm": 0.0 if recipe.settings == "paper" else recipe.max_grad_norm or 0.0,
        "bf16": dtype == "bfloat16",
        "seed": recipe.seed,
        "data_seed": recipe.seed,
        "use_cpu": cpu,
        "eval_strategy": "steps",
        "eval_steps": every,
        "save_strategy": "steps",
        "save_steps": every,
        "save_total_limit": 2,
        "load_best_model_at_end": True,
        "metric_for_best_model": "rank",
        "greater_is_better": True,
        "restore_callback_states_from_checkpoint": True,
        "logging_steps": max(1, every // 10),
        "logging_nan_inf_filter": False,
        "remove_unused_columns": False,
        "dataloader_pin_memory": False,  # the adapter has put the tensors on their device already
        "disable_tqdm": True,
        "report_to": "none",
        "log_level": "error",
    }
    try:
        arguments = TrainingArguments(**settings | trainer)
    except (TypeError, ValueError, ImportError, RuntimeError) as error:
        names = [field.name for field in fields(TrainingArguments)]
        if wrong := next((name for name in trainer if name not in names), None):
            raise ConfigError(
                unknown("setting", f"recipe.trainer.{wrong}", [f"recipe.trainer.{n}" for n in names])
            ) from None
        raise ConfigError(f"recipe.trainer: {' '.join(str(error).split())[:300]}") from error
    _check_sharding(recipe, cpu=cpu)
    arguments._n_gpu = min(1, arguments.n_gpu)  # several GPUs by `accelerate launch`, not by threads of one process
    return arguments


def _check_sharding(recipe: Recipe, *, cpu: bool) -> None:
    """Raise ConfigError for what accelerate's config file asks for and would not come to pass.

    Its choice of FSDP or DeepSpeed arrives in the environment, and the Trainer follows it.
    """
    fsdp, deepspeed = (os.environ.get(f"ACCELERATE_USE_{name}") == "true" for name in ("FSDP", "DEEPSPEED"))
    if cpu and (fsdp or deepspeed):
        raise ConfigError(
            "accelerate divides a model over GPUs only, and would train it whole in each process here: take "
            "distributed_type: MULTI_GPU (with use_cpu: true) in its config file."
        )
    if (fsdp or deepspeed) and recipe.lora.r:
        raise ConfigError(
            "adapters (recipe.lora.r) and a base divided over GPUs do not go together here: train all weights, or take "
            "distributed_type: MULTI_GPU, with recipe.bits=4 where a GPU has no room for the base."
        )
    if fsdp and os.environ.get("FSDP_VERSION", "1") != "2":
        raise ConfigError(
            "fsdp_version: 1 takes apart the weights with which the dev items are answered: write fsdp_version: 2 in "
            "accelerate's config file."
        )
