"""Fine-tuning: a checkpoint trained on a task's train split, and the making of the small models that ship."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Plugin

PLUGIN = Plugin(
    name="train",
    home=Path(__file__).parent,
    commands={
        "finetune": Command(
            summary="a checkpoint trained on a task's train split, which is then evaluated like any other",
            module="harness.plugins.train.finetune",
            config="finetune",
            help="harness.plugins.train.finetune:help_text",
        )
    },
)
