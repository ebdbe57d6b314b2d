"""A model that is asked until enough is known: by what it looks, what it says, what it asks."""

from __future__ import annotations

import json
import random
import re
import sys

import pytest
from harness_lab.until import Looks, Order, Until
from harness_lab.until_command import main
from hypothesis import given
from hypothesis import strategies as st
from simulate_until import ALIKE, Simulation
from support.made_records import recorded

from harness import evaluate
from harness.runtime.signals import STOP
from harness.scoring.samples import summarize_votes
from harness.tasks.base import TaskBase
from harness.types import Answer, Failure, Item, Response

MANY = ("task.split=all", "task.num_nodes=[5]", "task.limit=90")
"""90 items in nearly as many clusters."""


@pytest.fixture
def asked(serve, tmp_path, monkeypatch, key, capsys):
    """Return a function that asks a server which says No, by the command; it returns what was found."""
    monkeypatch.chdir(tmp_path)
    server = serve()

    def until(*settings):
        model = ["model=openai", f"model.base_url={server.url}", "model.model=m", "model.max_concurrency=4"]
        monkeypatch.setattr(sys, "argv", ["harness", *model, *MANY, "out=found.json", *settings])
        until.code = main()
        until.said = capsys.readouterr()
        print(until.said)
        return json.loads((tmp_path / "found.json").read_text()) if until.code == 0 else {}

    until.server = server
    return until


def test_it_stops_and_asks_nothing_again(asked, tmp_path):
    found, calls = asked("width=30", "metric=accuracy"), len(asked.server.calls)
    low, high = found["interval"]
    assert found["decision"] == "narrow enough" and not STOP.requested
    assert high - low <= 0.3 and low <= found["value"] <= high
    assert found["items"] <= calls <= found["items"] + 8 < 90 and not (tmp_path / "results").exists()
    assert f"[{100 * low:.2f}, {100 * high:.2f}], 95% however often one looks" in asked.said.out
    assert asked("width=30", "metric=accuracy") == found and len(asked.server.calls) == calls
    # A narrower width goes on from there, and so does a run of all items.
    more = asked("width=20", "metric=accuracy")["items"]
    assert found["items"] < more <= len(asked.server.calls) <= more + 8


def test_better_or_worse_than_a_run(asked):
    settings = {"task.split": "all", "task.num_nodes": [5], "limit": 90}
    yes, no = (evaluate(model=name, **settings).folder for name in ("always_yes", "always_no"))
    found = asked(f"against={yes}")
    assert found["decision"] == "better" and found["items"] < 60 and found["interval"][0] >= 0
    assert "Better than always_yes after" in asked.said.out
    # It is the same as always_no: nothing is decided before all items are there.
    same = asked(f"against={no}")
    assert same["decision"] == "equal" and same["items"] == 90 and same["value"] == 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ([], "say what is to be known"),
        (["width=0"], "width"),
        (["width=5", "metric=brier"], r"metric=f1 \| precision"),
        (["width=5", "dry_run=true"], "leave judge and dry_run out"),
        (["against=nowhere"], "nowhere"),
        (["wide=5"], "wide"),
    ],
)
def test_what_cannot_be_is_one_sentence(asked, settings, said):
    asked(*settings)
    assert asked.code == 1 and re.search(said, asked.said.err) and not asked.server.calls


class Numbers(TaskBase):
    """Items in clusters of several sizes."""

    prompts = ("plain",)
    headline = "gold"

    def __init__(self, sizes, sizes_of_graphs="5"):
        super().__init__("corr2cause")
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "sizes_of_graphs", sizes_of_graphs)

    def graph(self, k):
        return {"num_nodes": self.sizes_of_graphs[k * len(self.sizes_of_graphs) // len(self.sizes)]}

    def items(self):
        return [
            Item(f"{k}-{n}", {"input": f"{k} {n}"}, {"gold": (k * 7 + n) % 3 % 2}, f"c{k}", groups=self.graph(k))
            for k, size in enumerate(self.sizes)
            for n in range(size)
        ]


def record(item, says):
    if says == "failed":
        return recorded(item, Failure("content_filter", "no"), request=item.id)
    return recorded(item, Response(says), Answer({"Yes": 1, "No": 0}.get(says)), request=item.id)


def until(task, width=0.4, metric="accuracy", unreadable="wrong"):
    return Until(Order(task, 0), metric, unreadable, width)


SAYS = st.sampled_from(["Yes", "No", "Perhaps", "failed"])


@given(st.lists(st.integers(1, 5), min_size=1, max_size=12), st.data())
def test_the_order_in_which_answers_land_makes_no_difference(sizes, data):
    """Four under way at a time, the last to be asked the first to land: a draw waits for all that come before it."""
    what = until(Numbers(sizes), 0.6)
    says = {item.id: data.draw(SAYS) for item in what.order}

    def run(at_once, lot):
        looks = Looks(what)

        def landing():
            items, under_way = looks.asked(), []
            while True:
                while len(under_way) < at_once and (item := next(items, None)) is not None:
                    under_way.append(item)
                if not under_way:
                    return
                item = under_way.pop(lot.randrange(len(under_way)))
                yield record(item, says[item.id])

        looks.follow(landing())
        STOP.requested = False
        return looks.decision, looks.items, looks.draws, looks.estimate.interval, looks.estimate.value

    assert run(1, random.Random(0)) == run(4, random.Random(data.draw(st.integers(0, 99))))


@given(
    st.lists(st.integers(1, 4), min_size=2, max_size=10),
    st.sampled_from(["f1", "accuracy", "precision", "recall"]),
    st.sampled_from(["wrong", "no"]),
    st.data(),
)
def test_failed_and_unreadable_replies_count_as_in_the_table(sizes, metric, unreadable, data):
    task = Numbers(sizes)
    object.__setattr__(task, "unreadable", unreadable)
    what = until(task, 0.002, metric, unreadable)
    records = [record(item, data.draw(SAYS)) for item in what.order]
    looks, score = Looks(what), summarize_votes(task, records, 1).overall[metric]
    asked = looks.asked()
    looks.follow(one for one in records if next(asked, None) is not None)
    STOP.requested = False
    if looks.items == sum(sizes):
        assert looks.estimate.value == (None if score is None else pytest.approx(score, abs=1e-6))


def test_pairs_are_right_where_both_are():
    task = Numbers([2] * 40)
    what = until(task, 0.002, "pair_accuracy")
    right = {0: "No", 1: "Yes"}
    says = {
        i.id: right[i.labels["gold"]] if k % 8 else "failed" if k % 16 else "Perhaps"
        for k, i in enumerate(task.items())
    }
    looks = Looks(what)
    looks.follow(record(item, says[item.id]) for item in looks.asked())
    STOP.requested = False
    # Five of them failed, five are unreadable.
    assert looks.draws == 40 and looks.estimate.value == pytest.approx(30 / 35)


@pytest.mark.parametrize("alike", ALIKE)
def test_the_interval_holds_the_score_of_all_items_though_the_task_gives_the_easy_ones_first(alike):
    """simulate_until.py asks this of real tasks, 300 times each."""
    simulation = Simulation(Numbers([1] * 60 + [3] * 60, sizes_of_graphs="567"), "accuracy")
    runs = [simulation.run(alike, seed) for seed in range(20)]
    assert sum(lost for lost, _ in runs) <= 2
    assert all(asked < len(simulation.items) for _, asked in runs)
