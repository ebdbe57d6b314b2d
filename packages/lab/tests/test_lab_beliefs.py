"""harness beliefs: what is known of an answerer is what the command finds, and what tells nothing is said."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from harness_lab import beliefs_command as command
from harness_lab.beliefs import shuffles
from support import brute_force
from support.compared_runs import put
from support.corr2cause_help import corr2cause, meaning
from support.made_records import recorded

from harness.causal.dag import bits, children, from_integer
from harness.causal.equivalence import members
from harness.causal.relations import Relation, common_relations
from harness.codec import shuffled, uniform
from harness.types import Answer, Failure, Response, replace

LETTERS = "ABCDEFG"
PREMISES = list(corr2cause(split="all", whole=True, num_nodes=[5], limit=16).items())
VARIED = next(k for k in range(16) if 20 > sum(item.labels["audited"] for item in PREMISES[60 * k :][:60]) > 4)
"""The place of a premise about which some things follow."""


def record(item, answer):
    if isinstance(answer, Failure):
        return recorded(item, answer, request=None)
    return recorded(item, Response("text"), Answer(answer), request=None)


def run(folder, answer, *, items=PREMISES, model="m", **more):
    """Write the run of an answerer: a function from an item to its answer."""
    settings = {"headline": "audited", "model": model, **more}
    return put(folder / model, [record(item, answer(item)) for item in items], **settings)


def oriented_at_random(n, number):
    """Return the skeleton of a graph with its edges along another order of the nodes."""
    dag = from_integer(n, number)
    order = shuffled(range(n), "another order", number)
    return tuple(
        sum(1 << u for u in bits(above | below) if order[u] < order[v])
        for v, (above, below) in enumerate(zip(dag, children(dag), strict=True))
    )


def wrong_world(item):
    """Answer by the class of another orientation of the true skeleton: coherent, and mostly another world."""
    n, number = (int(part[1:]) for part in item.cluster.split("-"))
    i, j = (LETTERS.index(letter) for letter in item.id.split("-")[-2:])
    holds = WORLDS.setdefault((n, number), common(oriented_at_random(n, number)))
    return holds[Relation(item.groups["relation"])][i] >> j & 1


WORLDS = {}
NUMBERS = ("flips", "shuffled", "times", "times_low", "times_high", "nearest", "answers_off", "graph_off")


def common(dag):
    return common_relations(members(dag))


ANSWERERS = {
    "true": lambda item: item.labels["audited"],
    "wrong_world": wrong_world,
    "always_no": lambda item: 0,
    "by_relation": lambda item: int(item.groups["relation"] == "parent"),
    "random": lambda item: int(uniform("base rate", item.id) < 0.2),
    "noisy": lambda item: item.labels["audited"] ^ (uniform("noise", item.id) < 0.1),
}


@pytest.fixture
def told(capsys):
    def call(*arguments, code=0):
        assert command.main([*map(str, arguments)]) == code
        captured = capsys.readouterr()
        return captured.err if code else captured.out

    return call


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Return the rows of all answerers by model."""
    folder = tmp_path_factory.mktemp("runs")
    for name, answer in ANSWERERS.items():
        run(folder, answer, model=name)
    out = folder / "out.csv"
    assert command.main([str(folder), f"out={out}", "shuffles=40"]) == 0
    return {row["model"]: row for row in csv.DictReader(out.open(encoding="utf-8"))}


def test_what_is_known_of_an_answerer_is_found(rows):
    def of(model):
        return {name: float(value) if value else None for name, value in rows[model].items() if name in NUMBERS}

    # By logic: the true world, and infinitely many times nearer than shuffled answers, which is no number.
    true = of("true")
    assert true["flips"] == true["answers_off"] == 0 < true["shuffled"] and true["times"] is None
    # A world, and it is another one.
    other = of("wrong_world")
    assert other["flips"] == 0 < other["shuffled"] and other["answers_off"] > 1 and other["graph_off"] > 1
    # One answer to each relation.
    for model in ("always_no", "by_relation"):
        assert rows[model]["premises"] == "0" and not any(of(model).values())
    # A coin is no nearer to a world than its shuffled answers.
    coin = of("random")
    assert 0.85 < coin["times_low"] <= coin["times"] <= coin["times_high"] < 1.15 and coin["flips"] > 5
    # A tenth of 60 answers wrong: about six flips lead back, to the true world or one near it.
    noisy = of("noisy")
    assert 3 < noisy["flips"] <= 6.5 and noisy["times_low"] > 1.1 and noisy["answers_off"] < coin["answers_off"] / 2


