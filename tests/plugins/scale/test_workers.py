"""workers=…: what comes of items that others ask, with workers in this process; test_processes.py has real ones."""

from __future__ import annotations

import json
from pathlib import Path

import inline_workers
import pytest
from inline_workers import ROWS, TASKS
from support.openai_server import chat_reply, error
from support.thinned import few

from harness import evaluate
from harness.errors import ConfigError
from harness.plugins.scale.folder import new_folder

PRICE = ("model.price.input=1000", "model.price.output=1000")


@pytest.fixture
def at(tmp_path):
    """Return a function that gives the settings of a run at a server, with workers in this process."""
    place = tmp_path / "configs" / "workers"
    place.mkdir(parents=True)
    (place / "inline.yaml").write_text("_target_: inline_workers.Inline\ncount: 3\n")
    inline_workers.LOST.clear()

    def settings(server, *more: str) -> tuple[str, ...]:
        return ("model=openai", "model.model=m", f"model.base_url={server.url}", "workers=inline", *more)

    return settings


def manifest() -> dict:
    (file,) = Path("results").rglob("manifest.json")
    return json.loads(file.read_text())


OTHERS = [pytest.param(task, marks=pytest.mark.slow) for task in ("samples", "corr2cause", "steps")]


@pytest.mark.parametrize("task", ["conversations", *OTHERS])
def test_a_lost_worker_changes_nothing_of_what_a_run_leaves(command, serve, decided, left, at, task):
    server = serve(decided)
    Path("q.csv").write_text("\n".join(["question,label,cluster", *ROWS]))
    Path("q.yaml").write_text("source: mine\nmakes: [chat]\nuser: '{question} Yes or No?'\n")
    inline_workers.LOST |= {"1-1"}
    code, out, err = command(*at(server, *TASKS[task]))
    assert code == 0 and "came from the cache" not in out, err
    assert "worker 1-1 ended without a word (lost by the test)" in err and "are dealt again" in err
    said = manifest()["workers"]
    assert (said["engine"], said["at_a_time"], said["rounds"], said["lost"]) == ("inline", 3, 2, 1)
    assert not Path(".cache/answers.sqlite.workers").exists()
    asked = len(server.calls)
    alone = [setting for setting in at(server, *TASKS[task]) if setting != "workers=inline"]
    assert command(*alone, "results=whole", "cache.path=whole.sqlite")[0] == 0
    assert len(server.calls) == 2 * asked
    assert left("results") == left("whole")


def test_what_is_stored_is_not_asked_again_and_with_all_of_it_no_worker_begins(command, serve, decided, at):
    server = serve(decided)
    command(*at(server, "task.limit=6"))
    assert len(server.calls) == 6
    code, out, _ = command(*at(server, "task.limit=15"))
    assert code == 0 and len(server.calls) == 15 and "6 answers came from the cache, 9 were asked now" in out
    orders = len(inline_workers.SEEN)
    code, out, _ = command(*at(server, "task.limit=15", "results=again"))
    assert code == 0 and len(inline_workers.SEEN) == orders and "15 answers came from the cache" in out


@pytest.mark.slow
def test_failures_of_workers_stand_in_the_records_and_the_same_command_asks_for_what_may_pass(command, serve, at):
    broken = True

    def reply(path, body, number):
        if "collider" in str(body):
            return chat_reply("", finish_reason="content_filter")
        return error(500, "broken") if broken and number % 3 == 0 else chat_reply("No")

    server = serve(reply)
    run = at(server, "task.limit=24", "model.attempts=1")
    code, out, err = command(*run)
    assert code == 1 and "calls failed in a way that may pass" in err and "dealt again" not in err, err
    assert len(server.calls) == 24 and "NOT COMPLETE" in out and manifest()["complete"] is False
    failures, broken = json.loads(next(Path("results").rglob("result.json")).read_text())["failures"], False
    assert set(failures) == {"server_error", "content_filter"}
    code, out, err = command(*run)
    assert code == 0 and len(server.calls) == 24 + sum(failures.values()), err
    assert manifest()["complete"] is True


