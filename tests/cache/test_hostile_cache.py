"""Caches and exports that hold what no run would write: each field of a row, or of its response, of each odd value.

A cache with a bad row works: the row's answer is used or asked for again, and the other rows are used. A hostile export
is taken or refused with a sentence, and what is taken does no harm to the run that finds it.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import whole_command
from support.fault_server import Faults, InThread, answer
from support.mutations import mutated
from support.thinned import few

from harness.cache.__main__ import main
from harness.cache.schema import digest_of

ROWS = 120
RESPONSE = {
    "text": "Yes",
    "logprobs": {"Yes": -0.1, "No": -2.5},
    "usage": {"input": 11, "output": 2, "cached_input": 3, "reasoning": 1, "cache_write": 0},
    "finish_reason": "stop",
    "served_model": "faulty-2026-01-01",
    "seconds": 0.5,
}
NO_RESPONSE: dict[str, object] = {
    "nothing": "", "words": "Yes", "half a dict": '{"text": "Ye', "a list": "[]", "null": "null", "a number": "7",
    "a string": '"Yes"', "an empty dict": "{}", "NaN": "NaN", "deep lists": "[" * 100_000,
    "an integer": 7, "a float": 1.5,
    "deep dicts": '{"text":' * 100_000, "bytes": b"\xff\xfe\x00", "bytes of JSON": b'{"text": "Yes", "seconds": 1}',
    "a huge number": "9" * 5_000, "a nested usage": json.dumps(RESPONSE | {"usage": {"input": {"a": 1}}}),
    "an unknown field": json.dumps(RESPONSE | {"unknown": 1}), "UTF-16": json.dumps(RESPONSE).encode("utf-16"),
}  # fmt: skip
RESPONSES: dict[str, object] = {name: json.dumps(value) for name, value in mutated(RESPONSE)} | NO_RESPONSE


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hostile-0123456789")


@pytest.fixture(scope="module")
def server() -> Iterator[InThread]:
    started = InThread(Faults(latency=0.0))
    yield started
    started.close()


@pytest.fixture(scope="module")
def sound(server, tmp_path_factory) -> Path:
    """Return a folder with a cache of ROWS sound answers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-hostile-0123456789")
        folder = tmp_path_factory.mktemp("sound")
        assert whole_command.run(folder, server.url, ROWS).result["complete"]
    return folder / "answers.sqlite"


def command(*arguments: object) -> str:
    """Return what a command of harness cache prints; what is no error of its own is raised."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        main([str(argument) for argument in arguments])
    return said.getvalue()


def complaints(folder: Path, server: InThread, strange: set[str]) -> list[str]:
    """Return what is wrong with a run on a cache and with its repetition; `strange` prompts may be asked anew."""
    before = server.requests.copy()
    first = whole_command.run(folder, server.url, ROWS)
    asked = set(server.requests - before)
    calls = server.requests.total()
    again = whole_command.run(folder, server.url, ROWS)
    for when, ran in (("", first), ("again: ", again)):
        if ran.crash is not None:
            return [f"{when}crashed: {type(ran.crash).__name__}: {str(ran.crash)[:200]}"]
    found = [f"stored, and asked again: {asked - strange}"] * bool(asked - strange)
    found += [f"not complete: {first.sentence}"] * (not first.result.get("complete"))
    wrong = {
        p: words for p, words in first.words.items() if p in asked | (set(first.words) - strange) and words != answer(p)
    }
    found += [f"other words than the stored ones: {wrong}"] * bool(wrong)
    found += [f"{server.requests.total() - calls} calls the second time"] * (server.requests.total() != calls)
    found += ["another result the second time"] * (again.result != first.result)
    return found


def spoilt(sound: Path, folder: Path, responses: list[tuple[str, object]]) -> set[str]:
    """Put a response into each of the first rows of a copy; the prompts whose rows these are."""
    folder.mkdir()
    shutil.copy(sound, folder / "answers.sqlite")
    with contextlib.closing(sqlite3.connect(folder / "answers.sqlite")) as db:
        keys = [key for (key,) in db.execute("SELECT key FROM answers ORDER BY rowid")]
        for key, (_, response) in zip(keys, responses, strict=False):
            db.execute("UPDATE answers SET response = ? WHERE key = ?", (response, key))
            if isinstance(response, str):  # with the digest that fits, as somebody who means harm would write it
                db.execute("UPDATE answers SET digest = ? WHERE key = ?", (digest_of(key, response), key))
        db.commit()
        texts = dict(db.execute("SELECT digest, text FROM texts"))
        rows = db.execute("SELECT request FROM answers WHERE rowid <= ?", (len(responses),)).fetchall()
    return {texts[json.loads(request)["messages"][-1]["sha256"]] for (request,) in rows}


def search(sound: Path, folder: Path, server: InThread, responses: list[tuple[str, object]]) -> list[str]:
    """Return the complaints, by the responses that are the cause."""
    strange = spoilt(sound, folder, responses)
    if not (found := complaints(folder, server, strange)):
        return []
    if len(responses) == 1:
        return [f"{responses[0][0]}: {complaint}" for complaint in found]
    half = len(responses) // 2
    parts = (responses[:half], responses[half:])
    return [c for k, part in enumerate(parts) for c in search(sound, folder / str(k), server, part)] or found


def batches(size: int) -> list[list[tuple[str, object]]]:
    every = list(RESPONSES.items())
    return [every[at : at + size] for at in range(0, len(every), size)]


@pytest.mark.parametrize("responses", few(batches(60), 1), ids=lambda batch: f"{batch[0][0]} …")
def test_a_cache_with_bad_rows_works(sound, server, tmp_path, responses):
    found = search(sound, tmp_path / "run", server, responses)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("responses", batches(60), ids=lambda batch: f"{batch[0][0]} …")
def test_every_command_reads_a_cache_with_bad_rows(sound, tmp_path, responses):
    spoilt(sound, tmp_path / "run", responses)
    cache = tmp_path / "run" / "answers.sqlite"
    for arguments in (["stats"], ["verify"], ["export", tmp_path / "out.jsonl"], ["prune", "model=gpt4"]):
        said = command(*arguments, f"cache={cache}")
        assert "Traceback" not in said, (arguments, said[-300:])