def test_the_flips_of_one_premise_are_those_of_trying_every_class(tmp_path, told):
    n, every = 4, list(corr2cause(split="all", num_nodes=[4]).items())
    items = [item for item in every if item.cluster == every[-1].cluster]
    answers = {item.id: int(uniform("some", item.id) < 0.4) for item in items}
    left = items[:18]  # of the others nothing is known
    run(tmp_path, lambda item: answers[item.id], items=left)
    asked = {
        meaning(item.groups["relation"], *(LETTERS.index(x) for x in item.id.split("-")[-2:])): answers[item.id]
        for item in left
    }

    def holds(dags, kind, ends):
        i, j = sorted(ends) if isinstance(ends, frozenset) else ends
        relation = {"direct": Relation.PARENT, "indirect": Relation.ANCESTOR}.get(kind) or Relation(kind)
        return all(brute_force.holds(dag, relation, i, j) for dag in dags)

    costs = [
        sum(holds(dags, *claim) != answer for claim, answer in asked.items())
        for dags in brute_force.classes(n).values()
    ]
    told(tmp_path, "per=premise", f"out={tmp_path / 'x.csv'}", "least=0.4")
    (row,) = csv.DictReader((tmp_path / "x.csv").open(encoding="utf-8"))
    assert int(row["flips"]) == min(costs) and int(row["nearest"]) == costs.count(min(costs)) > 1
    assert int(row["answers"]) == 18 and row["premise"] == every[-1].cluster


def test_shuffles_keep_how_many_of_each_relation_are_yes():
    answers, groups = np.array([1, 1, 0, 0, 0, 1, 0], bool), ["a", "a", "a", "b", "b", "c", "c"]
    drawn = shuffles(answers, groups, 500, (0, 5, 7))
    assert (drawn[:, :3].sum(axis=1) == 2).all() and not drawn[:, 3:5].any() and (drawn[:, 5:].sum(axis=1) == 1).all()
    assert len({tuple(row) for row in drawn.tolist()}) == 6
    assert (drawn == shuffles(answers, groups, 500, (0, 5, 7))).all()
    assert shuffles(np.array([1, 1, 0], bool), ["a", "a", "b"], 5, (0,)) is None


def test_what_tells_nothing_is_counted(tmp_path, told):
    def answer(item):
        if item.cluster == PREMISES[0].cluster:
            return None
        return Failure("timeout", "") if item.id == PREMISES[-1].id else item.labels["audited"]

    run(tmp_path / "silent", answer)
    text = told(tmp_path / "silent")
    assert "1 premises with answers to less than 50% of all hypotheses (least=)" in text
    assert "61 answers that cannot be read, or are not there" in text
    # A child is a parent seen from the other end: a claim with both answers is none.
    records = [record(item, item.labels["audited"]) for item in PREMISES[60 * VARIED :][:60]]
    turned = [
        replace(one, item="-".join([*start, "child", j, i]), answer=Answer(1 - one.answer.label))
        for one in records
        for *start, relation, i, j in [one.item.split("-")]
        if relation == "parent"
    ]
    put(tmp_path / "both", [*records, *turned[:3]], headline="audited")
    text = told(tmp_path / "both")
    assert "3 hypotheses answered with both Yes and No" in text and "57.0" in text


def test_sizes_and_files(tmp_path, told):
    smaller = corr2cause(split="all", whole=True, num_nodes=[4], limit=1).items()
    items = [*PREMISES, *smaller, replace(PREMISES[0], id="n7-g9-parent-A-G", cluster="n7-g9")]
    run(tmp_path, ANSWERERS["noisy"], items=items)
    text = told(tmp_path, "per=premise", f"out={tmp_path / 'x.json'}", "shuffles=5")
    assert "n5-g" in text
    (table,) = json.loads((tmp_path / "x.json").read_text())["tables"]
    assert "n4-g" in str(table["rows"])
    assert "of other sizes than two to six variables" in told(tmp_path, f"out={tmp_path / 'x.md'}", "shuffles=5")
    assert (tmp_path / "x.md").read_text().startswith("# Believed worlds")


def test_the_graph_of_one_premise_stands_beside_the_true_one(tmp_path, told):
    run(tmp_path, ANSWERERS["true"], model="true")
    run(tmp_path, wrong_world, model="wrong_world")
    name = next(item.cluster for item in PREMISES if common(oriented_at_random(5, int(item.cluster[4:])))[
        Relation.PARENT] != common(from_integer(5, int(item.cluster[4:])))[Relation.PARENT])  # fmt: skip
    lines = [line for line in told(tmp_path, f"premise={name}").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    by_run = dict(zip(cells[0], zip(*cells[2:], strict=True), strict=True))
    assert by_run["true"] == by_run["true class"] and any("≠" in cell for cell in by_run["wrong_world"])
    edges = {"".join(cell.split()) for cell in by_run["true class"] if cell}
    holds = common(from_integer(5, int(name[4:])))[Relation.PARENT]
    assert {edge for edge in edges if "→" in edge} == {
        f"{LETTERS[i]}→{LETTERS[j]}" for i in range(5) for j in range(i, 5) if holds[i] >> j & 1
    }
    assert "there is no premise 'n5-g0x'" in told(tmp_path, "premise=n5-g0x", code=1)
