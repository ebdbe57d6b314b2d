"""Requests and answers in folders of parts: any order, any form, killed in the middle, in memory that stays flat."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from support.cache_help import HERE, command, count
from support.openai_server import chat_reply

from harness.cache import CachedModel, Store
from harness.models.api.openai import Chat
from harness.plugins.batches.journal import Journal, settings_of
from harness.types import ChatRequest, Message

pa = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402

RUN = ("model=gpt4", "task.limit=12")


@pytest.fixture
def here(tmp_path, monkeypatch, key):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(*arguments: str, out: str = "todo/"):
    return command("requests", out, *RUN, "cache=answers.sqlite", *arguments)


def taken(*arguments: object, cache: str = "answers.sqlite"):
    return command("import", *arguments, f"cache={cache}")


def requests_in(folder: Path) -> list[dict]:
    return [row for part in sorted(folder.iterdir()) for row in parquet.read_table(part).to_pylist()]


def reply(key: str) -> dict:
    return {"status_code": 200, "body": chat_reply("Yes" if int(key[0], 16) % 2 else "No")}


def write_answers(path: Path, keys: list[str], form: str) -> None:
    """Write answers as lines, as JSON in a column, or as nested columns."""
    path.parent.mkdir(exist_ok=True)
    rows = [{"custom_id": key, "response": reply(key)} for key in keys]
    if form == "lines":
        path.with_suffix(".jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return
    if form == "text":
        rows = [row | {"response": json.dumps(row["response"])} for row in rows]
    parquet.write_table(pa.Table.from_pylist(rows), path.with_suffix(".parquet"))


def test_a_folder_holds_the_lines_that_a_file_would(here):
    assert written(out="todo.jsonl").returncode == 0
    done = written("lines=5")
    assert done.returncode == 0 and "todo/, 3 parts: 12 requests to gpt4" in done.stdout, done.stdout + done.stderr
    lines = [json.loads(line) for line in Path("todo.jsonl").read_text().splitlines()]
    rows = requests_in(here / "todo")
    assert [(row["custom_id"], json.loads(row["body"])) for row in rows] == [
        (line["custom_id"], line["body"]) for line in lines
    ]
    assert [parquet.read_metadata(part).num_rows for part in sorted(Path("todo").iterdir())] == [5, 5, 2]
    assert not list(here.glob(".todo*"))
    (size,) = {len(row["body"]) for row in rows[:1]}
    assert written(f"megabytes={3 * size / 1e6}", out="small/").returncode == 0
    for part in Path("small").iterdir():
        bodies = [row["body"] for row in parquet.read_table(part).to_pylist()]
        assert len(bodies) == 1 or sum(map(len, bodies)) <= 3 * size
    stale = written()
    assert stale.returncode == 1 and "todo/ is not empty" in stale.stderr and len(list(Path("todo").iterdir())) == 3


def test_answers_in_any_form_and_order_are_taken_once(here):
    assert written().returncode == 0
    keys = [row["custom_id"] for row in requests_in(here / "todo")]
    random.Random(0).shuffle(keys)
    for k, form in enumerate(("nested", "lines", "text")):
        write_answers(here / "done" / f"part-{2 - k}", keys[k * 4 : k * 4 + 4], form)
    (here / "done" / "_SUCCESS").touch()
    assert "done, 3 parts: 12 new, 0 known already" in taken("done").stdout
    assert "done, 3 parts: 0 new, 12 known already" in taken("done").stdout
    assert "Nothing is left to be written" in written(out="none/").stdout and not Path("none").exists()
    assert command("verify", "cache=answers.sqlite").returncode == 0
    with closing(sqlite3.connect("answers.sqlite")) as db:
        stored = {
            key: json.loads(response)["text"] for key, response in db.execute("SELECT key, response FROM answers")
        }
    assert stored == {key: reply(key)["body"]["choices"][0]["message"]["content"] for key in keys}


def test_what_is_no_answer_is_said_and_the_rest_is_taken(here):
    assert written().returncode == 0
    keys = [row["custom_id"] for row in requests_in(here / "todo")]
    write_answers(here / "done" / "b", keys[:6], "text")
    write_answers(here / "done" / "a", keys[6:9], "nested")
    cut = (here / "done" / "a.parquet").read_bytes()[:-20]
    (here / "done" / "a.parquet").write_bytes(cut)
    failed = {
        "custom_id": [keys[9], None],
        "response": ['{"status_code": 500, "body": {}}', "{no JSON"],
        "error": [None] * 2,
    }
    parquet.write_table(pa.table(failed), here / "done" / "c.parquet")
    done = taken("done")
    assert done.returncode == 1 and "1 of 3 files are damaged, the rest is stored: done/a.parquet" in done.stderr
    assert "6 new" in done.stdout and "1 failed (1 server_error)" in done.stdout and "1 lines are none" in done.stdout
    assert len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("todo",), "holds requests, not answers"),
        (("other",), "has the columns a: answers have custom_id and response"),
        (("empty",), "holds no part of answers: they end with .parquet or .jsonl"),
    ],
)
def test_a_folder_without_answers_is_one_sentence(here, arguments, sentence):
    for name in ("todo", "other", "empty"):
        Path(name).mkdir()
    parquet.write_table(pa.table({"custom_id": ["a"], "body": ["{}"]}), "todo/x.parquet")
    parquet.write_table(pa.table({"a": [1]}), "other/x.parquet")
    done = taken(*arguments)
    assert done.returncode == 1 and sentence in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


def test_without_pyarrow_a_sentence_says_what_installs_it(here, monkeypatch):
    (here / "pyarrow.py").write_text("raise ImportError('not here')")
    done = subprocess.run(
        [sys.executable, "-m", "harness.cache", "requests", "todo/", *RUN],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(here), HERE[0]])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "Parquet parts need pyarrow" in done.stderr and "[parts]" in done.stderr


ENDPOINT = Chat(name="m", model="m", base_url="http://x/v1")


def many(place: Path, number: int, parts: int, words: int = 2000) -> list[str]:
    """Note so many requests as written out, and write parts of long answers to them in no order; return the keys."""
    with closing(Store(place / "answers.sqlite")) as store:
        journal, cached = Journal(store), CachedModel(ENDPOINT, store)
        journal.make_tables()
        model, settings = settings_of(ENDPOINT)
        journal.add_model(model, ENDPOINT.name, settings)
        requests = [ChatRequest((Message("user", f"{k}?"),), 5) for k in range(number)]
        keys = [cached.key(request) for request in requests]
        journal.write_out(model, "t", zip(keys, requests, strict=True))
    random.Random(1).shuffle(keys)
    (place / "done").mkdir()
    for part in range(parts):
        text = f"{random.Random(part).getrandbits(4 * words):x}"
        response = [json.dumps({"status_code": 200, "body": chat_reply(f"{key} {text}")}) for key in keys[part::parts]]
        table = pa.table({"custom_id": keys[part::parts], "response": response})
        parquet.write_table(table, place / "done" / f"{part}.parquet")
    return keys


IMPORT = """
import re, sys
from pathlib import Path
from harness.plugins.answers.command import main
code = main(["import", "done", "cache=answers.sqlite"])
# ru_maxrss would count what the test's own process had when it forked.
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1], flush=True)
sys.exit(code)
"""


def importing() -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": HERE[0]}
    return subprocess.Popen(
        [sys.executable, "-c", IMPORT], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def rows_of(path: str) -> dict[str, tuple]:
    with closing(sqlite3.connect(path)) as db:
        return {row[0]: row for row in db.execute("SELECT * FROM answers")}


@pytest.mark.slow
def test_a_folder_of_requests_is_there_whole_or_not_at_all(here):
    words = ["requests", "todo/", "model=gpt4", "task.limit=1000", "lines=50", "cache=answers.sqlite"]
    environment = {**os.environ, "PYTHONPATH": HERE[0]}
    with subprocess.Popen([sys.executable, "-m", "harness.cache", *words], env=environment) as process:
        while process.poll() is None and len(list(here.glob(".todo.tmp/*"))) < 3:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL and not Path("todo").exists()
    done = command(*words)
    assert done.returncode == 0 and "20 parts: 1,000 requests" in done.stdout, done.stdout + done.stderr
    assert len({row["custom_id"] for row in requests_in(here / "todo")}) == 1000 and not list(here.glob(".todo*"))


@pytest.mark.slow
def test_an_import_that_is_killed_goes_on_and_stores_nothing_twice(here):
    keys = many(here, 6000, 6)
    before: dict[str, tuple] = {}
    for kill in range(1, 4):
        process = importing()
        with process:
            while process.poll() is None and count(here / "answers.sqlite") < 1200 * kill:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        now = rows_of("answers.sqlite")
        assert before.items() <= now.items() and len(before) < len(now) < 6000
        before = now
    with importing() as process:
        out, err = process.communicate()
    assert process.returncode == 0 and f"{6000 - len(before):,} new, {len(before):,} known already" in out, out + err
    after = rows_of("answers.sqlite")
    assert before.items() <= after.items() and after.keys() == set(keys)
    assert all(json.loads(row[3])["text"].startswith(key) for key, row in after.items())
    assert command("verify", "cache=answers.sqlite").returncode == 0
    with closing(sqlite3.connect("answers.sqlite")) as db:
        assert db.execute("SELECT count(*) FROM batched").fetchone() == (0,)


@pytest.mark.slow
def test_twice_the_answers_take_the_same_memory(tmp_path, monkeypatch):
    peaks = []
    for number in (10_000, 20_000):
        place = tmp_path / str(number)
        place.mkdir()
        monkeypatch.chdir(place)
        many(place, number, number // 2500, words=4000)
        with importing() as process:
            out, err = process.communicate()
        assert process.returncode == 0 and f"{number:,} new" in out, out + err
        peaks.append(int(out.split()[-1]) / 1024)
    # Held whole, ten thousand more answers of 4 kB would be 40 MB at least.
    assert peaks[1] - peaks[0] < 15, peaks
