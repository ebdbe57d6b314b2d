"""Programs that have an engine answer a folder of requests: written beside them, run without this package."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from importlib import resources
from typing import Literal

Engine = Literal["vllm", "ray"]
FILES: Mapping[Engine, tuple[str, str]] = {"vllm": ("vllm.sh", "driver.sh"), "ray": ("ray.py", "driver.py")}
"""Each driver's file here and its name in the folder."""


def driver(engine: Engine, model: str, path: str) -> tuple[str, str]:
    """Return the name and the text of a driver, for requests of a model whose calls go to a path below /v1."""
    source, name = FILES[engine]
    text = (resources.files(__name__) / source).read_text(encoding="utf-8")
    quoted = shlex.quote(model) if engine == "vllm" else model.replace("\\", "\\\\").replace('"', '\\"')
    return name, text.replace("@MODEL@", quoted).replace("@PATH@", path)


def run_and_answers(engine: Engine, folder: str) -> tuple[str, str]:
    """Return the command that has a folder's requests answered, and the folder of the answers."""
    inside = shlex.quote(folder.rstrip("/"))
    program = f"sh {inside}/driver.sh" if engine == "vllm" else f"python {inside}/driver.py"
    return f"{program} --model CHECKPOINT", f"{inside}/answers/"
