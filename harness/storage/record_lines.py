"""A line of records.jsonl as its readers have it."""

from __future__ import annotations

from typing import Any

from harness.storage.records import REMEMBERED

Line = dict[str, Any]
"""A line of records.jsonl; messages have their text, whether it stood there or before."""
PLACE = ("task", "variant", "prompt", "model")
"""What a place tells, from the outermost folder to the innermost."""


def turns(line: Line) -> list[dict[str, str]]:
    """Return what was said to the model, as role and content."""
    asked = line["request"] or {}
    if asked.get("kind") == "pair":
        return [{"role": "user", "content": f"{asked['premise']['text']}\n\n{asked['hypothesis']['text']}"}]
    return [{"role": one["role"], "content": one["text"]} for one in asked.get("messages", [])]


def fill(request: dict[str, Any] | None, texts: dict[str, str]) -> None:
    """Give messages that stand by their digest their text; forget it when the writer of the records did."""
    if request is None:
        return
    pair = [request[name] for name in ("premise", "hypothesis") if name in request]
    for message in pair or request["messages"]:
        if "text" not in message:
            message["text"] = texts[message["sha256"]]
        elif message["sha256"] not in texts:
            texts[message["sha256"]] = message["text"]
            if len(texts) > REMEMBERED:
                del texts[next(iter(texts))]
