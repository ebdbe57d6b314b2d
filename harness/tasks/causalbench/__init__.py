"""CausalBench (Zhou et al.): causal questions about fifteen networks of the causal-discovery community."""
