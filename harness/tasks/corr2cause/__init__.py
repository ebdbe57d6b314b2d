"""Corr2Cause: from the statistical relations among variables, in words, to the causal hypotheses that follow."""

from importlib import import_module

TYPE_CHECKING = False  # as in typing, whose import would take longer than that of what describes the benchmark
if TYPE_CHECKING:
    from harness.plugins.papers.story_tasks import Stories, Writing
    from harness.tasks.corr2cause.latent import Latent
    from harness.tasks.corr2cause.task import Corr2Cause

__all__ = ["Corr2Cause", "Latent", "Stories", "Writing"]


def __getattr__(name: str) -> object:
    """Return a task, imported when it is first asked for: views read benchmark.py alone."""
    if name in __all__:
        module = {"Corr2Cause": "task", "Latent": "latent"}.get(name, "stories")
        return getattr(import_module(f"harness.tasks.corr2cause.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
