"""What the algorithms of causal-learn have in common: how to import it, and how to read its graphs.

causal-learn (https://github.com/py-why/causal-learn) is an optional part, imported when an algorithm is run.
"""

from __future__ import annotations

from importlib import import_module, metadata
from types import ModuleType
from typing import Any

from harness.causal.dag import mask_of
from harness.causal.learned_graph import Pattern
from harness.errors import ConfigError
from harness.runtime.environment import installing

_TAIL, _ARROW = -1, 1


def _missing() -> ConfigError:
    return ConfigError(f"this algorithm needs causal-learn, which is not installed: {installing('discovery')}.")


def library(module: str) -> ModuleType:
    """Import a module of causal-learn, such as "search.ConstraintBased.PC". Raises ConfigError if not installed."""
    try:
        return import_module(f"causallearn.{module}")
    except ImportError as error:
        raise _missing() from error


def version() -> str:
    """Return the version of causal-learn. Raises ConfigError if not installed."""
    try:
        return metadata.version("causal-learn")
    except metadata.PackageNotFoundError:
        raise _missing() from None


def pattern_of(marks: Any) -> Pattern:
    """Return the pattern of a causal-learn graph: entry (i, j) is the mark at i's end of the edge between i and j.

    A tail is -1, an arrowhead 1, no edge 0. Tails at both ends and arrowheads at both ends are undirected edges.
    """
    nodes = range(len(marks))
    directed = [mask_of(u for u in nodes if (marks[u][v], marks[v][u]) == (_TAIL, _ARROW)) for v in nodes]
    undirected = [mask_of(u for u in nodes if marks[u][v] == marks[v][u] != 0) for v in nodes]
    return Pattern(tuple(directed), tuple(undirected))
