"""Families of cases of which a few stand for the rest in `make test`; `make test-slow` has the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def few(cases: Iterable[Any], keep: int) -> list[Any]:
    """Return the cases for parametrize: so many of them evenly spread, and the others marked slow."""
    every = list(cases)
    kept = {number * len(every) // keep for number in range(keep)}
    return [case if number in kept else _slow(case) for number, case in enumerate(every)]


def _slow(case: Any) -> Any:
    if hasattr(case, "marks"):  # what pytest.param returns
        return pytest.param(*case.values, id=case.id, marks=[*case.marks, pytest.mark.slow])
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
