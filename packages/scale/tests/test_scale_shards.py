"""Shards: dealt whole, asked into caches of their own, and scored as one run would be."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from pathlib import Path

import pytest
import support_scale
from harness_scale.shards import LONGEST, dealt, longest_run
from hypothesis import given, settings
from hypothesis import strategies as st
from support.openai_server import chat_reply, error
from support_scale import run_at

from harness.cache.__main__ import main as cache_command
from harness.prompting.prompts import recorded
from harness.types import Item

TASKS = {
    "conversations": ("task=causalbench/causality", "task.networks=[asia,cancer]", "task.format=data", "task.limit=12"),
    "samples": ("task.limit=8", "samples=2", "model.temperature=1"),
}


def items(sizes: list[int]) -> list[Item]:
    return [
        Item(f"{cluster}-{k}", {"q": k, "net": cluster % 3}, {"gold": 1}, f"c{cluster}", groups={})
        for cluster, size in enumerate(sizes)
        for k in range(size)
    ]


@settings(max_examples=40)
@given(st.lists(st.integers(1, 600), min_size=1, max_size=6), st.integers(1, 9), st.booleans())
def test_every_item_is_in_one_shard_and_what_belongs_together_stays(sizes, shards, talks):
    words = {"makes": ["chat"], "user": "Q {q}", "source": "test"} | ({"opening": ["Of {net}."]} if talks else {})
    prompt, everything = recorded("mine", words, ()), items(sizes)
    shards = min(shards, len(everything))
    longest = longest_run(len(everything), shards)
    shares = defaultdict(list)
    runs = [(None, None)]
    for item, turn in dealt(everything, prompt, longest):
        shard = turn % shards
        shares[shard].append(item)
        if runs[-1] != (item.cluster, shard):
            runs.append((item.cluster, shard))
    assert sorted(item.id for share in shares.values() for item in share) == sorted(item.id for item in everything)
    if talks:
        for net in range(3):
            assert sum(any(item.fields["net"] == net for item in share) for share in shares.values()) <= 1
    else:
        assert len(shares) == shards
        assert shards == 1 or len(runs) - 1 <= sum(-(-size // longest) for size in sizes)
        most, least = (f(map(len, shares.values())) for f in (max, min))
        assert longest <= LONGEST and most - least <= longest * len(sizes)


def left(results: str) -> dict:
    """Return what a run has left below a results folder, without times and places."""
    (folder,) = {file.parent for file in Path(results).rglob("manifest.json")}
    lines = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    for line in lines:
        line["response"] |= {"seconds": None, "cached": None}
        line["request"].pop("messages")  # words in full stand in the line that came first
    manifest = json.loads((folder / "manifest.json").read_text())
    parts = ("run", "configuration", "configuration_digest", "items", "counts", "complete", "words")
    return {
        "place": folder.relative_to(results),
        "records": sorted(json.dumps(line) for line in lines),
        "result": (folder / "result.json").read_text(),
        **{part: manifest[part] for part in parts},
    }


def manifest() -> dict:
    (file,) = Path("results").rglob("manifest.json")
    return json.loads(file.read_text())


@pytest.mark.parametrize("task", TASKS)
def test_shards_by_hand_leave_what_one_run_leaves(scale, harness, serve, decided, task, tmp_path):
    server = serve(decided)
    run = run_at(server, *TASKS[task])
    assert harness(*run, "results=whole", "cache.path=whole.sqlite").returncode == 0
    whole = len(server.calls)
    for shard in range(2):
        code, out, err = scale(*run, "shards=2", f"shard={shard}")
        assert code == 0 and "harness cache import" in out, err
    assert len(server.calls) == 2 * whole and not Path("results").exists()
    assert cache_command(["import", *map(str, Path(".cache").rglob("2-*.sqlite"))]) == 0
    assert "0 were asked now" in harness(*run, "cache=frozen").stdout
    assert left("results") == left("whole")


def test_a_working_directory_on_a_disk_of_several_machines(scale, serve, decided, tmp_path_factory, monkeypatch):
    """The run's cache lies on a disk that workers do not see; they ask nothing that it has."""
    server, shared, own = serve(decided), Path.cwd(), tmp_path_factory.mktemp("own") / "disk"
    kind = {True: "nfs4", False: ""}
    monkeypatch.setattr(
        "harness.cache.schema.network_file_system", lambda path: kind[path.absolute().is_relative_to(shared)]
    )
    perform = support_scale.perform

    def elsewhere(*work: object) -> None:
        own.rename(f"{own}.away")
        perform(*work)
        Path(f"{own}.away").rename(own)

    monkeypatch.setattr(support_scale, "perform", elsewhere)
    run = run_at(server, f"cache.path={own}/answers.sqlite", "workers=inline")
    assert scale(*run, "task.limit=8")[0] == 0 and len(server.calls) == 8
    code, _, err = scale(*run, "task.limit=24")
    assert code == 0 and len(server.calls) == 24, err
    code, _, err = scale(*run_at(server), "workers=inline")
    assert code == 1 and "lies on nfs4" in err


