"""The graph without edges: what every algorithm, and every language model, has to beat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from harness.causal.learned_graph import Pattern
from harness.types import JSON, Role


@dataclass(frozen=True)
class Empty:
    """Looks at no data and answers No to every question: its SHD is the number of edges of the true graph."""

    name: str

    role: ClassVar[Role] = "baseline"

    @property
    def identity(self) -> Mapping[str, JSON]:
        """Nothing but what it is: the graphs depend on nothing."""
        return {"kind": "empty graph"}

    def learn(self, data: NDArray[np.int64], arities: Sequence[int], *, seed: int) -> Pattern:
        """Return the graph without edges."""
        return Pattern.of((0,) * len(arities))
