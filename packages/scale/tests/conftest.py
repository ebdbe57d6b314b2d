from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from support.openai_server import chat_reply


@pytest.fixture
def scale(tmp_path, monkeypatch, capsys, key) -> Callable[..., tuple[int, str, str]]:
    """Return a function that runs `harness scale …` here: its exit code, standard output and standard error."""
    import support_scale
    from harness_scale import command

    from harness import plugin

    engines = plugin.engines() | {"inline": "support_scale:Inline"}
    monkeypatch.setattr(plugin, "engines", lambda: engines)
    monkeypatch.chdir(tmp_path)
    support_scale.LOST.clear()
    support_scale.SEEN.clear()

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["harness", *arguments])
        return command.main(), *capsys.readouterr()

    return run


@pytest.fixture
def decided() -> Callable[..., dict[str, Any]]:
    """Return a reply that the request alone decides, as that of a model at temperature 0."""

    def reply(path: str, body: dict[str, Any], number: int) -> dict[str, Any]:
        digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).digest()
        return chat_reply("Answer: Yes" if digest[0] % 2 else "Answer: No")

    return reply
