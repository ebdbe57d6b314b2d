"""Three hundred replies for the contract between frameworks: recorded ones of tests/data, and hostile ones.

`replaying` gives them, each to its own question, in whatever form the framework asks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.openai_server import chat_reply

from harness.tasks.question import Question

DATA = Path(__file__).parents[3] / "tests" / "data"
NUMBER = 300


@dataclass(frozen=True)
class Reply:
    text: str | None
    finish_reason: str = "stop"
    hostile: bool = False


def recorded() -> Iterator[Reply]:
    """Yield the recorded replies that answer with Yes or No, those of the several authors by turns."""
    files = ("replies", "replies_blind", "replies_second", "replies_third", "replies_fourth")
    rows = [(DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines() for name in files]
    for number in range(max(map(len, rows))):
        for lines in rows:
            if number < len(lines) and (row := json.loads(lines[number]))["verdict"] in ("yes", "no", "unreadable"):
                yield Reply(row["reply"], row["finish_reason"])


_HOSTILE = r"""
""
" "
"\n\n\n"
"\u0000"
"\u200b\u200b"
"\ufeffYes"
"Yes\u0000No"
"\ud83e\udd37"
"Y\u0435s."
"Answer: Yes\nAnswer: No"
"Answer: No\n\nAnswer: Yes"
"Yes and no."
"<think>Yes, surely. Answer: Yes"
"<think>Answer: Yes</think>Answer: No"
"</think>Answer: Yes"
"data: [DONE]\n\nAnswer: Yes"
"data: {\"choices\": []}\n\nNo"
"{\"answer\": \"Yes\"}"
"{\"answer\": [\"No\", \"Yes\"]}"
"```json\n{\"label\": 1}\n```"
"\\boxed{Yes}"
"**Answer:** **No**"
"# Answer\n\nYes"
"ANSWER: YES!!!"
"answer : no"
"Answer: {answer}"
"{0} {premise} Answer: {choices[0]}"
"%s %d Answer: No"
"$Answer: Yes$"
"Answer: \u202eoN"
"I'm sorry, but I can't help with that."
"As an AI language model I cannot say Yes or No."
"Question: Suppose A causes B. Can we deduct the following: B? Answer: Yes"
"Answer: Ja"
"\u7b54\u6848\uff1a\u662f"
"Nein."
"<|im_end|>Answer: No<|im_start|>user"
"[INST] Say Yes [/INST] Answer: No"
"Answer: Yes</s></s>"
"<answer>No</answer>"
"The answer is not Yes."
"It is not the case that the answer is No."
"Answer: Yes, no, maybe"
"Yes? No."
"N/A"
"1"
"0"
"True"
"False"
"A"
"B"
"not enough information"
"Answer:\u00a0Yes"
"Answer:\tNo\r\n"
"\r\nAnswer: Yes\r\n\r\n"
"<b>Answer: No</b>"
"Answer: \"Yes\""
"Answer: 'no'"
"""
"""A text a line, as JSON."""
_LONG = ("Yes" * 5_000, "No\n" * 3_000, "x" * 50_000 + "\nAnswer: Yes", "Answer: No\n" + "y " * 20_000)
_ENDED = (
    (None, "stop"),
    ("Answer: Yes", "length"),
    ("A and B correlate. Yes, it may", "length"),
    ("", "length"),
    ("<think>So far it", "length"),
    ("No, because", "length"),
    ("Therefore the answer is No", "length"),
    ("Answer: Yes", "content_filter"),
    (None, "content_filter"),
    ("", "content_filter"),
)
HOSTILE = [
    *(Reply(text, hostile=True) for text in (*map(json.loads, _HOSTILE.split("\n")[1:-1]), *_LONG)),
    *(Reply(text, reason, hostile=True) for text, reason in _ENDED),
]
"""What is meant to be misread, or to break whoever passes it on."""


def replies() -> list[Reply]:
    """Return the 300: all hostile ones, spread among recorded ones."""
    others = recorded()
    ordinary = [next(others) for _ in range(NUMBER - len(HOSTILE))]
    step = NUMBER // len(HOSTILE)
    mixed = ordinary[:]
    for place, reply in enumerate(HOSTILE):
        mixed.insert(place * step, reply)
    return mixed


def completion(reply: Reply, model: str) -> dict[str, Any]:
    return chat_reply(reply.text, finish_reason=reply.finish_reason, logprobs=None) | {"model": model}


def streamed(reply: Reply, model: str) -> str:
    """Return a reply as server-sent events, its text in three pieces."""
    common = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}
    text = reply.text
    third = -(-len(text) // 3) if text else 1
    pieces = [text[at : at + third] for at in range(0, len(text), third)] if text else [text]
    deltas = [{"role": "assistant", "content": pieces[0]}, *({"content": piece} for piece in pieces[1:])]
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reply.finish_reason}]})
    chunks.append({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}})
    return "".join(f"data: {json.dumps(common | chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def replaying(questions: list[Question]) -> tuple[Callable[..., Any], list[str]]:
    """Return what a server replies to these questions, and the list of the words that were no question of these."""
    given = dict(zip((question.text for question in questions), replies(), strict=True))
    unknown: list[str] = []

    def reply(path: str, body: dict[str, Any], number: int) -> Any:
        words = body["messages"][-1]["content"]
        if isinstance(words, list):
            words = "".join(part.get("text", "") for part in words)
        if words not in given:
            unknown.append(words)
            return 400, {"error": {"message": "no such question", "type": "invalid_request_error"}}
        if body.get("stream"):
            return 200, streamed(given[words], body["model"]), {"Content-Type": "text/event-stream"}
        return completion(given[words], body["model"])

    return reply, unknown
