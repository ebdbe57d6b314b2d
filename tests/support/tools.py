"""The programs of tools/, which are not installed, as modules."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

TOOLS = Path(__file__).parents[2] / "tools"


def tool(name: str) -> ModuleType:
    """Return tools/NAME.py as a module."""
    spec = importlib.util.spec_from_file_location(f"tools_{name}", TOOLS / f"{name}.py")
    module = sys.modules[f"tools_{name}"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