def test_one_budget_holds_for_all_workers_and_its_bill_is_that_of_one_run(command, serve, at):
    server = serve()
    run = at(server, "task.limit=24", *PRICE)
    code, out, err = command(*run, "budget.requests=7")
    assert code == 1 and len(server.calls) == 7, err
    assert "budget.requests=7 of all workers together is reached (7 taken)" in err and "Limit of this run" in err
    assert "Cost of these answers: $0.0910; asked now: $0.0910." in out, out
    code, out, err = command(*run)
    assert code == 0 and len(server.calls) == 24 and "7 answers came from the cache, 17 were asked now" in out, err
    cost = json.loads(next(Path("results").rglob("result.json")).read_text())["cost"]
    assert cost["answers"] == 24 and cost["answers_without_cost"] == 0


def test_what_no_worker_can_do_ends_the_command_at_once(command, serve, at):
    server = serve(lambda path, body, number: error(401, "Incorrect API key provided"))
    code, out, err = command(*at(server, "task.limit=24"))
    assert code == 1 and not out and "worker 1-0 on " in err and "lost by the test" not in err, err
    assert err.splitlines()[-1].startswith(f"error: {server.url} refuses the key (401: Incorrect API key provided)")
    assert len(server.calls) <= 24 / 3 and not Path("results").exists()
    server = serve(lambda path, body, number: chat_reply("I cannot tell."))
    code, _, err = command(*at(server, "task.limit=100", "model.max_concurrency=1"))
    assert code == 1 and "pause=false" in err and len(server.calls) < 30, err


def test_a_worker_that_sees_another_disk_or_is_another_model_says_so_before_it_asks(command, serve, at, monkeypatch):
    server = serve()
    Path("q.csv").write_text("\n".join(["question,label,cluster", *ROWS]))
    Path("q.yaml").write_text("source: mine\nmakes: [chat]\nuser: '{question} Yes or No?'\n")
    run = at(server, "task=questions", "task.path=q.csv", "prompt=q.yaml")
    before = inline_workers.work

    def elsewhere(order: str) -> int:
        content = json.loads(Path(order).read_text())
        content["paths"] = {"task.path": "/nowhere/q.csv"}
        Path(order).write_text(json.dumps(content))
        return before(order)

    monkeypatch.setattr(inline_workers, "work", elsewhere)
    code, _, err = command(*run)
    assert code == 1 and "does not see task.path=/nowhere/q.csv: put it on a disk that all workers share" in err
    monkeypatch.setattr(inline_workers, "work", lambda order: before(_as_another_model(order)))
    code, _, err = command(*run)
    assert code == 1 and "is another model on" in err and "temperature: 1.5 there, " in err, err
    assert not server.calls


def _as_another_model(order: str) -> str:
    content = json.loads(Path(order).read_text())
    content["identity"]["temperature"] = 1.5
    Path(order).write_text(json.dumps(content))
    return order


@pytest.mark.parametrize(
    ("arguments", "said"),
    few(
        [
            (("model=always_no",), "always_no answers at once"),
            (("cache=off",), "with cache=off"),
            (("cache=refresh",), "with cache=refresh"),
            (("model.batch=true",), "with model.batch"),
            (("shards=3", "shard=1"), "shard=1 is what one of the workers asks"),
            (("workers=slurm", "workers.count=0"), "workers.count=0"),
            (("shards=7", "task.limit=6"), "shards=7, but the run has 6 items"),
        ],
        4,
    ),
)
def test_what_workers_are_not_for_is_told_before_anything_is_made(command, serve, at, arguments, said):
    server = serve()
    run = ["workers=inline"] if "model=always_no" in arguments else at(server)
    code, _, err = command(*run, *arguments)
    assert code == 1 and said in err and not server.calls, err
    assert not Path("results").exists() and not Path(".cache").exists()


@pytest.mark.slow
def test_two_commands_have_no_workers_for_one_run(command, serve, at, tmp_path):
    server = serve()
    with new_folder(".cache/answers.sqlite", Path("results/corr2cause/limit=6/plain/m")):
        code, _, err = command(*at(server, "task.limit=6"))
    assert code == 1 and "another command has workers for " in err and not server.calls, err
    assert command(*at(server, "task.limit=6"))[0] == 0 and len(server.calls) == 6
    assert not Path(".cache/answers.sqlite.workers").exists()


def test_python_refuses_what_only_the_command_can(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="for the command"):
        evaluate(task="corr2cause", model="always_no", shards=2, shard=1)
