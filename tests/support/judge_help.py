"""A model whose replies the rules cannot read in part, and a judge of them, behind one server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support.openai_server import Reply, Server, chat_reply

VAGUE, MUDDLED = "Hard to tell; I lean towards agreeing.", "It depends on how one looks at it."
JUDGED = {VAGUE: "yes", MUDDLED: "unreadable"}


def words(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


def judges(body: dict[str, Any]) -> bool:
    """Whether a call is one of the judge's."""
    return bool(body["model"] == "judge-model")


def replies(judge: Callable[[str], Reply] | None = None) -> Callable[[str, dict[str, Any], int], Reply]:
    """Every third reply is vague, every fifth muddled, all others are No; `judge` replies to what it is asked."""

    def reply(path: str, body: dict[str, Any], number: int) -> Reply:
        asked = words(body)
        if judges(body):
            return judge(asked) if judge else chat_reply(next((JUDGED[text] for text in JUDGED if text in asked), "no"))
        share = sum(asked.encode()) % 15
        return chat_reply(VAGUE if share % 3 == 0 else MUDDLED if share % 5 == 0 else "No")

    return reply


def command(server: Server, *more: str, judge: bool = True) -> list[str]:
    """The settings of a run, with the judge behind the same server."""
    asked = [f"judge.base_url={server.url}", "judge.model=judge-model", "judge.name=careful"] if judge else []
    chosen = ["judge=openai", *asked] if judge else []
    return ["model=gpt4", f"model.base_url={server.url}", "task.limit=60", *chosen, *more]
