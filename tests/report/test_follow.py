"""A page that follows a run under way: what it has come to so far, until it has ended."""

from __future__ import annotations

import gzip
import json
import re
import signal
import subprocess
import sys
import threading
import time
from base64 import b64decode

import pytest
from support.openai_server import Server, chat_reply, error
from support.page_help import run
from support.server import WAIT

from harness.report import follow
from harness.storage.run_folder import PARTIAL

BEFORE = 8
"""Answers before the server waits until somebody has seen them; records are flushed twice a second."""


def model(url: str) -> list[str]:
    return ["model=openai", "model.model=m", f"model.base_url={url}", "model.max_concurrency=1", "task.limit=20"]


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "unused")


def test_a_run_is_shown_as_far_as_it_is_and_then_whole(tmp_path, monkeypatch, key) -> None:
    for name, seconds in {"EVERY": 0.05, "REST": 0, "QUIET": 0.4}.items():
        monkeypatch.setattr(follow, name, seconds)
    pages = []
    seen = threading.Event()

    def write(rows, about):
        pages.append(([(row.complete, len(list(row.lines())), row.result.overall.items) for row in rows], about))
        if any(answers for _, answers, _ in pages[-1][0]):
            seen.set()

    follower = threading.Thread(target=follow.follow, args=([str(tmp_path)], (), write))

    def answer(path, body, number):
        if number == 1:
            follower.start()
        if number == BEFORE:
            time.sleep(0.6)  # the next answer flushes those before it
        if number > BEFORE + 1:
            assert seen.wait(WAIT), "nobody has seen the run under way"
        return chat_reply("Yes")

    server = Server(answer)
    run(tmp_path, *model(server.url))
    server.close()
    follower.join(WAIT)
    shown = next((rows, about) for rows, about in pages if rows)
    ((complete, answers, items),) = shown[0]
    assert not complete and 0 < answers == items < 20
    assert re.fullmatch(rf"At \d\d:\d\d:\d\d: m, {answers} of 20 answers\.", shown[1]["sentence"])
    assert shown[1]["until"] > 1000 * time.time(), "it reloads until then"
    assert pages[-1] == ([(True, 20, 20)], None), "at the end it is as any page"


def test_what_a_killed_run_has_left_is_not_under_way(tmp_path, key) -> None:
    stopped = Server(lambda path, body, number: chat_reply("No") if number < 5 else error(401, "no"))
    run(tmp_path, *model(stopped.url), 'model.name="stopped"')
    stopped.close()
    folder = next(tmp_path.rglob("manifest.json")).parent
    (folder / PARTIAL).write_text("{}\n")
    assert (folder / ".lock").exists()
    assert list(follow.under_way([str(tmp_path)])) == []


def test_a_record_that_is_half_written_waits_for_the_next_page(tmp_path) -> None:
    source = tmp_path / PARTIAL
    source.write_text('{"item": "a"}\n{"item": "b"}\n{"ite')
    assert follow._copy_lines(source, tmp_path / "copy") == 2
    assert (tmp_path / "copy" / "records.jsonl").read_text() == '{"item": "a"}\n{"item": "b"}\n'


@pytest.mark.slow
def test_ctrl_c_leaves_the_page_without_reloading(tmp_path, key) -> None:
    page, release = tmp_path / "page.html", threading.Event()
    command = [sys.executable, "-m", "harness", "report", str(tmp_path / "runs"), f"out={page}", "follow=true"]

    def data():
        (text,) = re.findall(r'data-chunk="data">([^<]+)<', page.read_text(encoding="utf-8"))
        return json.loads(gzip.decompress(b64decode(text)))

    def watch():
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as following:
            deadline = time.monotonic() + WAIT
            while time.monotonic() < deadline and not (page.exists() and data()["runs"]):
                time.sleep(0.2)
            left.append(data())
            following.send_signal(signal.SIGINT)
            left.append(following.communicate(timeout=WAIT))
            left.append(data())
            release.set()

    left = []
    watcher = threading.Thread(target=watch)

    def answer(path, body, number):
        if number == 1:
            watcher.start()
        if number == BEFORE:
            time.sleep(1)
        if number > BEFORE + 1:
            assert release.wait(WAIT)
        return chat_reply("Yes")

    server = Server(answer)
    run(tmp_path / "runs", *model(server.url))
    server.close()
    watcher.join(WAIT)
    followed, (out, err), ended = left
    assert followed["follow"]["sentence"].endswith("of 20 answers.")
    assert not followed["runs"][0]["complete"]
    assert ended["follow"] is None and len(ended["runs"]) == 1
    assert "Ctrl-C ends it" in err and "page.html: 1 run" in out
