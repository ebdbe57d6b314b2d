"""Corr2Cause: from the statistical relations among variables, in words, to the causal hypotheses that follow."""

from harness.tasks.corr2cause.task import Corr2Cause

__all__ = ["Corr2Cause"]
