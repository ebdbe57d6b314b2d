"""CausalBench (Zhou et al.): fifteen networks; correlation, causal skeleton, causality, and chains of causes."""

from harness.tasks.causalbench.chains import Chains
from harness.tasks.causalbench.task import Causality, Correlation, Skeleton

__all__ = ["Causality", "Chains", "Correlation", "Skeleton"]
