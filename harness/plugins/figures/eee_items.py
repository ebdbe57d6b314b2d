"""The records of a run as Every Eval Ever's rows: one for each reply or failed call."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.codec import digest
from harness.plugins.figures.eee_model import as_text
from harness.storage.atomic_write import atomic_file
from harness.storage.record_lines import Line, item_columns, reply_columns, turns
from harness.storage.runs import Run


@dataclass
class Rows:
    """The rows of a run's records, counted as they are written."""

    run: Run
    same: Mapping[str, str]
    """What stands in every row: the version of the schema, the evaluation, the model."""
    result: str | None
    """The id of the result whose score is the mean of the rows that name it; None where no score is such a mean."""
    parser: str
    """What reads an answer in a text."""
    count: int = 0
    sha256: str = ""
    max_tokens: int | None = None
    """That the model might write, as its requests say."""
    _digest: Any = field(default_factory=hashlib.sha256)

    def write(self, path: Path) -> None:
        """Write a line for each record, in ASCII: readers of the format take U+2028 and its like for line ends."""
        with atomic_file(str(path)) as file:
            for line in self.run.lines():
                row = json.dumps(self._row(line), allow_nan=False) + "\n"
                self._digest.update(row.encode())
                file.write(row)
                self.count += 1
                if self.max_tokens is None:
                    self.max_tokens = (line["request"] or {}).get("max_tokens")
        self.sha256 = self._digest.hexdigest()

    def _row(self, line: Line) -> dict[str, Any]:
        messages = turns(line)
        replied = "failure" not in line
        talk = any(message["role"] == "assistant" for message in messages)
        raw = messages[-1]["content"] if talk else "\n\n".join(message["content"] for message in messages)
        question = {"raw": raw, "reference": [self.run.result.answers[self.run.gold(line)]]}
        choices = (line["request"] or {}).get("choices")
        right = bool(self.run.right(line))
        score = {"score": float(right), "is_correct": right}
        row: dict[str, Any] = {
            **self.same,
            # A failed call is in no metric, so its row names no result.
            **({"evaluation_result_id": self.result} if self.result and replied else {}),
            "sample_id": line["item"],
            **({"sample_hash": digest(question)} if messages else {}),
            "interaction_type": "multi_turn" if talk else "single_turn",
            "input": {**question, **({"choices": choices} if choices else {})},
        }
        if talk:
            conversation = [*messages, *([self._reply(line["response"])] if replied else [])]
            row["messages"] = [{"turn_idx": number, **message} for number, message in enumerate(conversation)]
            score["num_turns"] = len(conversation)
        else:
            row["output"] = {"raw": [line["response"]["text"]] if replied else []}
            if replied and (thoughts := line["response"].get("reasoning")):
                row["output"]["reasoning_trace"] = [thoughts]
        row["answer_attribution"] = self._read(line, len(messages) if talk else 0, talk) if replied else []
        row["evaluation"] = score
        if replied:
            row |= _cost(line["response"])
        else:
            row["error"] = f"{line['failure']['kind']}: {line['failure']['detail']}"
        return row | {"metadata": _metadata(line)}

    @staticmethod
    def _reply(response: Mapping[str, Any]) -> dict[str, str]:
        thoughts = {"reasoning_trace": response["reasoning"]} if response.get("reasoning") else {}
        return {"role": "assistant", "content": response["text"], **thoughts}

    def _read(self, line: Line, turn: int, talk: bool) -> list[dict[str, Any]]:
        """Return the answer and where in the reply it stands; nothing for a reply that could not be read."""
        label = line["answer"]["label"]
        if label is None:
            return []
        method = (
            "log-probabilities" if line["response"].get("logprobs") else self.parser if line["request"] else "graph"
        )
        return [
            {
                "turn_idx": turn,
                "source": f"messages[{turn}].content" if talk else "output.raw",
                "extracted_value": self.run.result.answers[label],
                "extraction_method": method,
                "is_terminal": True,
            }
        ]


_TOKENS = {
    "cached_input": "input_tokens_cache_read",
    "cache_write": "input_tokens_cache_write",
    "reasoning": "reasoning_tokens",
}
_PLACED = {"item", "text", "reasoning", "answer", "failure", "failure_detail", "seconds"} | {
    f"{kind}_tokens" for kind in ("input", "output", *_TOKENS)
}
"""The columns that have a place of their own in a row."""


def _cost(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return tokens, if both input and output were counted, and seconds, if they were measured."""
    tokens = response.get("usage", {})
    cost: dict[str, Any] = {}
    input_tokens, output_tokens = tokens.get("input"), tokens.get("output")
    if input_tokens is not None and output_tokens is not None:
        cost["token_usage"] = {
            "input_tokens": input_tokens,
            "output_tokens": output_tokens,
            "total_tokens": input_tokens + output_tokens,
            **{name: tokens[kind] for kind, name in _TOKENS.items() if kind in tokens},
        }
    if response.get("seconds"):
        cost["performance"] = {"latency_ms": round(response["seconds"] * 1000, 3)}
    return cost


def _metadata(line: Line) -> dict[str, str]:
    """Return all else that the record says, as texts."""
    request = {"request": line["request"]["digest"]} if line["request"] else {}
    columns = item_columns(line) | request | reply_columns(line)
    return {name: as_text(value) for name, value in columns.items() if value != "" and name not in _PLACED}
