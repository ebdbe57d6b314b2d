"""What a server is asked in a run of CausalBench, and what the run leaves."""

from __future__ import annotations

import json
from pathlib import Path

from harness.prompting import prompts
from support.openai_server import chat_reply

SENTENCE = (
    "You are a highly intelligent question-answering bot with profound knowledge of causal inference and causal "
    "discovery."
)
RECEIVED = "The part has been received and appended to the matrix."


def last(call: dict) -> str:
    return call["messages"][-1]["content"]


def is_part(call: dict) -> bool:
    return "part" in last(call) and "of the matrix:\n" in last(call)


def answers(path, body, number):
    """Reply to a part in words of its own, and Yes to a question."""
    return chat_reply(f"Noted: {last(body).count(chr(10)) - 1} rows." if is_part(body) else "Yes")


def load(task, name: str, **settings) -> prompts.Prompt:
    return prompts.load(task.name, name, task.examples(), format=task.prompt_format, **settings)


def result_in(place: Path) -> dict:
    return json.loads((place / "result.json").read_text())
