"""CLadder: questions on all three rungs of causation, about small networks that are told as stories."""

from typing import Any

__all__ = ["CLadder"]


def __getattr__(name: str) -> Any:
    """Return the task, imported when it is first asked for: views read benchmark.py alone."""
    if name in __all__:
        from harness.tasks.cladder import task

        return getattr(task, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
