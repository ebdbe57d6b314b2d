"""The words of a run's prompt, as its manifest holds them."""

from __future__ import annotations

from harness.errors import HarnessError
from harness.prompting.prompts import recorded
from harness.storage.runs import Run


def prompt_words(run: Run) -> dict[str, str]:
    """Return `template` and `parser` of the prompt; nothing where an algorithm answered, or the words are none.

    Nothing that a manifest names is opened or imported: whoever sent the folder chose the names.
    """
    words = run.manifest.get("words")
    if not isinstance(words, dict):
        return {}
    try:
        prompt = recorded(run.place["prompt"], words, ()).words
    except HarnessError:
        return {}
    question = prompt.user or f"{prompt.premise}\n\n{prompt.hypothesis}"
    parts = [prompt.system, *prompt.opening, question]
    return {"template": "\n\n".join(part for part in parts if part), "parser": prompt.parser}