def test_what_a_killed_command_left_is_taken_in_and_of_a_lost_worker_its_items_alone_are_asked_again(
    scale, harness, serve, decided
):
    server = serve(decided)
    run = run_at(server, "task.limit=24")
    assert scale(*run, "shards=3", "shard=2")[0] == 0  # of the command that was killed
    first = len(server.calls)
    support_scale.LOST.add("1")
    code, out, err = scale(*run, "workers=inline")
    assert code == 1 and "shard 1 has left no result (lost by the test)" in err and "NOT COMPLETE" in out, err
    assert 0 < first < len(server.calls) < 24 and manifest()["workers"]["lost"] == 1
    support_scale.LOST.clear()
    code, out, err = scale(*run, "workers=inline", "shards=5")  # any other number of shards
    assert code == 0 and len(server.calls) == 24, err
    assert not list(Path(".cache/shards").iterdir())
    assert harness(*run, "results=whole", "cache.path=whole.sqlite").returncode == 0
    assert left("results") == left("whole")
    support_scale.SEEN.clear()
    assert scale(*run, "workers=inline", "results=again")[0] == 0 and not support_scale.SEEN


def test_failures_stand_in_the_records_and_what_may_pass_is_asked_again(scale, serve):
    broken = True

    def reply(path, body, number):
        if "collider" in str(body):
            return chat_reply("", finish_reason="content_filter")
        return error(500, "broken") if broken and number % 3 == 0 else chat_reply("No")

    server = serve(reply)
    run = run_at(server, "task.limit=24", "model.attempts=1", "workers=inline")
    code, out, err = scale(*run)
    assert code == 1 and "calls failed in a way that may pass" in err and "NOT COMPLETE" in out, err
    assert len(server.calls) == 24 and manifest()["complete"] is False
    failures, broken = json.loads(next(Path("results").rglob("result.json")).read_text())["failures"], False
    assert set(failures) == {"server_error", "content_filter"}
    code, out, err = scale(*run)
    assert code == 0 and len(server.calls) == 24 + sum(failures.values()) and manifest()["complete"] is True, err


def test_one_budget_holds_for_all_workers(scale, serve):
    server = serve()
    run = run_at(server, "task.limit=24", "model.price.input=1000", "model.price.output=1000", "workers=inline")
    code, out, err = scale(*run, "budget.requests=7")
    assert code == 1 and len(server.calls) == 7, err
    assert "budget.requests=7 of all jobs together is reached" in err and "Limit of this run" in err
    assert "Asked now, by workers: $0.0910" in out and "Cost of these answers: $0.0910" in out, out
    code, out, err = scale(*run)
    assert code == 0 and len(server.calls) == 24, err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("shards=4", "shard=4"), "shard=4 of shards=4: they are counted from 0 to 3"),
        (("shards=13", "shard=0"), "shards=13, but the run has 12 items"),
        (("cache=off",), "scale asks by way of the cache"),
        (("model=always_no",), "no baseline"),
        (("workers=inlin",), "did you mean 'inline'"),
        (("workers=slurm", "workers.count=0"), "workers.count=0"),
    ],
)
def test_what_cannot_be_in_shards_is_told_before_anything_is_asked(scale, serve, arguments, said):
    server = serve()
    model = () if "model=always_no" in arguments else run_at(server)
    code, _, err = scale(*model, "task.limit=12", *arguments)
    assert code == 1 and said in err and not server.calls, err
    assert not Path("results").exists() and not Path(".cache").exists()


def test_a_worker_that_is_another_model_says_so_before_it_asks(scale, serve, monkeypatch):
    server = serve()
    before = support_scale.perform

    def elsewhere(function: str, order: dict) -> int:
        return before(function, {**order, "identity": {**order["identity"], "temperature": 1.5}})

    monkeypatch.setattr(support_scale, "perform", elsewhere)
    code, _, err = scale(*run_at(server, "task.limit=12"), "workers=inline")
    assert code == 1 and "is another model on" in err and not server.calls
    shutil.rmtree(".cache")
