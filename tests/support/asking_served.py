"""A model whose server is tests/support/served_program.py."""

from __future__ import annotations

import sys
from pathlib import Path

from harness.plugins.serve.model import Served
from harness.types import Message

PROGRAM = f"{sys.executable} {Path(__file__).with_name('served_program.py')}"
MESSAGES = (Message("user", "Is it so?"),)
CHOICES = ("Yes", "No")


def served(*behaviour: str, **settings) -> Served:
    """Return a model whose server behaves so (a word without dashes), or is told these arguments."""
    own = [word for word in behaviour if not word.startswith("-")] if not any("-" in w for w in behaviour) else []
    given = {"name": "tiny", "path": "tiny.gguf", "command": PROGRAM, "engine": "vllm", "flags": {"dtype": "--dtype"}}
    given |= {"arguments": ["{port}", *own], "args": [word for word in behaviour if word not in own]}
    return Served(**(given | settings))
