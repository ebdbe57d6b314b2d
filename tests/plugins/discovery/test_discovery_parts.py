"""What all algorithms share: patterns, the shuffled columns, settings and identities."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from support.brute_force import dags

from harness.causal.dag import from_edges
from harness.causal.learned_graph import Pattern
from harness.errors import ConfigError
from harness.plugins.discovery import causal_learn
from harness.plugins.discovery.algorithm import in_random_order
from harness.plugins.discovery.causal_learn import BOSS, PC
from harness.plugins.discovery.dag_gnn import DAGGNN
from harness.plugins.discovery.exact import Exact
from harness.plugins.discovery.hill_climbing import Empty, HillClimbing
from harness.plugins.discovery.mmhc import MMHC
from harness.plugins.discovery.stochastic import Ensemble, Genetic
from harness.settings import build


def test_an_undirected_edge_counts_as_both_directions():
    pattern = Pattern(directed=(0, 0b001, 0), undirected=(0, 0b100, 0b010))  # 0 → 1 – 2
    assert pattern.adjacency() == (0, 0b101, 0b010)


@given(dags())
def test_a_dag_is_a_pattern(dag):
    assert Pattern.of(dag).adjacency() == dag


@pytest.mark.parametrize(
    ("directed", "undirected"),
    [
        ((0, 0), (0,)),
        ((1, 0), (0, 0)),  # an edge to itself
        ((0, 0), (0, 2)),
        ((4, 0), (0, 0)),  # to a node that there is not
        ((2, 1), (0, 0)),  # two directed edges
        ((2, 0), (2, 1)),  # a directed and an undirected edge
        ((0, 1), (2, 0)),
        ((0, 0), (2, 0)),  # undirected at one end only
    ],
)
def test_masks_that_do_not_fit_are_refused(directed, undirected):
    with pytest.raises(ValueError):
        Pattern(directed, undirected)


def test_columns_are_shuffled_and_the_result_is_told_in_the_order_given():
    data, arities = np.arange(6)[None, :], tuple(range(1, 7))  # each column holds its own number
    orders = []

    def learn(columns, sizes):
        assert columns[0].tolist() == [size - 1 for size in sizes]
        orders.append(columns[0].tolist())
        chain = list(enumerate(columns[0].tolist()))
        place = {column: at for at, column in chain}
        directed = from_edges(6, [(place[0], place[1]), (place[1], place[2])])
        undirected = [0] * 6
        undirected[place[4]], undirected[place[5]] = 1 << place[5], 1 << place[4]
        return Pattern(directed, tuple(undirected))

    expected = Pattern(from_edges(6, [(0, 1), (1, 2)]), (0, 0, 0, 0, 1 << 5, 1 << 4))
    assert all(in_random_order(learn, data, arities, seed) == expected for seed in (1, 2, 1))
    assert orders[0] == orders[2] != orders[1]
    assert list(range(6)) not in orders


@pytest.mark.parametrize(
    "data",
    [
        np.array([[0, 0, 0]]),
        np.array([0, 1]),
        np.zeros((0, 2), dtype=np.int64),
        np.array([[0, 2]]),
        np.array([[-1, 0]]),
        np.array([[0.0, 1.0]]),
    ],
)
@pytest.mark.parametrize("algorithm", [HillClimbing("hc"), MMHC("mmhc")])
def test_data_that_do_not_fit_the_arities_are_refused(algorithm, data):
    with pytest.raises(ValueError):
        algorithm.learn(data, [2, 2], seed=0)


ALL = [
    (HillClimbing("a", score="bdeu", restarts=1), {
        "score": "bic", "equivalent_sample_size": 1.0, "max_parents": 3, "restarts": 2, "perturbations": 3}),
    (MMHC("a"), {
        "alpha": 0.01, "max_condition": 2, "rows_per_cell": 10.0, "score": "bic", "equivalent_sample_size": 1.0,
        "max_parents": 3}),
    (PC("a"), {"alpha": 0.01, "max_condition": 2}),
    (BOSS("a", score="bdeu"), {"score": "bic", "equivalent_sample_size": 1.0}),
    (Exact("a", score="bdeu"), {"score": "bic", "equivalent_sample_size": 1.0}),
    (Empty("a"), {}),
    (Genetic("a", score="bdeu"), {
        "score": "bic", "equivalent_sample_size": 1.0, "alpha": 0.01, "population": 9, "generations": 8, "patience": 7,
        "mutations": 1.0, "max_parents": 3}),
    (Ensemble("a", score="bdeu"), {
        "score": "bic", "equivalent_sample_size": 1.0, "candidates": 9, "max_parents": 3, "restarts": 2, "patience": 7,
        "temperature": 1.0}),
    (DAGGNN("a"), {
        "threshold": 0.2, "hidden": 8, "epochs": 2, "updates": 3, "batch_size": 10, "learning_rate": 0.1}),
]  # fmt: skip


@pytest.mark.parametrize(("algorithm", "changes"), ALL)
def test_every_setting_but_the_name_is_part_of_the_identity(algorithm, changes, monkeypatch):
    monkeypatch.setattr(causal_learn.metadata, "version", lambda name: {"causal-learn": "1.2.3", "torch": "2.0"}[name])
    names = {field.name for field in fields(algorithm)}
    assert names == changes.keys() | {"name"}
    others = [replace(algorithm, **{setting: value}).identity for setting, value in changes.items()]
    texts = {json.dumps(identity, sort_keys=True) for identity in [algorithm.identity, *others]}
    assert len(texts) == len(others) + 1
    assert replace(algorithm, name="b").identity == algorithm.identity


def test_kinds_differ_and_the_library_is_named_with_its_version(monkeypatch):
    monkeypatch.setattr(causal_learn.metadata, "version", lambda name: {"causal-learn": "1.2.3", "torch": "2.0"}[name])
    assert len({algorithm.identity["kind"] for algorithm, _ in ALL}) == len(ALL)
    assert [algorithm.name for algorithm, _ in ALL if algorithm.identity.get("causal-learn") == "1.2.3"] == ["a"] * 2


def test_settings_that_change_nothing_are_not_part_of_it():
    plain = HillClimbing("hc")
    assert plain.identity == replace(plain, equivalent_sample_size=1, perturbations=3).identity


@pytest.mark.parametrize(
    ("target", "setting"),
    [
        ("hill_climbing.HillClimbing", {"score": "aic"}),
        ("hill_climbing.HillClimbing", {"max_parents": 0}),
        ("mmhc.MMHC", {"alpha": 1}),
        ("mmhc.MMHC", {"equivalent_sample_size": 0}),
        ("causal_learn.PC", {"alpha": 0}),
        ("causal_learn.BOSS", {"score": "gauss"}),
        ("exact.Exact", {"equivalent_sample_size": 0}),
    ],
)
def test_a_config_builds_an_algorithm_and_its_settings_are_checked(target, setting):
    section = {"_target_": f"harness.plugins.discovery.{target}", "name": "mine"}
    model = build(section, "algorithm")
    assert model.name == "mine" and model == type(model)("mine")
    with pytest.raises(ConfigError, match=rf"algorithm\.{next(iter(setting))}="):
        build(section | setting, "algorithm")


def test_a_size_from_a_config_is_the_default_when_it_equals_it():
    section = {"_target_": "harness.plugins.discovery.mmhc.MMHC", "name": "a"}
    model = build(section | {"equivalent_sample_size": 10, "rows_per_cell": 5}, "algorithm")
    assert json.dumps(model.identity) == json.dumps(build(section, "algorithm").identity)


def test_importing_the_algorithms_does_not_import_the_library():
    code = (
        "import sys\nfrom harness.plugins.discovery import causal_learn, dag_gnn, exact, hill_climbing, mmhc\n"
        "assert not [name for name in sys.modules if name.startswith(('causallearn', 'pandas', 'tqdm', 'torch'))]"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
