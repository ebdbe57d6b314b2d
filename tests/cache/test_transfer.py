"""Caches that move between machines and are merged."""

from __future__ import annotations

import json
import random
from contextlib import closing

import pytest
from support.cache_help import ask, command, count, fill, says
from support.outcomes import each
from support.scripted import Scripted

from harness.cache import CachedModel, Store
from harness.types import PairRequest, Response


@pytest.fixture
def here(tmp_path, kind):
    return tmp_path / f"here.{kind}"


@pytest.fixture
def there(tmp_path, kind):
    return tmp_path / f"there.{kind}"


def exported(path) -> list[dict]:
    done = command("export", "-", f"cache={path}")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_cache_comes_back_from_its_export_byte_for_byte(here, there, tmp_path):
    fill(here, 30, name="a")
    fill(here, 30, name="b", task="u")
    with closing(Store(here)) as store:
        pair = PairRequest("Half an emoji \ud83d and ünïcödé", "so?")
        model = Scripted(lambda r: Response("x", logprobs={"entailment": -0.1}), accepts=(PairRequest,))
        list(each(CachedModel(model, store).respond([pair])))
    for path, file in ((here, "one.jsonl"), (there, "two.jsonl")):
        if path is there:
            assert "61 new, 0 known already" in command("import", tmp_path / "one.jsonl", f"cache={there}").stdout
        assert command("export", tmp_path / file, f"cache={path}").returncode == 0
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    with closing(Store(there)) as store:
        silent = Scripted(lambda r: pytest.fail("asked"), name="a")
        assert len(list(each(CachedModel(silent, store).respond(ask(f"{k}?") for k in range(30))))) == 30
        assert next(each(CachedModel(model, store).respond([pair])))[1].cached
    assert command("verify", f"cache={there}").returncode == 0


def test_a_line_says_all_that_its_key_is_made_of_and_words_once(here):
    fill(here, 10, task="corr2cause")
    lines = exported(here)
    assert [*lines[0]] == ["schema", "key", "model", "task", "stored", "identity", "request", "response", "digest"]
    assert [line["key"] for line in lines] == sorted(line["key"] for line in lines)
    texts = [m["text"] for line in lines for m in line["request"]["messages"] if "text" in m]
    assert sorted(texts) == sorted(["Be brief.", *(f"{k}?" for k in range(10))])
    assert lines[0]["task"] == "corr2cause" and lines[0]["stored"].endswith("+00:00")


def test_nodes_that_worked_apart_are_merged_and_a_second_time_changes_nothing(here, kind, tmp_path):
    for node in range(3):
        fill(tmp_path / f"node{node}.{kind}", 40, of=lambda k, node=node: f"{k + 20 * node}?")
        command("export", tmp_path / f"node{node}.jsonl", f"cache={tmp_path / f'node{node}.{kind}'}")
    files = [tmp_path / "node0.jsonl", tmp_path / f"node1.{kind}", tmp_path / "node2.jsonl"]
    said = command("import", *files, f"cache={here}").stdout.splitlines()
    assert [line.partition(": ")[2] for line in said] == [
        "40 new, 0 known already",
        "20 new, 20 known already",
        "20 new, 20 known already",
    ]
    again = command("import", *files, f"cache={here}").stdout
    assert again.count("0 new, 40 known already") == 3 and count(here) == 80


def test_of_two_answers_the_first_stays_unless_told(here, there, tmp_path):
    def other(request):
        # After another time the same answer is the same; other words are not.
        words = "another" if request.messages[-1].content in ("1?", "2?", "12?") else says(request).text
        return Response(words, finish_reason="stop", seconds=9.0)

    def texts(path):
        return [line["response"]["text"] for line in exported(path)]

    fill(here, 10)
    fill(there, 15, answer=other)
    command("export", tmp_path / "x.jsonl", f"cache={there}")
    said = command("import", tmp_path / "x.jsonl", f"cache={here}").stdout
    assert "5 new, 8 known already; 2 with another answer than the one stored: the first one stays" in said
    assert texts(here).count("another") == 1
    said = command("import", tmp_path / "x.jsonl", "replace=true", f"cache={here}").stdout
    assert "0 new, 13 known already; 2 with another answer" in said and "has taken its place" in said
    assert texts(here) == texts(there)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda line: line | {"schema": 4}, "is of schema 4"),
        (lambda line: line | {"identity": {"name": "other"}}, "its key is not that"),
        (lambda line: {name: value for name, value in line.items() if name != "digest"}, "is no answer"),
        (lambda line: line | {"stored": "yesterday"}, "is no answer"),
        (lambda line: [1], "is no answer"),
        (lambda line: json.dumps(line)[:40], "is not JSON"),
        (lambda line: json.loads(json.dumps(line).replace("7?", "8?")), "a text is not the one"),
    ],
)
def test_a_line_that_is_not_what_it_says_is_refused_and_the_ones_before_it_are_kept(here, there, tmp_path, spoil, said):
    fill(there, 20)
    lines = exported(there)
    at = next(k for k, line in enumerate(lines) if "7?" in json.dumps(line))
    spoilt = spoil(lines[at])
    lines[at] = spoilt
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    (tmp_path / "x.jsonl").write_text(text)
    done = command("import", tmp_path / "x.jsonl", f"cache={here}")
    assert done.returncode == 1 and said in done.stderr and f"line {at + 1}" in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert count(here) == at


def test_lines_without_their_words_can_be_replayed(here, there, tmp_path):
    fill(there, 20)
    lines = exported(there)[5:]
    random.Random(0).shuffle(lines)
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, lines)))
    said = command("import", tmp_path / "x.jsonl", f"cache={here}").stdout
    assert "15 new" in said and "without the words of their request" in said
    assert command("verify", f"cache={here}").returncode == 1


def test_files_that_are_none_are_sentences(here, tmp_path):
    (tmp_path / "notes.txt").write_text("my notes")
    fill(here, 3)
    for arguments, said in (
        (["import", tmp_path / "nowhere", f"cache={here}"], "there is no file"),
        (["import", tmp_path / "notes.txt", f"cache={here}"], "neither what export writes nor a cache"),
        (["import", here, f"cache={here}"], "is the cache itself"),
        (["export", tmp_path / "notes.txt" / "file", f"cache={here}"], "cannot be written"),
        (["export", "/dev/full", f"cache={here}"], "No space left"),
        (["stats", f"cache={tmp_path / 'nowhere'}"], "there is no cache"),
        (["stat"], "did you mean 'stats'?"),
    ):
        done = command(*arguments)
        assert done.returncode in (1, 2) and said in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert [file for file in tmp_path.iterdir() if file.suffix == here.suffix] == [here]
