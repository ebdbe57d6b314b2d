"""What the page has to show, read from the runs' files without any of the code that makes the page."""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode


def address(view: str, *parts: str, **query: object) -> str:
    """Return the address of a view."""
    path = "/".join(quote(part, safe="!*'()") for part in (view, *parts))
    return f"#/{path}{'?' + urlencode(query) if query else ''}"


def page_data(report: Path) -> dict[str, Any]:
    """Return the data that the page has at once."""
    (text,) = re.findall(r'data-chunk="data">([^<]+)<', report.read_text(encoding="utf-8"))
    return json.loads(gzip.decompress(base64.b64decode(text)))


@dataclass
class Reply:
    """One answer."""

    item: str
    sample: int
    question: str
    prompt: list[str]
    reply: str
    read: int | None
    span: str | None
    failure: dict[str, str] | None
    right: bool | None
    gold: dict[str, int]
    groups: dict[str, str]
    output: int | None
    served_model: str | None

    @property
    def outcome(self) -> str:
        if self.failure:
            return "failed"
        return "unreadable" if self.read is None else "right" if self.right else "wrong"

    @property
    def shown_answer(self) -> str:
        """The answer as the list shows it."""
        return {1: "Yes", 0: "No"}[self.read] if self.outcome in ("right", "wrong") else self.outcome


class Run:
    """One results folder."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.result: dict[str, Any] = json.loads((folder / "result.json").read_text())
        run = self.result["run"]
        self.task, self.variant, self.prompt, self.model = (run[k] for k in ("task", "variant", "prompt", "model"))
        self.id = "/".join(run[k] for k in ("task", "variant", "prompt", "model"))

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
            response, answer = record.get("response") or {}, record.get("answer") or {}
            question = prompt[-1].partition("following: ")[2].partition("?")[0] if prompt else ""
            replies.append(
                Reply(
                    item=record["item"],
                    sample=record["sample"],
                    question=question and f"{question}.",
                    prompt=prompt,
                    reply=response.get("text") or "",
                    read=answer.get("label"),
                    span=answer.get("span"),
                    failure=record.get("failure"),
                    right=record.get("correct"),
                    gold=record["labels"],
                    groups=record["groups"],
                    output=(response.get("usage") or {}).get("output"),
                    served_model=response.get("served_model"),
                )
            )
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
        """Return the run of a model with these parts; of Corr2Cause's default variant unless `where` names another."""
        parts = {"model": model, "task": "corr2cause"} | where
        if parts["task"] == "corr2cause":
            parts = {"variant": "limit=80"} | parts
        (match,) = [run for run in self.all if all(getattr(run, k) == v for k, v in parts.items())]
        return match
