"""CausalBench, now CausalBN-Bench (Zhou et al.): fifteen networks; what is related, what causes what, chains."""

from typing import Any

__all__ = ["Causality", "Chains", "Correlation", "Skeleton"]


def __getattr__(name: str) -> Any:
    """Return a task, imported when it is first asked for: views read benchmark.py alone."""
    if name in __all__:
        from harness.tasks.causalbench import chains, task

        return getattr(chains if name == "Chains" else task, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
