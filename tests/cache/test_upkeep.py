"""stats, prune and verify."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from support.cache_help import ask, command, count, fill, says
from support.openai_server import chat_reply
from support.outcomes import each
from support.scripted import Scripted

from harness.cache import CachedModel, Store
from harness.cache.__main__ import CACHE
from harness.config_files import CONFIGS


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "answers.sqlite"
    fill(path, 12, name="a", task="corr2cause")
    fill(path, 7, name="b", task="corr2cause")
    fill(path, 20, name="b", task="causalbench/cot")
    return path


def test_the_commands_look_where_runs_write():
    assert f"path: {CACHE} " in (CONFIGS / "cache/on.yaml").read_text()


def test_stats_tell_models_and_the_tasks_that_asked_first(path):
    out = command("stats", f"cache={path}").stdout
    cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in out.splitlines() if line[:2] == "| "]
    found = {(name, task): answers for name, task, answers, *_ in cells[2:]}
    assert found == {("a", "corr2cause"): "12", ("b", "corr2cause"): "7", ("b", "causalbench/cot"): "13"}
    assert cells[2][3] == cells[2][4] == f"{datetime.now(UTC):%Y-%m-%d}"
    assert "32 answers and 21 texts" in out


@pytest.mark.parametrize(
    ("chosen", "left"),
    [
        (["model=a"], 20),
        (["task=corr2cause"], 13),
        (["model=b", "task=corr2cause"], 25),
        ([f"before={(datetime.now(UTC) + timedelta(days=2)).isoformat()}"], 0),
    ],
)
def test_prune_shows_first_and_removes_what_nobody_else_needs(path, chosen, left):
    before = path.read_bytes()
    said = command("prune", *chosen, f"cache={path}")
    assert f"{32 - left} answers would go. Nothing was removed" in said.stdout
    assert path.read_bytes() == before
    assert f"{32 - left} answers removed." in command("prune", *chosen, "yes=true", f"cache={path}").stdout
    assert count(path) == left
    assert command("verify", f"cache={path}").returncode == 0
    with closing(Store(path, readonly=True)) as store:
        used = {m["sha256"] for (r,) in store.query("SELECT request FROM answers") for m in json.loads(r)["messages"]}
        assert {name for (name,) in store.query("SELECT digest FROM texts")} == used
        assert next(store.query("SELECT count(*) FROM identities"))[0] == {0: 0, 13: 1, 20: 1, 25: 2}[left]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [([], "say which answers to remove"), (["model=c"], "holds no answer that all"), (["before=soon"], "before=soon")],
)
def test_prune_without_aim_is_a_sentence(path, arguments, said):
    done = command("prune", *arguments, f"cache={path}")
    assert done.returncode in (1, 2) and said in done.stderr
    assert count(path) == 32


def test_a_long_text_that_was_pruned_under_a_running_process_is_stored_again(path):
    long = "a network's data " * 1000
    with closing(Store(path)) as store:
        model = CachedModel(Scripted(says, name="late"), store)
        list(each(model.respond([ask(long)])))
        assert command("prune", "model=late", "yes=true", f"cache={path}").returncode == 0
        list(each(model.respond([ask(long, sample=1)])))
    assert command("verify", f"cache={path}").returncode == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE answers SET request = replace(request, '5', '6')", "a key is not that"),
        ("UPDATE answers SET response = '{' WHERE key = (SELECT min(key) FROM answers)", "1 times: an answer cannot"),
        ("UPDATE texts SET text = 'changed' WHERE text = '5?'", "a text or an identity is not the one"),
        ("DELETE FROM texts WHERE text = '5?'", "the words of a request are missing"),
        ("UPDATE identities SET identity = '{}' WHERE name = 'a'", "a text or an identity is not the one"),
        ("DELETE FROM identities WHERE name = 'a'", "12 times: the identity of an answer is missing"),
    ],
)
def test_verify_finds_what_was_changed(path, change, said):
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(change)
    done = command("verify", f"cache={path}")
    assert done.returncode == 1 and said in done.stdout, done.stdout
    assert "is not sound" in done.stderr


def test_what_a_router_wrote_of_its_own_is_asked_again(harness, serve, key):
    """As a 200, of which nothing can be read: its answers alone go, and the run's last lines say how."""
    odd = lambda number: chat_reply("Upstream returned an empty response" if number in (2, 5) else "No")  # noqa: E731
    server = serve(lambda path, body, number: odd(number))
    run = ("model=gpt4", f"model.base_url={server.url}", "task.limit=6")
    said = harness(*run).stdout
    (line,) = [line for line in said.splitlines() if line.startswith("To ask again what could not be read: ")]
    prune = line.partition("harness cache ")[2].removesuffix(", then this.").split()
    assert "2 answers removed." in harness(*prune, module="harness.cache").stdout
    said = harness(*run).stdout
    assert len(server.calls) == 8 and "To ask again" not in said and "could not be read" not in said
