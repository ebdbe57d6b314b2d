"""The words of a run's prompt: in its file, where that still is what it was."""

from __future__ import annotations

from pathlib import Path

from harness.errors import ConfigError
from harness.export.runs import Run
from harness.prompts import Prompt, Replies
from harness.settings import prompt_files
from harness.words import read


def sent(run: Run) -> dict[str, str]:
    """`template` and `parser` of the prompt file; nothing where it is gone, has other words or shows solved examples.

    Examples are part of the digest and come from the task, which is not built here: a manifest may name any class.
    """
    said = (run.manifest.get("configuration") or {}).get("prompt") or {}
    config = run.manifest.get("config") or {}
    name = str(config.get("prompt") or run.place["prompt"])
    where = Path(name) if name.endswith((".yaml", ".yml")) else prompt_files(run.place["task"]).get(name)
    replies: Replies = "fixed" if config.get("replies") == "fixed" else "model"
    if where is None or not where.is_file():
        return {}
    try:
        for form in ("", *read(where).formats):
            words = read(where, form)
            if Prompt(where.stem, where, words, (), replies).digest == said.get("digest"):
                asked = words.user or f"{words.premise}\n\n{words.hypothesis}"
                parts = [words.system, *words.opening, asked]
                return {"template": "\n\n".join(part for part in parts if part), "parser": words.parser}
    except (ConfigError, OSError, UnicodeDecodeError):
        pass
    return {}
