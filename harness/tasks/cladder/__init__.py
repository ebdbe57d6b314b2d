"""CLadder: questions on all three rungs of causation, about small networks that are told as stories."""

TYPE_CHECKING = False  # as in typing, whose import would take longer than that of what describes the benchmark
if TYPE_CHECKING:
    from harness.tasks.cladder.task import CLadder

__all__ = ["CLadder"]


def __getattr__(name: str) -> object:
    """Return the task, imported when it is first asked for: views read benchmark.py alone."""
    if name == "CLadder":
        from harness.tasks.cladder.task import CLadder

        return CLadder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
