"""What stands in a cache may have been written by anybody: a paid answer is used, what cannot be one is left out."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support.cache_help import ask, command, count, fill, says
from support.mutations import mutated
from support.outcomes import each
from support.scripted import Scripted
from support.thinned import few

from harness.cache import CachedModel, Store, schema
from harness.errors import StoreError
from harness.types import Failure, Response, Usage

UNREADABLE = [
    "",
    "{",
    "null",
    "[]",
    '"No"',
    '{"text":null}',
    '{"text":["No"]}',
    '{"usage":{}}',
    '{"text":"No","logprobs":[1]}',
    '{"text":"No","logprobs":{"Yes":"-1"}}',
    '{"text":"No","logprobs":{"Yes":NaN}}',
    '{"text":"No","logprobs":{"Yes":7000}}',
    '{"text":"No","logprobs":{"Yes":true}}',
    '{"text":"No","logprobs":{"Yes":-1' + "0" * 400 + "}}",
    "[" * 100_000,
]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "answers.sqlite"
    fill(path, 10)
    return path


def key_of(path: Path, text: str) -> str:
    with closing(Store(path)) as store:
        return CachedModel(Scripted(says), store).key(ask(text))


def write(path: Path, key: str, response: str, digest: str | None = None) -> None:
    """Replace a stored response, by default with the digest that fits."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        named = digest or schema.digest_of(key, response)
        assert db.execute("UPDATE answers SET response=?, digest=? WHERE key=?", (response, named, key)).rowcount


def replay(path: Path, mode="on") -> tuple[dict, list, list[str]]:
    inner, lines = Scripted(says), []
    with closing(Store(path)) as store:
        found = dict(
            each(CachedModel(inner, store, mode=mode, say=lines.append).respond(ask(f"{k}?") for k in range(10)))
        )
    return found, inner.asked, lines


@pytest.mark.parametrize("response", few(UNREADABLE, 2))
def test_an_answer_that_cannot_be_read_is_missing_asked_again_and_replaced(path, tmp_path, response):
    key = key_of(path, "7?")
    write(path, key, response)
    done = command("verify", f"cache={path}")
    assert done.returncode == 1 and "1 times: an answer cannot be read" in done.stdout and key in done.stdout
    assert command("stats", f"cache={path}").returncode == 0
    done = command("import", path, f"cache={tmp_path / 'new.sqlite'}")
    assert done.returncode == 0 and "1 left out" in done.stdout, done
    done = command("export", tmp_path / "x.jsonl", f"cache={path}")
    assert done.returncode == 0 and "1 answer left out, because they cannot be read as stored" in done.stderr, done
    assert count(tmp_path / "new.sqlite") == 9 == len((tmp_path / "x.jsonl").read_text().splitlines())
    with pytest.raises(StoreError, match="or not as it was stored"):
        replay(path, "frozen")
    found, asked, lines = replay(path)
    assert len(found) == 10 and asked == [ask("7?")]
    assert lines == [f"1 stored answer in {path} could not be read as stored: asked again and replaced"]
    assert replay(path)[1:] == ([], [])
    assert command("verify", f"cache={path}").returncode == 0


def test_one_bad_row_of_any_kind_costs_no_other(path, tmp_path):
    """Each field of a response of each odd value, and what is none at all, with the digest that fits."""
    whole = {"text": "No", "logprobs": {"Yes": -0.1}, "usage": {"input": 1, "output": 2}, "finish_reason": "stop"}
    odd = [*[json.dumps(value) for _, value in mutated(whole | {"served_model": "m", "seconds": 0.5})], *UNREADABLE]
    odd += ['{"text":' * 100_000, b"\xff\xfe\x00", json.dumps(whole).encode("utf-16"), 7, 1.5]
    fill(path, len(odd) + 10)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        keys = [key for (key,) in db.execute("SELECT key FROM answers ORDER BY rowid LIMIT -1 OFFSET 10")]
        for key, response in zip(keys, odd, strict=True):
            digest = schema.digest_of(key, response) if isinstance(response, str) else ""
            db.execute("UPDATE answers SET response=?, digest=? WHERE key=?", (response, digest, key))
    for name in (["stats"], ["verify"], ["export", tmp_path / "x"], ["prune", "task=t"]):
        assert "Traceback" not in here(*name, f"cache={path}")
    assert "Traceback" not in here("import", path, f"cache={tmp_path / 'new.sqlite'}")
    assert count(tmp_path / "new.sqlite") >= 10
    for again in (False, True):
        inner = Scripted(says)
        with closing(Store(path)) as store:
            found = each(CachedModel(inner, store).respond(ask(f"{k}?") for k in range(len(odd) + 10)))
            assert sum(isinstance(outcome, Response) for _, outcome in found) == len(odd) + 10
        assert (not inner.asked) == again and not {ask(f"{k}?") for k in range(10)} & {*inner.asked}


