from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.openai_server import chat_reply

from harness import __main__ as main_command
from harness.cli import hydra_app
from harness.sweep import jobs


@pytest.fixture
def command(tmp_path, monkeypatch, capsys, key) -> Callable[..., tuple[int, str, str]]:
    """Return a function that runs `harness …` here: its exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(jobs, "REPORTED", set())

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["harness", *arguments])
        code = hydra_app.launch(main_command.job, "config", main_command.sweep)
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def decided() -> Callable[..., dict[str, Any]]:
    """Return a reply that the request alone decides, as that of a model at temperature 0."""

    def reply(path: str, body: dict[str, Any], number: int) -> dict[str, Any]:
        digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).digest()
        return chat_reply("Answer: Yes" if digest[0] % 2 else "Answer: No")

    return reply


@pytest.fixture
def left() -> Callable[[str], dict[str, Any]]:
    """Return what a run has left below a results folder, without times and places."""

    def read(results: str) -> dict[str, Any]:
        (folder,) = {file.parent for file in Path(results).rglob("manifest.json")}
        lines = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
        for line in lines:
            line["response"] |= {"seconds": None, "cached": None}
            line["request"].pop("messages")  # words in full stand in the line that came first
        manifest = json.loads((folder / "manifest.json").read_text())
        parts = ("run", "configuration", "configuration_digest", "items", "counts", "complete", "words")
        return {
            "place": folder.relative_to(results),
            "records": sorted(json.dumps(line) for line in lines),
            "result": (folder / "result.json").read_text(),
            **{part: manifest[part] for part in parts},
        }

    return read
