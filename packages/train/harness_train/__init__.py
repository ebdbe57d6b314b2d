"""`harness finetune`: a checkpoint trained on a task's train split, which the adapters then evaluate."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Plugin

PLUGIN = Plugin(
    name="train",
    home=Path(__file__).parent,
    commands={
        "finetune": Command(
            summary="a checkpoint trained on a task's train split, which is then evaluated like any other",
            module=f"{__name__}.finetune",
            config="finetune",
            help=f"{__name__}.finetune:help_text",
        )
    },
)
