"""What stands on a terminal: read from a real pseudo-terminal."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace

import pytest
from msgspec import structs
from support.golden import assert_golden
from support.pseudo_terminal import child, terminal
from support.written_runs import board_row, write_manifest

from harness.leaderboard import __main__ as leaderboard
from harness.leaderboard.build import build
from harness.storage.result_json import result_json
from harness.tables.table import Table
from harness.tables.terminal import show
from harness.tables.write import markdown
from harness.types import Metric, Result, Scores, Usage


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in ("NO_COLOR", "COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def run(model, f1=0.5, *, unreadable=0, prompt="plain", **more):
    interval = (max(f1 - 0.1, 0.0), min(f1 + 0.1, 1.0))
    values = {"f1": f1, "precision": f1 / 2, "recall": 1 - f1, "accuracy": f1 / 3, **more}
    metrics = tuple(Metric(name, value, interval) for name, value in values.items())
    overall = Scores(1162, 180, unreadable, 0, metrics, clusters=21, resamples=10_000)
    result = Result("published", {"published": {"overall": {"all": overall}}}, 21, {}, {}, Usage())
    row = board_row("corr2cause", "default", prompt, model, True, result)
    role = "baseline" if model.startswith("always_") else "model"
    return replace(row, manifest=structs.replace(row.manifest, role=role))


BOARD = [run("gpt4", 0.9123), run("always_yes", 0.2683), run("a_model_with_quite_a_long_name_v2", 0.5)]


def rendered_on(parts, width, **more):
    with terminal(width) as screen:
        show(parts, **more)
    return screen


def numbers(text):
    return set(re.findall(r"[\d.,]*\d", text))


@pytest.mark.parametrize("colour", [True, False], ids=["", "NO_COLOR"])
@pytest.mark.parametrize("width", [160, 80, 60, 40])
def test_a_leaderboard_at_every_width(monkeypatch, width, colour):
    if not colour:
        monkeypatch.setenv("NO_COLOR", "1")
    screen = rendered_on(build([*BOARD, run("model", 0.25, unreadable=3)]), width)
    table = screen.text.partition("──")[2].partition("Hidden")[0].partition("In brackets")[0]
    assert "91.23" in table and "[81.2, 100.0]" in table  # the best, and its interval, at any width
    assert numbers(table) <= numbers(markdown(build([*BOARD, run("model", 0.25, unreadable=3)])))  # none is cut
    assert screen.having("91.23", bold=True) and screen.having("50.00", underscore=True)
    assert not screen.having("26.83", bold=True) and not screen.colours
    assert_golden(f"leaderboard.{width}", screen.text.rstrip() + "\n")


def test_elsewhere_it_is_markdown(monkeypatch, capsys):
    show(["words", *build(BOARD)], title="a title")
    assert capsys.readouterr().out == f"words\n\n{markdown(build(BOARD))}\n"
    monkeypatch.setenv("TERM", "dumb")
    dumb = rendered_on(build(BOARD), 240)
    assert dumb.text == markdown(build(BOARD)) and b"\x1b" not in dumb.raw


def test_names_and_replies_are_neither_markup_nor_obeyed():
    table = Table.of(["item", "words"], [["[bold]a[/bold]", "\x1b[2J\x1b]0;owned\x07no \ud83d"]], text_columns=2)
    screen = rendered_on(["[red]said[/red] \x1b[31mx", table], 80, title="[b]title")
    assert "[red]said[/red]" in screen.text and "[bold]a[/bold]" in screen.text and "[b]title" in screen.text
    assert b"\x1b[2J" not in screen.raw and b"\x1b[31m" not in screen.raw and b"\x07" not in screen.raw
    assert "no �" in screen.text


def test_a_command_draws_unless_a_format_is_asked_for(tmp_path):
    for row in BOARD:
        folder = tmp_path / row.model
        folder.mkdir()
        place = {"task": row.task, "variant": row.variant, "prompt": row.prompt, "model": row.model}
        content = {"run": place, "complete": True, **result_json(row.result)}
        (folder / "result.json").write_text(json.dumps(content), encoding="utf-8")
        write_manifest(folder, place, row.result)
    with terminal(100) as with_graphics:
        assert leaderboard.main([str(tmp_path)]) == 0
    assert (
        "│" not in with_graphics.text and "|  " not in with_graphics.text and with_graphics.having("91.23", bold=True)
    )
    assert "| gpt4 " in (tmp_path / "LEADERBOARD.md").read_text(encoding="utf-8")
    with terminal(100) as as_markdown:
        assert leaderboard.main([str(tmp_path), "format=csv"]) == 0
    assert as_markdown.text.startswith("task,") and b"\x1b" not in as_markdown.raw


def test_a_run_shows_its_table(tmp_path):
    command = (sys.executable, "-m", "harness", "model=always_no", "task.limit=90")
    screen = child(80, *command, cwd=tmp_path, NO_COLOR="1")
    assert screen.lines[0] == "corr2cause · limit=90 · plain · always_no"
    assert screen.lines[2].split()[:4] == ["published", "labels", "F1", "precision"]
    assert screen.having("corr2cause", bold=True) and not screen.colours
    assert "relation: descendant" in screen.text and "Hidden at this width: " in screen.text
    assert "holds manifest.json" in screen.text.replace("\n", "")
