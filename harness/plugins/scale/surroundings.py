"""What a process needs around it to find this harness, and nothing else in its working directory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import harness


def python_path() -> str:
    """Return the PYTHONPATH of a process that is to find this harness, installed or not."""
    home = str(Path(harness.__file__).resolve().parent.parent)
    return os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])


@contextmanager
def handed_on() -> Iterator[None]:
    """Set what submitit's processes inherit, within the context."""
    before = dict(os.environ)
    os.environ.update(PYTHONPATH=python_path(), PYTHONSAFEPATH="1")
    try:
        yield
    finally:
        for name in ("PYTHONPATH", "PYTHONSAFEPATH"):
            os.environ.pop(name, None)
            os.environ |= {name: before[name]} if name in before else {}
