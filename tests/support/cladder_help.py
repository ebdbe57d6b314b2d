from __future__ import annotations

from functools import cache
from typing import Any

from harness.settings import build
from harness.tasks.cladder.models import sample


def task(**settings: Any) -> Any:
    """Return the task as the command line builds it."""
    target = {"_target_": "harness.tasks.cladder.CLadder", "name": "cladder", "prompts": ["plain"]}
    return build({**target, **settings}, "task")


@cache
def sample_questions() -> list[Any]:
    """Return the authors' questions, made again."""
    return [question for model in sample() for question in model.questions()]
