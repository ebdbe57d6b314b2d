"""The words of a run's prompt, as its manifest holds them."""

from __future__ import annotations

from harness.errors import HarnessError
from harness.prompting.prompts import recorded
from harness.storage.runs import Run


def sent(run: Run) -> dict[str, str]:
    """Return `template` and `parser` of the prompt; nothing where an algorithm answered, or the words are none.

    Nothing that a manifest names is opened or imported: whoever sent the folder chose the names.
    """
    words = run.manifest.get("words")
    if not isinstance(words, dict):
        return {}
    try:
        said = recorded(run.place["prompt"], words, ()).words
    except HarnessError:
        return {}
    asked = said.user or f"{said.premise}\n\n{said.hypothesis}"
    parts = [said.system, *said.opening, asked]
    return {"template": "\n\n".join(part for part in parts if part), "parser": said.parser}