def test_a_flipped_bit_of_a_stored_response_is_noticed(path):
    key = key_of(path, "7?")
    with closing(sqlite3.connect(path)) as db:
        response, digest = db.execute("SELECT response, digest FROM answers WHERE key=?", (key,)).fetchone()
    content = path.read_bytes()
    places = [content.index(response.encode()), content.index(digest.encode())]
    with closing(Store(path, readonly=True)) as store:
        assert store.get(key)
    for at, text in zip(places, (response, digest), strict=True):
        for byte in range(0, len(text), 7):
            flipped = bytearray(content)
            flipped[at + byte] ^= 1 << byte % 8
            path.write_bytes(flipped)
            with closing(Store(path, readonly=True)) as store:
                assert store.get(key) is None and store.holds(key), byte
    path.write_bytes(flipped)
    done = command("verify", f"cache={path}")
    assert done.returncode == 1 and key in done.stdout
    assert replay(path)[1] == [ask("7?")]


def test_a_response_in_the_row_of_another_is_noticed(path):
    one, other = key_of(path, "1?"), key_of(path, "2?")
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        row = db.execute("SELECT response, digest FROM answers WHERE key=?", (other,)).fetchone()
    write(path, one, *row)
    assert replay(path)[1] == [ask("1?")]


def here(*arguments) -> str:
    """Return what a command prints, run in this process: it raises nothing but what it should."""
    import contextlib
    import io

    from harness.cache.__main__ import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        main([str(argument) for argument in arguments])
    return out.getvalue()


def test_a_response_that_cannot_be_stored_takes_no_other_with_it(path):
    def odd(request):
        number = int(request.messages[-1].content[:-1])
        if number == 21:
            return Response("No", usage=Usage(input=float("nan"), output="2"), seconds=float("inf"))
        if number == 22:
            return Response("No", logprobs={"Yes": float("nan")})
        return Response(None) if number == 23 else says(request)

    with closing(Store(path)) as store:
        found = dict(each(CachedModel(Scripted(odd), store).respond(ask(f"{k}?") for k in range(20, 26))))
    assert found[ask("21?")] == Response("No")
    assert [found[ask(f"{k}?")].kind for k in (22, 23)] == ["invalid_reply"] * 2
    assert isinstance(found[ask("22?")], Failure) and count(path) == 14


def test_a_name_with_control_characters_is_printed_clean(path):
    fill(path, 1, name="\x1b[2Jevil\nmodel\udc80", task="\x1b]0;x\x07")
    outputs = [
        command("stats", f"cache={path}"),
        command("prune", "task=\x1b]0;x\x07", f"cache={path}"),
    ]
    for done in outputs:
        assert not set("\x1b\x07") & set(done.stdout + done.stderr), done
        assert "evil" in done.stdout + done.stderr
    assert "\nmodel" not in outputs[0].stdout


def test_plain_tables_of_plug_ins_stay_beside_the_answers(path):
    fill(path, 12)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("CREATE TABLE more (x TEXT PRIMARY KEY, request TEXT NOT NULL) WITHOUT ROWID")
        db.execute("CREATE INDEX more_x ON more (x)")
        db.execute("INSERT INTO more SELECT key, request FROM answers LIMIT 1")
        texts = db.execute("SELECT count(*) FROM texts").fetchone()
    assert command("prune", "task=t", "yes=true", f"cache={path}").returncode == 0 and count(path) == 0
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        assert db.execute("SELECT count(*) FROM more").fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM texts").fetchone() == (2,) != texts  # the words of what more refers to
