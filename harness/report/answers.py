"""One run's answers as columns, and the words that were asked."""

from __future__ import annotations

from typing import Any

from harness.storage.record_lines import Line
from harness.types import JSON


class Codes:
    """A column of names that come again and again: the names once, and a number for each row."""

    def __init__(self) -> None:
        """Begins without rows."""
        self.names: dict[str, int] = {}
        self.codes: list[int] = []

    def put(self, row: int, name: str | None) -> None:
        """Sets a row; rows between have no name."""
        self.codes += [-1] * (row + 1 - len(self.codes))
        self.codes[row] = -1 if name is None else self.names.setdefault(name, len(self.names))

    def json(self, rows: int) -> JSON:
        """The names, and the codes of so many rows, -1 for none."""
        return {"names": list(self.names), "codes": self.codes + [-1] * (rows - len(self.codes))}


class Answers:
    """What was answered. Records come in the order in which a server replied, and are told by item and sample."""

    def __init__(self) -> None:
        """Begins without records."""
        self._rows: list[tuple[int, int, dict[str, Any]]] = []

    def __len__(self) -> int:
        """How many records there are."""
        return len(self._rows)

    def add(self, item: int, line: Line, right: bool | None) -> None:
        """Adds a record about the item of that place."""
        said, answer = line.get("response", {}), line.get("answer", {})
        usage = said.get("usage", {})
        seconds, probability = said.get("seconds"), answer.get("probability")
        found = {
            "sample": line["sample"] or None,
            "reply": said.get("text") or None,
            "read": answer.get("label"),
            "span": answer.get("span") or None,
            "rule": answer.get("rule"),
            "probability": probability if probability is None else round(probability, 6),
            "failure": line.get("failure"),
            "finish": said.get("finish_reason") or None,
            "input": usage.get("input"),
            "output": usage.get("output"),
            "usd": line.get("cost_usd"),
            "seconds": round(seconds, 3) if seconds else None,
            "right": right,
        }
        known = {name: value for name, value in found.items() if value is not None}
        self._rows.append((item, line["sample"], known))

    def json(self) -> dict[str, JSON]:
        """The columns, all of one length; those that have nothing are left out."""
        rows = sorted(self._rows, key=lambda row: row[:2])
        empty = {"sample": 0, "reply": "", "span": ""}
        columns: dict[str, JSON] = {"item": [item for item, _, _ in rows]}
        for name in dict.fromkeys(name for _, _, known in rows for name in known):
            columns[name] = [known.get(name, empty.get(name)) for _, _, known in rows]
        if "finish" in columns:
            finish = Codes()
            for row, name in enumerate(columns["finish"]):
                finish.put(row, name)
            columns["finish"] = finish.json(len(rows))
        return columns


class Asked:
    """The words of a run's requests, each text once."""

    def __init__(self) -> None:
        """Nothing has been asked."""
        self.kind: str | None = None
        """chat, choice or pair; None where nobody was asked."""
        self._messages: dict[int, list[tuple[str, str]]] = {}
        self._texts: dict[str, str] = {}

    def add(self, item: int, line: Line) -> None:
        """Adds a request; samples of one item ask the same."""
        request = line["request"]
        if request is None or item in self._messages:
            return
        self.kind = self.kind or request["kind"]
        if request["kind"] == "pair":
            said = [(name, request[name]["text"]) for name in ("premise", "hypothesis")]
        else:
            said = [(message["role"], message["text"]) for message in request["messages"]]
        # A network's data goes before thousands of questions, and every line of the records is read for itself.
        self._messages[item] = [(role, self._texts.setdefault(text, text)) for role, text in said]

    def json(self) -> dict[str, JSON]:
        """The texts in the order of the items, and for each item who said which."""
        texts: dict[str, int] = {}
        messages: list[JSON] = [None] * (max(self._messages) + 1)
        for item in sorted(self._messages):
            messages[item] = [[role, texts.setdefault(text, len(texts))] for role, text in self._messages[item]]
        return {"kind": self.kind, "texts": list(texts), "messages": messages}
