"""Corr2Cause: from the statistical relations among variables, in words, to the causal hypotheses that follow."""

from typing import Any

__all__ = ["Corr2Cause"]


def __getattr__(name: str) -> Any:
    """Return the task, imported when it is first asked for: views read benchmark.py alone."""
    if name in __all__:
        from harness.tasks.corr2cause import task

        return getattr(task, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
