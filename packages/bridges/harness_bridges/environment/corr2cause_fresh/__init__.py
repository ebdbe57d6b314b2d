"""Corr2Cause made anew from a seed, each label proved: an endless taskset for verifiers."""

from harness_bridges.verifiers_taskset import QuestionsTaskset

__all__ = ["QuestionsTaskset"]
