"""One run's answers as columns, and the texts of its requests."""

from __future__ import annotations

from typing import Any

from harness.storage.records import Line
from harness.types import JSON


class Codes:
    """A column of names that come again and again: the names once, and a number for each row."""

    def __init__(self) -> None:
        """Begin without rows."""
        self.names: dict[str, int] = {}
        self.codes: list[int] = []

    def set(self, row: int, name: str | None) -> None:
        """Set the name of a row; rows between have none."""
        self.codes += [-1] * (row + 1 - len(self.codes))
        self.codes[row] = -1 if name is None else self.names.setdefault(name, len(self.names))

    def json(self, rows: int) -> JSON:
        """Return the names, and the codes of so many rows, -1 for none."""
        return {"names": list(self.names), "codes": self.codes + [-1] * (rows - len(self.codes))}


class Answers:
    """A run's answers. Records come in the order in which a server replied, and are sorted by item and sample."""

    def __init__(self) -> None:
        """Begin without records."""
        self._rows: list[tuple[int, int, dict[str, Any]]] = []

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self._rows)

    def add(self, item: int, line: Line, right: bool | None) -> None:
        """Add a record about the item in that row."""
        response, answer = line.get("response", {}), line.get("answer", {})
        usage = response.get("usage", {})
        seconds, probability = response.get("seconds"), answer.get("probability")
        fields = {
            "sample": line["sample"] or None,
            "reply": response.get("text") or None,
            "reasoning": response.get("reasoning") or None,
            "read": answer.get("label"),
            "span": answer.get("span") or None,
            "rule": answer.get("rule"),
            "probability": probability if probability is None else round(probability, 6),
            "failure": line.get("failure"),
            "finish": response.get("finish_reason") or None,
            "input": usage.get("input"),
            "output": usage.get("output"),
            "usd": line.get("cost_usd"),
            "seconds": round(seconds, 3) if seconds else None,
            "right": right,
        }
        present = {name: value for name, value in fields.items() if value is not None}
        self._rows.append((item, line["sample"], present))

    def json(self) -> dict[str, JSON]:
        """Return the columns, all of one length; those that have nothing are left out."""
        rows = sorted(self._rows, key=lambda row: row[:2])
        empty = {"sample": 0, "reply": "", "reasoning": "", "span": ""}
        columns: dict[str, JSON] = {"item": [item for item, _, _ in rows]}
        for name in dict.fromkeys(name for _, _, fields in rows for name in fields):
            columns[name] = [fields.get(name, empty.get(name)) for _, _, fields in rows]
        if "finish" in columns:
            finish = Codes()
            for row, name in enumerate(columns["finish"]):
                finish.set(row, name)
            columns["finish"] = finish.json(len(rows))
        return columns


class RequestTexts:
    """The texts of a run's requests, each text once."""

    def __init__(self) -> None:
        """Begin without requests."""
        self.kind: str | None = None
        """chat, choice or pair; None where no record has a request."""
        self._messages: dict[int, list[tuple[str, str]]] = {}
        self._texts: dict[str, str] = {}

    def add(self, item: int, line: Line) -> None:
        """Add a request; samples of one item ask the same."""
        request = line["request"]
        if request is None or item in self._messages:
            return
        self.kind = self.kind or request["kind"]
        if request["kind"] == "pair":
            texts = [(name, request[name]["text"]) for name in ("premise", "hypothesis")]
        else:
            texts = [(message["role"], message["text"]) for message in request["messages"]]
        # A network's data stands in thousands of questions, and each line of the records brings its own copy: keep one.
        self._messages[item] = [(role, self._texts.setdefault(text, text)) for role, text in texts]

    def json(self) -> dict[str, JSON]:
        """Return the texts in the order of the items, and for each item which role has which text."""
        texts: dict[str, int] = {}
        messages: list[JSON] = [None] * (max(self._messages) + 1)
        for item in sorted(self._messages):
            messages[item] = [[role, texts.setdefault(text, len(texts))] for role, text in self._messages[item]]
        return {"kind": self.kind, "texts": list(texts), "messages": messages}
