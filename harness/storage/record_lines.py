"""A line of records.jsonl as readers use it."""

from __future__ import annotations

from typing import Any

from harness.storage.records import REMEMBERED

Line = dict[str, Any]
"""A line of records.jsonl; messages have their text, whether it stood there or before."""
PLACE = ("task", "variant", "prompt", "model")
"""The parts of a run's place, from the outermost folder to the innermost."""


def turns(line: Line) -> list[dict[str, str]]:
    """Return the messages that the model was sent, as role and content."""
    request = line["request"] or {}
    if request.get("kind") == "pair":
        return [{"role": "user", "content": f"{request['premise']['text']}\n\n{request['hypothesis']['text']}"}]
    return [{"role": message["role"], "content": message["text"]} for message in request.get("messages", [])]


def fill(request: dict[str, Any] | None, texts: dict[str, str]) -> None:
    """Set the text of messages that are stored by digest alone; forget a text when the writer of the records did."""
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
