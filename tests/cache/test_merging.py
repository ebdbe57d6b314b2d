"""Caches of several machines are merged, and answers are written out."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support.cache_help import ask, command, count, fill, says
from support.outcomes import each
from support.scripted import Scripted

from harness.cache import CachedModel, Store
from harness.types import PairRequest, Response


@pytest.fixture
def here(tmp_path) -> Path:
    return tmp_path / "here.sqlite"


@pytest.fixture
def there(tmp_path) -> Path:
    return tmp_path / "there.sqlite"


def rows(path: Path) -> list[list[tuple]]:
    with closing(Store(path, readonly=True)) as store:
        tables = ("answers", "identities", "texts")
        return [list(store.query(f"SELECT * FROM {table} ORDER BY 1")) for table in tables]


def texts(path: Path) -> list[str]:
    done = command("export", "-", f"cache={path}")
    assert done.returncode == 0, done.stderr
    return [json.loads(line)["response"]["text"] for line in done.stdout.splitlines()]


def test_what_is_merged_is_row_for_row_what_was_there(here, there):
    fill(there, 1200, name="a")
    fill(there, 30, name="b", task="u")
    with closing(Store(there)) as store:
        pair = PairRequest("Half an emoji \ud83d and ünïcödé", "so?")
        model = Scripted(lambda r: Response("x", logprobs={"entailment": -0.1}), accepts=(PairRequest,))
        list(each(CachedModel(model, store).respond([pair])))
    assert "1,231 new, 0 known already\n" in command("import", there, f"cache={here}").stdout
    assert rows(here) == rows(there)
    with closing(Store(here)) as store:
        silent = Scripted(lambda r: pytest.fail("asked"), name="a")
        assert len(list(each(CachedModel(silent, store).respond(ask(f"{k}?") for k in range(30))))) == 30
        assert next(each(CachedModel(model, store).respond([pair])))[1].cached
    assert command("verify", f"cache={here}").returncode == 0


def test_an_export_has_a_line_of_words_for_each_answer(here):
    fill(here, 10, task="corr2cause")
    lines = [json.loads(line) for line in command("export", "-", f"cache={here}").stdout.splitlines()]
    assert {*lines[0]} == {"key", "model", "task", "stored", "identity", "request", "response"}
    assert [line["key"] for line in lines] == sorted(line["key"] for line in lines)
    assert sorted(line["request"]["messages"][1]["text"] for line in lines) == [f"{k}?" for k in range(10)]
    assert {line["request"]["messages"][0]["text"] for line in lines} == {"Be brief."}
    assert lines[0]["task"] == "corr2cause" and lines[0]["stored"].endswith("+00:00")


def test_nodes_that_worked_apart_are_merged_and_a_second_time_changes_nothing(here, tmp_path):
    files = [tmp_path / f"node{node}.sqlite" for node in range(3)]
    for node, file in enumerate(files):
        fill(file, 40, of=lambda k, node=node: f"{k + 20 * node}?")
    said = command("import", *files, f"cache={here}").stdout.splitlines()
    assert [line.partition(": ")[2] for line in said] == [
        "40 new, 0 known already",
        "20 new, 20 known already",
        "20 new, 20 known already",
    ]
    again = command("import", *files, f"cache={here}").stdout
    assert again.count("0 new, 40 known already") == 3 and count(here) == 80


def test_what_a_killed_process_left_in_the_log_is_merged(here, there, tmp_path):
    fill(there, 5)
    with closing(Store(there)):  # while it is open, its log is not folded in
        fill(there, 20)
        for end in ("", "-wal"):
            shutil.copy(f"{there}{end}", tmp_path / f"copy.sqlite{end}")
    assert "20 new" in command("import", tmp_path / "copy.sqlite", f"cache={here}").stdout


def test_of_two_answers_the_first_stays(here, there):
    fill(here, 10)
    fill(there, 15, answer=lambda request: Response("another"))
    assert "5 new, 10 known already" in command("import", there, f"cache={here}").stdout
    assert texts(here).count("another") == 5


def test_a_row_that_cannot_be_read_gives_way_to_one_that_can(here, there):
    fill(here, 10)
    fill(there, 10)
    with closing(sqlite3.connect(here, isolation_level=None)) as db:
        db.execute("UPDATE answers SET response='{' WHERE rowid=3")
    assert "1 new, 9 known already" in command("import", there, f"cache={here}").stdout
    assert command("verify", f"cache={here}").returncode == 0


@pytest.mark.parametrize("change", [
    "answers SET response=replace(response, 'To 7?', 'To 8?')",
    "answers SET key='0' WHERE rowid=8",
    "answers SET request='{}' WHERE rowid=8",
    "answers SET identity='another' WHERE rowid=8",
    "answers SET stored='yesterday' WHERE rowid=8",
    "answers SET task=x'ff' WHERE rowid=8",
])  # fmt: skip
def test_a_row_that_is_not_what_it_says_is_left_out(here, there, change):
    fill(there, 20)
    with closing(sqlite3.connect(there, isolation_level=None)) as db:
        db.execute(f"UPDATE {change}")
    said = command("import", there, f"cache={here}").stdout
    assert "19 new, 0 known already; 1 left out, because they are not what was stored" in said
    assert count(here) == 19 and command("verify", f"cache={here}").returncode == 0


def test_answers_whose_words_are_others_can_be_replayed(here, there):
    fill(there, 20)
    with closing(sqlite3.connect(there, isolation_level=None)) as db:
        db.execute("UPDATE texts SET text='another' WHERE text='7?'")
    assert "20 new" in command("import", there, f"cache={here}").stdout
    assert "the words of a request are missing" in command("verify", f"cache={here}").stdout
    with closing(Store(here)) as store:
        assert len(list(each(CachedModel(Scripted(says), store, mode="frozen").respond([ask("7?")])))) == 1


def test_files_that_are_none_are_sentences(here, tmp_path):
    (tmp_path / "notes.txt").write_text("my notes")
    fill(here, 3)
    for arguments, said in (
        (["import", tmp_path / "nowhere", f"cache={here}"], "there is no file"),
        (["import", tmp_path / "notes.txt", f"cache={here}"], "is damaged, or is no cache"),
        (["import", here, f"cache={here}"], "is the cache itself"),
        (["export", tmp_path / "notes.txt" / "file", f"cache={here}"], "cannot be written"),
        (["export", "/dev/full", f"cache={here}"], "No space left"),
        (["stats", f"cache={tmp_path / 'nowhere'}"], "there is no cache"),
    ):
        done = command(*arguments)
        assert done.returncode in (1, 2) and said in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert [*tmp_path.glob("*.sqlite")] == [here]
