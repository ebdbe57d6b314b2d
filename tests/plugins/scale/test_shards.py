"""Shards: dealt whole, asked into caches of their own, and scored as one run would be."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_workers import ROWS, TASKS
from support.openai_server import chat_reply
from support.thinned import few

from harness.errors import ConfigError
from harness.plugins.answers.command import main as cache_command
from harness.plugins.scale.array_number import numbered
from harness.plugins.scale.dealing import LONGEST, dealt, longest_run
from harness.prompting.prompts import recorded
from harness.types import Item


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
        assert all(
            len({s for s, share in shares.items() if any(i.fields["net"] == n for i in share)}) <= 1 for n in range(3)
        )
    else:
        assert len(shares) == shards
        assert shards == 1 or len(runs) - 1 <= sum(-(-size // longest) for size in sizes)
        assert longest <= LONGEST
        most, least = (f(map(len, shares.values())) for f in (max, min))
        assert most - least <= longest * len(sizes)


def test_a_question_with_which_others_open_is_dealt_with_them():
    words = {"makes": ["chat"], "user": "{q}", "opening": ["{value}"], "opening_for_each": "earlier", "source": "test"}
    steps = [
        Item(f"{cluster}/{k}", {"q": f"{cluster} {k}", "earlier": earlier}, {"gold": 1}, cluster, groups={})
        for cluster in ("a", "b", "c")
        for k in range(4)
        for earlier in [tuple(f"{cluster} {j}" for j in range(k))]
    ]
    turns = defaultdict(set)
    for item, turn in dealt(steps, recorded("mine", words, ()), longest=1):
        turns[item.cluster].add(turn)
    assert turns == {"a": {0}, "b": {1}, "c": {2}}


@pytest.mark.parametrize("task", few(TASKS, 1))
def test_shards_of_any_number_leave_what_one_run_leaves(command, serve, decided, left, task, tmp_path):
    server = serve(decided)
    Path("q.csv").write_text("\n".join(["question,label,cluster", *ROWS]))
    Path("q.yaml").write_text("source: mine\nmakes: [chat]\nuser: '{question} Yes or No?'\n")
    run = ("model=openai", "model.model=m", f"model.base_url={server.url}", *TASKS[task])
    assert command(*run, "results=whole", "cache.path=whole.sqlite")[0] == 0
    whole = len(server.calls)
    # One of two shards, then, after the other was given up, all three of three with what is there.
    code, out, err = command(*run, "shards=2", "shard=1", "cache=shard")
    assert code == 0 and "shard 1 of 2: " in out and " 0 stored before" in out, (out, err)
    assert cache_command(["import", ".cache/shards/2-1.sqlite"]) == 0
    for shard in range(3):
        shutil.copy(".cache/answers.sqlite", f"{shard}.sqlite")
        assert command(*run, "shards=3", f"shard={shard}", f"cache.path={shard}.sqlite")[0] == 0
    assert cache_command(["import", *(f"{shard}.sqlite" for shard in range(3))]) == 0
    assert len(server.calls) == 2 * whole and not Path("results").exists()
    code, out, _ = command(*run, "cache=frozen")
    assert code == 0 and "0 were asked now" in out
    assert left("results") == left("whole")


@pytest.mark.slow
def test_a_conversation_is_held_by_one_shard_though_each_reply_is_another(command, serve):
    server = serve(lambda path, body, number: chat_reply("Yes" if number % 3 else f"No. {number}"))
    run = ("model=openai", "model.model=m", f"model.base_url={server.url}", "task=causalbench/causality")
    run = (*run, "task.networks=[asia,cancer]", "task.format=data", "task.limit=12", "samples=2")
    run = (*run, "model.temperature=1")
    for shard in range(2):
        assert command(*run, "shards=2", f"shard={shard}")[0] == 0
    assert command(*run, "cache=frozen")[0] == 0
    assert len(server.calls) == 2 * 5 * 2 + 12 * 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    few(
        [
            (("shards=4",), "shards=4 needs to know which of them this is: shard=0 to shard=3, or -m 'shard=range(4)'"),
            (("shards=4", "shard=4"), "shard=4 of shards=4: they are counted from 0 to 3"),
            (("shard=1",), "shard=1 of shards=1"),
            (("shards=13", "shard=0"), "shards=13, but the run has 12 items: choose shards=12 at most"),
            (("shards=2", "shard=0", "cache=off"), "cannot be with cache=off"),
            (("shards=2", "shard=0", "dry_run=true"), "plans all of them together"),
            (("shards=2", "shard=0", "model=always_no"), "always_no answers at once"),
        ],
        4,
    ),
)
def test_what_cannot_be_a_shard_is_told_before_anything_is_asked(command, serve, arguments, said):
    server = serve()
    model = () if "model=always_no" in arguments else ("model=openai", "model.model=m", f"model.base_url={server.url}")
    code, _, err = command(*model, "task.limit=12", *arguments)
    assert code == 1 and said in err and err.count("error") == 1, err
    assert not server.calls and not Path("results").exists() and not Path(".cache").exists()


SLURM = {f"SLURM_ARRAY_TASK_{name}": str(value) for name, value in (("ID", 2), ("MIN", 1), ("MAX", 4), ("COUNT", 4))}
KUBERNETES = {"JOB_COMPLETION_INDEX": "3"}
NEMO = {"NEL_SHARD_IDX": "1", "NEL_TOTAL_SHARDS": "5"}


@pytest.mark.parametrize(
    ("environment", "arguments", "expected"),
    [
        (SLURM, ["shard=auto"], ["shard=1", "shards=4"]),
        (SLURM, ["shards=auto", "a=b", "shard=AUTO"], ["a=b", "shard=1", "shards=4"]),
        (SLURM, ["shard=auto", "shards=16"], ["shards=16", "shard=2"]),
        (SLURM | {"SLURM_ARRAY_TASK_MAX": "7"}, ["shard=auto"], "4 tasks from 1 to 7, which is no whole run"),
        (SLURM | {"SLURM_ARRAY_TASK_MIN": "2", "SLURM_ARRAY_TASK_MAX": "5"}, ["shard=auto"], "no whole run"),
        (SLURM | {"SLURM_ARRAY_TASK_COUNT": "x"}, ["shard=auto"], "SLURM_ARRAY_TASK_COUNT='x' is no number"),
        (KUBERNETES, ["shards=4", "shard=auto"], ["shards=4", "shard=3"]),
        (KUBERNETES, ["shard=auto"], "add shards=N, the Job's completions"),
        (SLURM | NEMO, ["shard=auto"], ["shard=1", "shards=5"]),
        (NEMO, ["shard=auto", "shards=4"], "shards=4, but NEL_TOTAL_SHARDS=5"),
        ({"NEL_SHARD_IDX": "1"}, ["shard=auto"], "NEL_TOTAL_SHARDS='' is no number"),
        (SLURM, ["shards=auto"], "write both"),
        ({}, ["shard=auto"], "this is no task of an array"),
        (SLURM, ["shards=4", "shard=0"], ["shards=4", "shard=0"]),
    ],
)
def test_a_shard_takes_the_number_of_its_scheduler(environment, arguments, expected):
    if isinstance(expected, list):
        assert numbered(arguments, environment) == expected
    else:
        with pytest.raises(ConfigError, match=expected):
            numbered(arguments, environment)


def test_pods_of_a_job_ask_all_items_between_them(command, serve, decided, monkeypatch):
    server = serve(decided)
    run = ("model=openai", "model.model=m", f"model.base_url={server.url}", "task.limit=8")
    for index in range(2):
        monkeypatch.setenv("JOB_COMPLETION_INDEX", str(index))
        code, out, err = command(*run, "shards=2", "shard=auto", "cache=shard")
        assert code == 0 and f"shard {index} of 2: 4 " in out, (out, err)
        assert Path(f".cache/shards/2-{index}.sqlite").exists()
    assert len({str(call) for call in server.calls}) == len(server.calls) == 8


def test_a_sweep_over_shards_tells_each_in_its_plan_and_what_comes_next(command, serve, decided):
    server = serve(decided)
    run = ("model=gpt4", f"model.base_url={server.url}", "model.price.input=1", "model.price.output=1", "task.limit=6")
    code, out, err = command("-m", *run, "shards=2", "shard=range(2)", "cache=shard")
    assert code == 0 and len(server.calls) == 6, err
    assert all(f"corr2cause limit=6 shard {shard} of 2" in err for shard in range(2))
    assert out == (
        "Next: `harness cache import .cache/shards/*.sqlite` (copied from elsewhere, each with its log: "
        "*.sqlite*), then the same command without shards=, shard= and their cache.path= scores the run.\n"
    )


def test_the_budget_of_a_shard_is_its_own_and_that_is_said(command, serve):
    server = serve()
    run = ("model=gpt4", f"model.base_url={server.url}", "model.price.input=1", "model.price.output=1", "task.limit=12")
    for shard in range(2):
        code, _, err = command(*run, "shards=2", f"shard={shard}", "budget.requests=3")
        assert code == 1 and "Limit of this shard alone: budget.requests=3" in err
        assert "budget.requests=3 of this shard alone is reached" in err
    assert len(server.calls) == 6


def test_what_a_shard_could_not_ask_is_told_and_asked_again(command, serve):
    broken = True
    server = serve(lambda path, body, number: (500, {}) if broken and number % 2 else chat_reply("No"))
    run = ("model=openai", "model.model=m", f"model.base_url={server.url}", "task.limit=12", "model.attempts=1")
    code, out, err = command(*run, "shards=2", "shard=1")
    assert code == 1 and "failed in a way that may pass" in err and " failed." in out
    broken = False
    code, out, _ = command(*run, "shards=2", "shard=1")
    assert code == 0 and "stored before" in out


KILLED = """
import os, signal, sys
from pathlib import Path
from harness.cache.schema import key_of
from harness.cache.store import Store
from harness.codec import canonical, short
from harness.types import ChatRequest, Message, Response
store, identity = Store(Path(sys.argv[1])), {"model": "m"}
for k in range(3):
    request = ChatRequest((Message("user", str(k)),), 5)
    key = key_of(canonical(identity), short(request))
    store.claims.take([key])
    store.put(identity, [(key, request, Response("Yes"))])
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_import_names_what_is_empty_and_takes_a_log_along(tmp_path, capsys):
    whole, none = (tmp_path / name for name in ("whole.sqlite", "none.sqlite"))
    assert subprocess.run([sys.executable, "-c", KILLED, whole]).returncode == -signal.SIGKILL
    none.touch()
    for file, code, said in (
        (whole, 0, "whole.sqlite with its log: 3 new, 0 known already"),
        (none, 0, "none.sqlite is empty: it holds no answer"),
    ):
        assert cache_command(["import", str(file), f"cache={tmp_path / 'main.sqlite'}"]) == code
        output = "".join(capsys.readouterr())
        assert said in output, output
