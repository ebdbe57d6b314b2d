"""The PC algorithm, by causal-learn: tests of independence, colliders, Meek's rules."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.causal.learned_graph import Pattern
from harness.plugins.discovery.library import library, pattern_of, version
from harness.plugins.discovery.ordering import in_random_order
from harness.types import JSON, Role


@dataclass(frozen=True)
class PC:
    """PC with a stable skeleton (Spirtes, Glymour and Scheines 2000; Colombo and Maathuis 2014) and G² tests.

    Degrees of freedom are adjusted as in `independence.GSquare`, and tables may be sparse: every test is made. Of
    two colliders that disagree the first stands, in an order of the variables drawn from the seed; the skeleton
    depends on no order.
    """

    name: str
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """The level of the tests."""
    max_condition: Annotated[int, Field(ge=0)] | None = None
    """The largest set of variables to condition on."""

    role: ClassVar[Role] = "algorithm"

    @property
    def identity(self) -> Mapping[str, JSON]:
        """What the graphs depend on."""
        return {
            "kind": "pc",
            "test": "gsq",
            "stable": True,
            "colliders": "first",
            "alpha": self.alpha,
            "max_condition": self.max_condition,
            "causal-learn": version(),
        }

    def learn(self, data: NDArray[np.int64], arities: Sequence[int], *, seed: int) -> Pattern:
        """Return the pattern of the equivalence class that was learned. With many conflicts it may contain no DAG."""
        pc = library("search.ConstraintBased.PC").pc

        def search(data: NDArray[np.int64], arities: tuple[int, ...]) -> Pattern:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # "more features than samples": so they are
                result = pc(
                    data, alpha=self.alpha, indep_test="gsq", stable=True, uc_rule=0, uc_priority=2,
                    max_k=self.max_condition, verbose=False, show_progress=False,
                )  # fmt: skip
            return pattern_of(result.G.graph.tolist())

        return in_random_order(search, data, arities, seed)
