"""What the page has to show, read from the runs' files without any of the code that makes the page."""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import json
import re
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

LABEL = {1: "Yes", 0: "No"}


def address(view: str, *parts: str, **query: object) -> str:
    """Return the address of a view."""
    path = "/".join(quote(part, safe="!*'()") for part in (view, *parts))
    return f"#/{path}{'?' + urlencode(query) if query else ''}"


def page_data(report: Path) -> dict[str, Any]:
    """Return the data that the page has at once."""
    (text,) = re.findall(r'data-chunk="data">([^<]+)<', report.read_text(encoding="utf-8"))
    return json.loads(gzip.decompress(base64.b64decode(text)))


class Reply:
    """One answer, by its line of the records and the words that were asked."""

    def __init__(self, record: dict[str, Any], prompt: list[str]) -> None:
        response, answer = record.get("response") or {}, record.get("answer") or {}
        self.item, self.sample, self.gold, self.groups = (record[k] for k in ("item", "sample", "labels", "groups"))
        self.prompt, self.failure, self.right = prompt, record.get("failure"), record.get("correct")
        self.reply, self.served_model = response.get("text") or "", response.get("served_model")
        self.output = (response.get("usage") or {}).get("output")
        self.read, self.span = answer.get("label"), answer.get("span")
        question = prompt[-1].partition("following: ")[2].partition("?")[0] if prompt else ""
        self.question = question and f"{question}."

    @property
    def outcome(self) -> str:
        if self.failure:
            return "failed"
        return "unreadable" if self.read is None else "right" if self.right else "wrong"

    @property
    def shown_answer(self) -> str:
        """The answer as the list shows it."""
        return LABEL[self.read] if self.outcome in ("right", "wrong") else self.outcome


class Run:
    """One results folder."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.result: dict[str, Any] = json.loads((folder / "result.json").read_text())
        run = self.result["run"]
        self.task, self.variant, self.prompt, self.model = place = [
            run[k] for k in ("task", "variant", "prompt", "model")
        ]
        self.id = "/".join(place)

    @property
    def compared(self) -> bool:
        """Whether it is a language model or an algorithm."""
        return json.loads((self.folder / "manifest.json").read_text())["role"] in ("model", "algorithm")

    @property
    def scores(self) -> dict[str, Any]:
        """The headline scores of all items."""
        return self.result["scores"][self.result["headline"]]["overall"]["all"]

    @cached_property
    def replies(self) -> list[Reply]:
        texts: dict[str, str] = {}
        replies = []
        for line in (self.folder / "records.jsonl").read_text(encoding="utf-8").split("\n")[:-1]:
            record = json.loads(line)
            messages = (record["request"] or {}).get("messages", [])
            for message in messages:
                if "text" in message:
                    texts[message["sha256"]] = message["text"]
            prompt = [texts[message["sha256"]] for message in messages]
            assert all(hashlib.sha256(text.encode()).hexdigest() in texts for text in prompt)
            replies.append(Reply(record, prompt))
        return replies

    def sheet(self, network: str, template: str) -> dict[tuple[str, str], str]:
        """Return the answer about each ordered pair."""
        rows = list(csv.reader((self.folder / "graphs" / network / f"{template}.csv").open()))
        return {(row[0], b): cell for row in rows[1:] for b, cell in zip(rows[0][1:], row[1:], strict=True)}


class Runs:
    """All runs below a folder."""

    def __init__(self, folder: Path):
        self.all = sorted((Run(file.parent) for file in folder.rglob("result.json")), key=lambda run: run.id)

    def get(self, model: str, **where: str) -> Run:
        """Return the run of a model with these parts; of its task's usual variant here unless `where` names another."""
        parts = {"model": model, "task": "corr2cause"} | where
        usual = {"corr2cause": "limit=80", "causalbench/causality": "method=2,networks=asia+cancer"}
        parts = {"variant": usual.get(parts["task"], "")} | parts
        (match,) = [run for run in self.all if all(getattr(run, k) == v for k, v in parts.items())]
        return match
