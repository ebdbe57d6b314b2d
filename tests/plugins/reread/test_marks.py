"""harness reread sample= and marks=: a person audits what the rules read."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from support.judge_help import command
from support.openai_server import KEY, chat_reply
from support.resealing import load

from harness.plugins.reread.__main__ import main
from harness.scoring.audit import audited_sample
from harness.storage import runs
from harness.verify.run import problems_of

HOSTILE = 'No.</pre></article><script>steal()</script><img src=x onerror="steal()"> $cards &lt;'


class Parts(HTMLParser):
    """The elements of a page and their attributes, and its text."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page.read_text(encoding="utf-8"))
        self.cards = [part for name, part in self.elements if name == "article"]

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def place(harness, serve, tmp_path, monkeypatch) -> Path:
    """A run whose replies try to leave their place on a page: 20 of them No, 10 Yes."""
    answers = ("Yes, it is true.", HOSTILE, HOSTILE)
    server = serve(lambda path, body, number: chat_reply(answers[number % 3]))
    done = harness(*command(server, "task.limit=30", judge=False), OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir(tmp_path)
    return next(Path("results").rglob("result.json")).parent


def marked(place: Path, wrong: int, unclear: int = 0) -> dict:
    """What the page saves: the first marks are wrong, the next unclear, all others right."""
    marks = ["wrong"] * wrong + ["unclear"] * unclear + ["right"] * 30
    cards = Parts(place / "marks.html").cards
    lines = [
        {"item": card["data-item"], "sample": int(card["data-sample"]), "reply": card["data-reply"], "mark": mark}
        for card, mark in zip(cards, marks, strict=False)
    ]
    return {"drawn": 10, "marks": lines}


def test_the_page_shows_the_sample_the_same_twice_and_hostile_replies_as_text(place, capsys):
    assert main([str(place), "sample=10"]) == 0
    page = (place / "marks.html").read_bytes()
    assert f"harness reread {place} marks=marks.json" in capsys.readouterr().out
    assert main([str(place), "sample=10"]) == 0 and (place / "marks.html").read_bytes() == page
    parts, run = Parts(place / "marks.html"), runs.load(place)
    assert {(card["data-item"], int(card["data-sample"])) for card in parts.cards} == audited_sample(run.records(), 10)
    assert len(parts.cards) == 10 == parts.text.count("The rules read")
    names = [name for name, _ in parts.elements]
    assert names.count("script") == 1 and "img" not in names and HOSTILE in parts.text
    assert not any(name.startswith("on") or name in ("src", "href") for _, part in parts.elements for name in part)
    (policy,) = (part["content"] for _, part in parts.elements if part.get("http-equiv"))
    assert re.fullmatch(r"default-src 'none'; .*; style-src 'unsafe-inline'; script-src +'sha256-\S+'", policy)
    asked = next(line for line in run.lines() if line["item"] == parts.cards[0]["data-item"])
    assert asked["request"]["messages"][-1]["text"] in parts.text


def test_marks_are_kept_and_tell_the_error_rate_and_the_run_still_holds(place, capsys):
    sealed = {file.name: file.read_bytes() for file in place.iterdir()}
    main([str(place), "sample=10"])
    content, file = marked(place, wrong=2, unclear=1), Path("marks.json")
    labels = {record.item: record.answer.label for record in runs.load(place).records()}
    content["marks"].pop()
    file.write_text(json.dumps(content))
    capsys.readouterr()
    assert main([str(place), f"marks={file}"]) == 0
    shown = capsys.readouterr().out
    # Wilson's interval of 2 of 8.
    assert "Of 8 replies drawn" in shown and "a person reads 2 otherwise: an error rate of 25.0% [7.1%, 59.1%]" in shown
    wrong = [labels[mark["item"]] for mark in content["marks"][:2]]
    lean = {2: "lean to Yes: 2 wrong Yes", 1: "", 0: "lean to No: 2 wrong No"}[sum(wrong)]
    assert lean in shown and ("lean" in shown) == bool(lean)
    assert "Not counted: 1 unclear, 1 not marked." in shown
    assert load(place / "marks.json") == content and not [*problems_of(place)]
    assert {name: (place / name).read_bytes() for name in sealed} == sealed
    assert main([str(place), f"marks={place / 'marks.json'}"]) == 0 and capsys.readouterr().out == shown


def _digest(content: dict) -> None:
    content["marks"][0]["reply"] = "0" * 64


def _stranger(content: dict) -> None:
    content["marks"][0]["item"] = "another"


def _twice(content: dict) -> None:
    content["marks"].append(content["marks"][0])


def _mark(content: dict) -> None:
    content["marks"][0]["mark"] = "great"


def test_marks_of_something_else_are_refused(place, capsys):
    main([str(place), "sample=10"])
    reasons = {
        _digest: "is not the one marked",
        _stranger: "was not drawn from",
        _twice: "there twice",
        _mark: "'great'",
    }
    file = Path("marks.json")
    for change, reason in reasons.items():
        content = marked(place, wrong=0)
        change(content)
        file.write_text(json.dumps(content))
        capsys.readouterr()
        assert main([str(place), f"marks={file}"]) == 1
        assert reason in capsys.readouterr().err, change
    file.write_text(json.dumps(content) + " " * (1 << 22))
    assert main([str(place), f"marks={file}"]) == 1 and "larger than 4 MB" in capsys.readouterr().err
    assert main([str(place), "sample=10", "judge=gpt4"]) == 1 and "stand alone" in capsys.readouterr().err
    assert main([str(place), "sample=0"]) == 1 and not (place / "marks.json").exists()
