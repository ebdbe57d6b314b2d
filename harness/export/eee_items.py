"""The records of a run as Every Eval Ever's rows: one for each reply or failed call."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.codec import digest
from harness.storage.atomic_write import written
from harness.storage.record_lines import Line, turns
from harness.storage.runs import Run

WORDS = {0: "No", 1: "Yes"}


@dataclass
class Rows:
    """Writes the rows and counts what the run's own record says of them."""

    run: Run
    same: Mapping[str, str]
    """What stands in every row: the version of the schema, the evaluation, the model."""
    result: str | None
    """The id of the result whose score is the mean of the rows that name it; None where none is."""
    parser: str
    """What reads an answer in a text."""
    count: int = 0
    sha256: str = ""
    max_tokens: int | None = None
    """That the model might write, as its requests say."""
    _digest: Any = field(default_factory=hashlib.sha256)

    def write(self, path: Path) -> None:
        """A line for each record. ASCII, because readers of the format take U+2028 and its like for line ends."""
        with written(str(path)) as file:
            for line in self.run.lines():
                row = json.dumps(self._row(line), allow_nan=False) + "\n"
                self._digest.update(row.encode())
                file.write(row)
                self.count += 1
                if self.max_tokens is None:
                    self.max_tokens = (line["request"] or {}).get("max_tokens")
        self.sha256 = self._digest.hexdigest()

    def _row(self, line: Line) -> dict[str, Any]:
        said = turns(line)
        replied = "failure" not in line
        talk = any(one["role"] == "assistant" for one in said)
        raw = said[-1]["content"] if talk else "\n\n".join(one["content"] for one in said)
        asked = {"raw": raw, "reference": [WORDS[self.run.gold(line)]]}
        choices = (line["request"] or {}).get("choices")
        right = bool(self.run.right(line))
        score = {"score": float(right), "is_correct": right}
        found: dict[str, Any] = {
            **self.same,
            # A failed call is in no metric, so its row names no result.
            **({"evaluation_result_id": self.result} if self.result and replied else {}),
            "sample_id": line["item"],
            **({"sample_hash": digest(asked)} if said else {}),
            "interaction_type": "multi_turn" if talk else "single_turn",
            "input": {**asked, **({"choices": choices} if choices else {})},
        }
        if talk:
            spoken = [*said, {"role": "assistant", "content": line["response"]["text"]}] if replied else said
            found["messages"] = [{"turn_idx": number, **one} for number, one in enumerate(spoken)]
            score["num_turns"] = len(spoken)
        else:
            found["output"] = {"raw": [line["response"]["text"]] if replied else []}
        found["answer_attribution"] = self._read(line, len(said) if talk else 0, talk) if replied else []
        found["evaluation"] = score
        if replied:
            found |= _cost(line["response"])
        else:
            found["error"] = f"{line['failure']['kind']}: {line['failure']['detail']}"
        return found | {"metadata": _metadata(line)}

    def _read(self, line: Line, turn: int, talk: bool) -> list[dict[str, Any]]:
        """The answer and where it was found; nothing for a reply that could not be read."""
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
                "extracted_value": WORDS[label],
                "extraction_method": method,
                "is_terminal": True,
            }
        ]


def _cost(response: Mapping[str, Any]) -> dict[str, Any]:
    """Tokens, where both ends were counted, and time, where it was taken."""
    tokens = response.get("usage", {})
    found: dict[str, Any] = {}
    put, got = tokens.get("input"), tokens.get("output")
    if put is not None and got is not None:
        rest = {
            "input_tokens_cache_read": tokens.get("cached_input"),
            "input_tokens_cache_write": tokens.get("cache_write"),
            "reasoning_tokens": tokens.get("reasoning"),
        }
        found["token_usage"] = {
            "input_tokens": put,
            "output_tokens": got,
            "total_tokens": put + got,
            **{name: count for name, count in rest.items() if count is not None},
        }
    if response.get("seconds"):
        found["performance"] = {"latency_ms": round(response["seconds"] * 1000, 3)}
    return found


def _metadata(line: Line) -> dict[str, str]:
    """All else that the record says, as texts."""
    response, answer = line.get("response", {}), line.get("answer", {})
    said = {
        "cluster": line["cluster"],
        "unit": line.get("unit"),
        **{f"group_{name}": group for name, group in line["groups"].items()},
        **{f"label_{name}": label for name, label in line["labels"].items()},
        "sample": line["sample"],
        "request": (line["request"] or {}).get("digest"),
        "span": answer.get("span") or None,
        "probability": answer.get("probability"),
        **{name: response.get(name) for name in ("finish_reason", "served_model", "cached")},
        "cost_usd": line.get("cost_usd"),
    }
    return {name: _text(value) for name, value in said.items() if value is not None}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
