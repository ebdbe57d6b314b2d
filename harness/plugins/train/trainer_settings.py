"""`recipe.trainer`: settings of transformers' Trainer by its own names, but for those that would break a promise."""

from __future__ import annotations

from collections.abc import Mapping

from harness.errors import ConfigError
from harness.types import JSON

OF_RECIPE = {
    "learning_rate": "learning_rate",
    "num_train_epochs": "epochs",
    "max_steps": "epochs",
    "per_device_train_batch_size": "batch_size",
    "gradient_accumulation_steps": "batch_size",
    "auto_find_batch_size": "batch_size",
    "lr_scheduler_type": "schedule",
    "warmup_steps": "warmup",
    "weight_decay": "weight_decay",
    "max_grad_norm": "max_grad_norm",
    "bf16": "dtype",
    "fp16": "dtype",
    "seed": "seed",
    "data_seed": "seed",
    "train_sampling_strategy": "group_by_length",
    "eval_strategy": "evaluations",
    "eval_steps": "evaluations",
    "eval_delay": "evaluations",
}
"""Names that the recipe has a setting of its own for."""
_GOES_ON = "so that a training that was stopped goes on, and the best step on dev is the one that is kept"
_OWN_LOSS = "as the loss is that of the harness, over the answers alone"
_EXAMPLES = "as the harness makes the batches, in the tokens that will be asked"
FIXED = {
    **dict.fromkeys(
        (
            *("output_dir", "save_strategy", "save_steps", "save_total_limit", "save_only_model"),
            *("load_best_model_at_end", "metric_for_best_model", "greater_is_better", "resume_from_checkpoint"),
            *("ignore_data_skip", "restore_callback_states_from_checkpoint", "enable_jit_checkpoint"),
        ),
        _GOES_ON,
    ),
    **dict.fromkeys(("label_smoothing_factor", "label_names", "prediction_loss_only"), _OWN_LOSS),
    **dict.fromkeys(("remove_unused_columns", "length_column_name", "dataloader_drop_last"), _EXAMPLES),
    **dict.fromkeys(("do_train", "do_eval", "do_predict", "use_cpu"), "as the command says it (device=cpu)"),
    **dict.fromkeys(
        (
            *("push_to_hub", "hub_token", "hub_model_id", "hub_strategy", "hub_private_repo", "hub_always_push"),
            "hub_revision",
        ),
        "as nothing is uploaded: hf upload NAME FOLDER does it, once the checkpoint is finished",
    ),
}  # fmt: skip
"""Names that the command needs for itself, and why."""
WATCHING = frozenset({
    "report_to", "run_name", "project", "trackio_space_id", "trackio_bucket_id", "trackio_static_space_id",
    "logging_steps", "logging_strategy", "logging_first_step", "log_level", "log_level_replica", "log_on_each_node",
    "dataloader_num_workers", "dataloader_prefetch_factor", "dataloader_persistent_workers", "skip_memory_metrics",
})  # fmt: skip
"""Names that change no weight: a checkpoint is the same without them."""


def check_names(settings: Mapping[str, JSON]) -> None:
    """Raise ConfigError for settings that the recipe has itself, or that the command needs."""
    for name in settings:
        if own := OF_RECIPE.get(name):
            raise ConfigError(f"recipe.trainer.{name}: the recipe's own setting for it is recipe.{own}.")
        if reason := FIXED.get(name):
            raise ConfigError(f"recipe.trainer.{name} is fixed, {reason}: leave it out.")


def of_weights(settings: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the settings that the weights depend on."""
    return {name: value for name, value in settings.items() if name not in WATCHING}
