from __future__ import annotations

from typing import Any

from harness.settings import build


def task(**settings: Any) -> Any:
    """Return the task as the command line builds it."""
    target = {"_target_": "harness.tasks.cladder.CLadder", "name": "cladder", "prompts": ["plain"]}
    return build({**target, **settings}, "task")
