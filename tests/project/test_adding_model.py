"""The model of docs/adding.md, as its page says it: its files, and its command."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "adding.md"


@pytest.fixture
def blocks() -> dict[str, str]:
    """Return the code blocks of the section by their language, one of each."""
    section = PAGE.read_text(encoding="utf-8").partition("## A model\n")[2].partition("\n## ")[0]
    parts = [part.partition("\n") for part in section.split("```")[1::2]]
    assert len({language for language, _, _ in parts}) == len(parts)
    return {language: text for language, _, text in parts}


def test_the_documents_model_answers_as_its_rule_says_and_its_answers_are_stored(harness, tmp_path, blocks):
    tmp_path.joinpath("my_models.py").write_text(blocks["python"])
    config = tmp_path / "configs" / "model" / "keyword.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(blocks["yaml"])
    command, *arguments = shlex.split(blocks["console"])
    assert command == "harness"
    process = harness(*arguments)
    assert process.returncode == 0, process.stderr
    (file,) = tmp_path.rglob("records.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(lines) == 40
    for line in lines:
        (message,) = line["request"]["messages"]
        assert line["response"]["text"] == ("Yes" if "confounder" in message["text"] else "No")
    assert len({line["response"]["text"] for line in lines}) == 2
    again = harness(*arguments, "model.window=1")
    assert "40 answers came from the cache, 0 were asked now" in again.stdout, again.stderr
    other = harness(*arguments, "model.phrase=collider", "model.name=other")
    assert "from the cache" not in other.stdout and "F1" in other.stdout, other.stderr
