"""Corr2Cause: from the statistical relations among variables, in words, to the causal hypotheses that follow."""

TYPE_CHECKING = False  # as in typing, whose import would take longer than that of what describes the benchmark
if TYPE_CHECKING:
    from harness.tasks.corr2cause.task import Corr2Cause

__all__ = ["Corr2Cause"]


def __getattr__(name: str) -> object:
    """Return the task, imported when it is first asked for: views read benchmark.py alone."""
    if name == "Corr2Cause":
        from harness.tasks.corr2cause.task import Corr2Cause

        return Corr2Cause
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
