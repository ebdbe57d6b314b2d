"""Modules that take a second to import, for tests of which most processes run none."""

from __future__ import annotations

import importlib
from typing import Any


class Late:
    """A module that is imported when it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # pytest looks for its own
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)
