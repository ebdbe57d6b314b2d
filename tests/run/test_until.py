"""A run that stops when it knows enough: by what it looks, what it keeps, what it says, and that it can be checked."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.resealing import change, lines, load, reseal, save_lines
from support.thinned import few

from harness import __main__ as main_command
from harness import evaluate
from harness.cli import hydra_app
from harness.cost.until import Order, Rule, Until
from harness.cost.until_plan import likely, until_of
from harness.cost.watch import Watch, replayed
from harness.errors import ConfigError, DataError, RunStopped
from harness.leaderboard.build import build
from harness.protocols import Drawn
from harness.report.__main__ import _run as of_page
from harness.run import ask
from harness.runtime.signals import STOP
from harness.scoring.samples import summarize_votes
from harness.settings import build_main
from harness.tasks.base import TaskBase
from harness.types import Answer, Failure, Item, Record, Response
from harness.verify.run import problems_of

MANY = {"task.split": "all", "task.num_nodes": [5], "limit": 90}
"""90 items in nearly as many clusters."""


@pytest.fixture
def asked(serve, tmp_path, monkeypatch, key):
    """Return a function that evaluates a model of a server which says No."""
    monkeypatch.chdir(tmp_path)
    server = serve()

    def run(**settings):
        fixed = {"model.base_url": server.url, "model.model": "m", "model.max_concurrency": 4}
        return evaluate(model="openai", **{**fixed, **MANY, **settings})

    run.server = server
    return run


ACCURATE = {"until.metric": "accuracy"}


def test_it_stops_keeps_what_it_looked_at_and_asks_nothing_again(asked):
    first = asked(until="width:30", **ACCURATE)
    found, calls = first.manifest.until, len(asked.server.calls)
    assert first.complete and found["decision"] == "narrow enough" and not STOP.requested
    low, high = found["interval"]
    assert high - low <= 0.3 and low <= found["value"] <= high
    # What was under way is kept in the cache, and is in no score.
    assert found["items"] == first.result.overall.items == found["calls"] <= calls <= found["items"] + 8 < 90
    assert found["value"] == pytest.approx(first.scores["accuracy"].value)
    assert first.result.usage.input == 11 * found["calls"]
    assert not list(problems_of(first.folder))
    before = [(first.folder / name).read_bytes() for name in ("manifest.json", "result.json")]
    again = asked(until="width:30", **ACCURATE)
    assert len(asked.server.calls) == calls and again.manifest_json == first.manifest_json
    # A narrower rule goes on from there, in a folder of its own, and so does a run of all items.
    narrower = asked(until="width:20", **ACCURATE)
    more = narrower.manifest.until["items"]
    assert narrower.folder != first.folder and found["items"] < more <= len(asked.server.calls) <= more + 8
    everything = asked()
    assert everything.result.overall.items == len(asked.server.calls) == 90
    # The interval that holds is said below the table and in the page, but for a run of all items.
    (note,) = [note for table in build([first, everything]) for note in table.notes if "however often" in note]
    assert f"[{100 * low:.2f}, {100 * high:.2f}]" in note and first.variant in note
    assert [note.count("however often") for note in map(str, (of_page(first, "a"), of_page(everything, "b")))] == [1, 0]
    assert [(first.folder / name).read_bytes() for name in ("manifest.json", "result.json")] == before


@pytest.mark.slow
def test_a_call_that_failed_for_now_leaves_it_incomplete_and_is_asked_again(asked):
    replies = asked.server.reply
    asked.server.reply = lambda path, body, number: (500, {}) if number == 3 else replies(path, body, number)
    with pytest.raises(RunStopped, match="asks for them again"):
        asked(until="width:30", **ACCURATE, **{"model.attempts": 1})
    asked.server.reply = replies
    assert asked(until="width:30", **ACCURATE).complete


@pytest.mark.slow
def test_what_something_else_ends_keeps_all_that_was_answered_and_goes_on(asked):
    with pytest.raises(RunStopped, match=r"budget\.requests=9"):
        asked(until="width:30", **ACCURATE, **{"budget.requests": 9})
    (folder,) = (path.parent for path in Path().rglob("result.json"))
    assert not load(folder / "result.json")["complete"] and len(lines(folder)) == 9 and not list(problems_of(folder))
    assert asked(until="width:30", **ACCURATE).complete and not list(problems_of(folder))


@pytest.mark.slow
def test_better_or_worse_than_a_baseline_or_a_run(asked):
    yes = evaluate(model="always_yes", **MANY)
    run = asked(until="decided", **{"until.against": "always_yes", **ACCURATE})
    found = run.manifest.until
    assert found["decision"] == "better" and found["items"] < 60 and found["interval"][0] >= 0
    assert "decided-always_yes-accuracy" in run.folder.parts[-3] and not list(problems_of(run.folder))
    against_run = asked(until="decided", **{"until.against": str(yes.folder), **ACCURATE})
    assert against_run.manifest.until["items"] == found["items"] and not list(problems_of(against_run.folder))
    # By F1: what the other one has of all items is known. Never saying Yes has none.
    by_f1 = asked(until="decided", **{"until.against": "always_yes"}).manifest.until
    assert by_f1["decision"] == "worse" and by_f1["target"] == pytest.approx(yes.scores["f1"].value, abs=1e-6)
    # It is the same as always_no: nothing is decided before all items are there.
    same = asked(until="decided", **{"until.against": "floor", **ACCURATE})
    assert same.manifest.until["decision"] == "equal" and same.manifest.until["items"] == 90
    assert not list(problems_of(same.folder))
    with pytest.raises(DataError, match="has no answer to the item"):
        asked(until="decided", limit=89, **{"until.against": str(run.folder), **ACCURATE})


@pytest.mark.parametrize(
    ("settings", "said"),
    few(
        [
            ({"until": "soon"}, "write until=width:5"),
            ({"until": "width:0"}, "a width is 0.2 to 90"),
            ({"until": "width:5", "until.against": "always_no"}, "needs no until.against="),
            ({"until.against": "always_no"}, "are parts of a rule"),
            ({"until": "decided"}, "needs to know against what"),
            ({"until": "decided", "until.against": "alway_no"}, "did you mean 'always_no'"),
            ({"until": "decided", "until.against": "gpt4"}, "has to be asked"),
            ({"until": "width:5", "until.metric": "brier"}, "until.metric=f1 | precision | recall | accuracy"),
            ({"until": "width:5", "judge": "openai", "judge.model": "j"}, "a judge reads replies when all are there"),
            ({"until.wen": "x"}, "until.wen"),
        ],
        5,
    ),
)
def test_what_cannot_be_is_one_sentence(asked, settings, said):
    with pytest.raises(ConfigError) as e:
        asked(**settings)
    assert said in str(e.value) and not asked.server.calls


class Numbers(TaskBase):
    """Items in clusters of several sizes, or in draws of a number."""

    prompts = ("plain",)
    headline = "gold"

    def __init__(self, sizes, draw=None):
        super().__init__("corr2cause")
        object.__setattr__(self, "sizes", sizes)
        if draw:
            object.__setattr__(self, "draw_size", draw)

    def items(self):
        return [
            Item(f"{k}-{n}", {"input": f"{k} {n}"}, {"gold": (k * 7 + n) % 3 % 2}, f"c{k}", groups={})
            for k, size in enumerate(self.sizes)
            for n in range(size)
        ]


def record(item, says):
    outcome = Failure("content_filter", "no") if says == "failed" else Response(says)
    answer = None if says == "failed" else Answer({"Yes": 1, "No": 0}.get(says))
    return Record(item.id, item.cluster, groups={}, labels=item.labels, request=item.id, outcome=outcome, answer=answer)


def until(task, rule="width:40", metric="accuracy", unreadable="wrong", **settings):
    return Until(Rule.of(rule), metric, Order(task, 0), unreadable, **settings)


SAYS = st.sampled_from(["Yes", "No", "Perhaps", "failed"])


@given(st.lists(st.integers(1, 5), min_size=1, max_size=12), st.data())
def test_the_order_in_which_answers_land_makes_no_difference(sizes, data):
    """Four under way at a time, the last to be asked the first to land: a draw waits for all that come before it."""
    rule = until(Numbers(sizes), "width:60")
    says = {item.id: data.draw(SAYS) for item in rule.order.items()}

    def run(at_once, lot):
        watch, landed = Watch(rule, 1), []

        def landing():
            items, under_way = (i for part in watch.rounds(at_once=True) for i in part), []
            while True:
                while len(under_way) < at_once and (item := next(items, None)) is not None:
                    under_way.append(item)
                if not under_way:
                    return
                landed.append(item := under_way.pop(lot.randrange(len(under_way))))
                yield record(item, says[item.id]), None

        kept = [one.item for one, _ in watch.settled(landing())]
        assert watch.asked_beyond == len(landed) - len(kept)
        assert not STOP.requested
        return kept, watch.found

    in_order, found = run(1, random.Random(0))
    assert run(4, random.Random(data.draw(st.integers(0, 99)))) == (in_order, found)
    assert in_order == [item.id for item in rule.order.items()][: len(in_order)]
    again = replayed(rule, 1, [record(i, says[i.id]) for i in list(rule.order.items())[: len(in_order)]])
    assert again is not None and again.found == found


@given(
    st.lists(st.integers(1, 4), min_size=2, max_size=10),
    st.sampled_from(["f1", "accuracy", "precision", "recall"]),
    st.sampled_from(["wrong", "no"]),
    st.data(),
)
def test_failed_and_unreadable_replies_count_as_in_the_table(sizes, metric, unreadable, data):
    task = Numbers(sizes)
    object.__setattr__(task, "unreadable", unreadable)
    rule = until(task, "width:0.2", metric, unreadable)
    records = [record(item, data.draw(SAYS)) for item in rule.order.items()]
    watch = replayed(rule, 1, records)
    score = summarize_votes(task, records, 1).overall[metric]
    if watch is not None and watch.items == sum(sizes):
        assert watch.estimate.value == (None if score is None else pytest.approx(score, abs=1e-6))


def test_pairs_are_right_where_both_are_and_draws_come_as_the_task_gives_them():
    task = Numbers([2] * 40, draw=2)
    assert isinstance(task, Drawn) and not isinstance(Numbers([2]), Drawn)
    rule = until(task, "width:30", "pair_accuracy")
    assert [i.id for i in rule.order.items()] == [i.id for i in task.items()] and rule.order.number is None
    right = {0: "No", 1: "Yes"}
    says = [right[i.labels["gold"]] if k % 8 else "failed" if k % 16 else "Perhaps" for k, i in enumerate(task.items())]
    watch = Watch(rule, 1)
    for draw, at in zip(rule.order.draws(), range(0, 80, 2), strict=True):
        watch.enter(draw, [record(item, says[at + k]) for k, item in enumerate(draw)])
    assert watch.draws == 40 and watch.estimate.value == pytest.approx(
        30 / 35
    )  # five of them failed, five are unreadable


def test_in_batches_a_round_is_half_of_what_is_likely_to_be_needed():
    rule = until(Numbers([1] * 400), "width:20")
    watch, sizes = Watch(rule, 1), []
    for part in watch.rounds(at_once=False):
        lot = list(part)
        sizes.append(len(lot))
        list(watch.settled((record(item, "No"), None) for item in lot))
    assert sizes[0] < 120 and len(sizes) > 2 and sum(sizes) < 400 and watch.decision == "narrow enough"
    assert sizes[-1] <= sizes[0]


@pytest.mark.slow
def test_a_dry_run_says_how_many_calls_are_likely(asked, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["harness", "model=gpt4", "until=width:20", "dry_run=true", "task.limit=40"])
    assert hydra_app.launch(main_command.job, "config", main_command.sweep) == 0
    said = capsys.readouterr().out
    assert "until=width:20 (F1) is likely to take, of at most 40 items, by simulated answers: 50% right:" in said
    first = re.search(r"What follows is of the first (\d+)\.", said)
    assert first and f"Plan: {first[1]} items" in said
    until = {"rule": "decided", "against": "always_no", "metric": "accuracy"}
    rule = until_of(build_main({**load_settings(), "until": until}), Numbers([1] * 300), ask)
    most, line = likely(rule)
    counts = [int(part.rpartition(":")[2]) for part in line.partition("answers: ")[2].partition(". ")[0].split(";")]
    assert len(counts) == 4 and counts[0] < counts[2] <= counts[3] <= most <= 300


def load_settings():
    return {"task": {"_target_": "x"}, "model": {"_target_": "x"}, "results": "r", "cache": {"mode": "on", "path": "c"}}


@pytest.mark.slow
@pytest.mark.parametrize("changed", few(["decision", "interval", "calls", "record", "rule"], 2))
def test_verify_computes_the_decision_again(asked, changed):
    run = asked(until="width:30", **ACCURATE).folder
    if changed == "record":
        save_lines(run, lines(run)[:-1])
        change(run, "manifest.json", lambda content: content["items"].update(count=content["items"]["count"] - 1))
    elif changed == "rule":
        change(run, "manifest.json", lambda content: content["config"]["until"].update(rule="width:31"))
    else:
        other = {"decision": "not decided", "interval": [0.1, 0.2], "calls": 1}[changed]
        change(run, "manifest.json", lambda content: content["until"].update({changed: other}))
    reseal(run)
    said = " ".join(problems_of(run))
    assert "until" in said, said


@pytest.mark.slow
def test_a_sweep_stops_those_that_the_best_before_them_beats(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    settings = ["task.split=all", "task.num_nodes=[5]", "task.limit=90", "until.metric=accuracy"]
    monkeypatch.setattr(
        sys, "argv", ["harness", "-m", *settings, "model=always_no,always_yes,reasoner", "until=decided"]
    )
    code = hydra_app.launch(main_command.job, "config", main_command.sweep)
    out, err = capsys.readouterr()
    assert code == 0, err
    assert "always_yes: until=decided: beaten by always_no after" in out
    found = {path.parent.name: load(path) for path in tmp_path.rglob("manifest.json")}
    assert found["always_yes"]["until"]["items"] < 60 and found["always_yes"]["until"]["level"] == 0.975
    assert found["always_no"]["items"]["count"] == found["reasoner"]["items"]["count"] == 90
    assert found["reasoner"]["until"]["decision"] == "better"
    assert not [problem for path in tmp_path.rglob("manifest.json") for problem in problems_of(path.parent)]
