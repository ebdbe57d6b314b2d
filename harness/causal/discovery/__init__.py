"""Causal discovery: the classical algorithms that learn a graph from a table of discrete data.

Score-based hill climbing, hybrid MMHC, and, by way of the causal-learn library, constraint-based PC and the
order-based BOSS. Each is a part that a config builds, and each gives a `protocol.Pattern`.
"""
