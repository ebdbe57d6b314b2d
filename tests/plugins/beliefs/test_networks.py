"""The acyclic graph nearest to answers about a network: against every order, and answerers of whom it is known."""

from __future__ import annotations

import csv
from itertools import permutations

import numpy as np
import pytest
from support.compared_runs import put

from harness.codec import uniform
from harness.plugins.beliefs import command
from harness.plugins.beliefs.networks import LARGEST, feedback
from harness.scoring.graphs import is_acyclic
from harness.settings import build
from harness.types import Answer, Record, Response


def backward(edges, order):
    return sum(bool(edges[order[a], order[b]]) for a in range(len(order)) for b in range(a))


@pytest.mark.parametrize("seed", range(12))
def test_the_fewest_edges_are_taken_back(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 8))
    edges = random.random((n, n)) < random.random()
    np.fill_diagonal(edges, False)
    taken = feedback(edges)
    assert not (taken & ~edges).any() and is_acyclic(edges & ~taken)
    assert taken.sum() == min(backward(edges, order) for order in permutations(range(n)))


def test_components_are_looked_through_one_by_one_and_a_large_one_is_not():
    """Two rings of twenty and a bridge: one edge of each; a ring of more is left alone."""
    n = 2 * LARGEST
    edges = np.zeros((n, n), bool)
    for first in (0, LARGEST):
        for k in range(LARGEST):
            edges[first + k, first + (k + 1) % LARGEST] = True
    edges[0, LARGEST] = True
    assert feedback(edges).sum() == 2
    edges[LARGEST, 0] = True
    assert feedback(edges) is None


def task(networks):
    target = {"_target_": "harness.tasks.causalbench.task.Causality", "name": "causalbench/causality", "method": 2}
    return build({**target, "prompts": ["closed"], "networks": networks}, "task")


def run(folder, model, answer, networks=("asia", "sachs")):
    records = [
        Record(item.id, item.cluster, unit=item.unit, groups=item.groups, labels=item.labels, request=None,
               outcome=Response("text"), answer=Answer(answer(item)))
        for item in task(list(networks)).items()
    ]  # fmt: skip
    path = put(folder / model, records, model=model, headline="exact")
    for name in ("result.json", "manifest.json"):
        file = folder / model / name
        file.write_text(file.read_text().replace('"corr2cause"', '"causalbench/causality"'))
    return path


@pytest.fixture
def rows(tmp_path, capsys):
    def call(*answerers, **more):
        for model, answer in answerers:
            run(tmp_path / "runs", model, answer, **more)
        out = tmp_path / "x.csv"
        assert command.main([str(tmp_path / "runs"), f"out={out}", "shuffles=20"]) == 0
        capsys.readouterr()
        return {(row["model"], row["question"]): row for row in csv.DictReader(out.open(encoding="utf-8"))}

    return call


def test_the_truth_a_constant_a_coin_and_the_reversed_graph(rows):
    found = rows(
        ("true", lambda item: item.labels["exact"]),
        ("always_no", lambda item: 0),
        ("always_yes", lambda item: 1),
        ("random", lambda item: int(uniform("x", item.id) < 0.3)),
    )
    for question in ("direct", "reversed_direct"):
        true = found["true", question]
        assert float(true["flips"]) == float(true["answers_off"]) == float(true["graph_off"]) == 0
        assert float(true["shuffled"]) > 1 and true["premises"] == "2"
        for model in ("always_no", "always_yes"):
            assert found[model, question]["premises"] == "0" and not found[model, question]["flips"]
        coin = found["random", question]
        assert 0.7 < float(coin["times"]) < 1.4 and float(coin["graph_off"]) > 10
    assert {question for _, question in found} == {"direct", "reversed_direct"}


def test_networks_that_are_too_large_are_said(tmp_path, capsys):
    run(tmp_path, "coin", lambda item: int(uniform("x", item.id) < 0.3), networks=("asia", "alarm"))
    assert command.main([str(tmp_path), "shuffles=3"]) == 0
    assert "2 networks with more than 20 variables on cycles" in capsys.readouterr().out
