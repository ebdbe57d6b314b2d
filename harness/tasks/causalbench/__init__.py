"""CausalBench, now CausalBN-Bench (Zhou et al.): fifteen networks; what is related, what causes what, chains."""

from importlib import import_module

TYPE_CHECKING = False  # as in typing, whose import would take longer than that of what describes the benchmark
if TYPE_CHECKING:
    from harness.tasks.causalbench.chains import Chains
    from harness.tasks.causalbench.task import Causality, Correlation, Skeleton

__all__ = ["Causality", "Chains", "Correlation", "Skeleton"]


def __getattr__(name: str) -> object:
    """Return a task, imported when it is first asked for: views read benchmark.py alone."""
    if name in __all__:
        module = {"Chains": "chains"}.get(name, "task")
        return getattr(import_module(f"harness.tasks.causalbench.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
