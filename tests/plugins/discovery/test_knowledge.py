"""A model's answers as a prior: perfect ones help, wrong ones harm, none change nothing, and the weight counts."""

from __future__ import annotations

import csv
import shutil

import numpy as np
import pytest

from harness.api import discover
from harness.causal.dag import bits
from harness.errors import ConfigError
from harness.plugins.discovery.algorithm import Observations
from harness.plugins.discovery.hill_climbing import HillClimbing
from harness.plugins.discovery.knowledge import LOG_ODDS
from harness.plugins.discovery.league import LeagueSettings, job
from harness.tasks.causalbench.networks import load, sample
from harness.tasks.causalbench.structures import matrix

NETWORKS = ["asia", "sachs"]


def distance(run, network):
    rows = run.result.scores["exact"]["network/structure"][f"{network}/direct"]
    return next(metric.value for metric in rows.metrics if metric.name == "shd")


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Return what leaves a run of a model with the given answers to "a directly causes b"."""
    folder = tmp_path_factory.mktemp("answers")
    base = discover("empty", NETWORKS, samples=100, results=str(folder / "runs")).folder

    def run(name, cells_of):
        path = folder / name
        shutil.copytree(base, path)
        for network in NETWORKS:
            names, cells = load(network).variables, cells_of(matrix(load(network).dag).astype(int))
            with (path / f"graphs/{network}/direct.csv").open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["", *names])
                writer.writerows([name, *row] for name, row in zip(names, cells.tolist(), strict=True))
        return str(path)

    return run


def failed(true):
    cells = np.full(true.shape, "failed", dtype=object)
    np.fill_diagonal(cells, "0")
    return cells


def runs(prior, results, **settings):
    return [
        discover("hc", NETWORKS, samples=200, seed=seed, results=str(results), prior=prior, **settings)
        for seed in (0, 1)
    ]


def total(of):
    return sum(distance(run, network) for run in of for network in NETWORKS)


@pytest.mark.slow
def test_perfect_answers_help_wrong_ones_harm_and_none_change_nothing(answers, tmp_path):
    plain = runs(None, tmp_path)
    perfect = runs(answers("perfect", lambda true: true), tmp_path / "perfect")
    wrong = runs(answers("wrong", lambda true: true.T), tmp_path / "wrong")
    without = runs(answers("none", failed), tmp_path / "none")
    assert total(perfect) < total(plain) < total(wrong)
    for run, other in zip(plain, without, strict=True):
        for network in NETWORKS:
            file = f"graphs/{network}/direct.csv"
            assert (run.folder / file).read_text() == (other.folder / file).read_text()


@pytest.mark.slow
def test_a_large_weight_requires_and_forbids(answers, tmp_path):
    prior = answers("required", lambda true: true)
    (run, _) = runs(prior, tmp_path, prior_weight=1000)
    assert [distance(run, network) for network in NETWORKS] == [0, 0]
    assert run.model == "hc+empty(1000)"


def test_a_run_with_a_prior_is_another_run_and_says_which(answers, tmp_path):
    prior = answers("named", lambda true: true)
    run, plain = runs(prior, tmp_path)[0], runs(None, tmp_path)[0]
    assert (run.model, plain.model) == ("hc+empty", "hc") and run.folder != plain.folder
    assert run.configuration["model"]["prior"]["weight"] == 1
    assert "prior" not in plain.configuration["model"]


def test_the_amounts_follow_the_columns_into_their_random_order():
    """One named edge of so much weight that it is there, whatever the order that the seed draws."""
    data, arities = sample("asia", 100, seed=0), [2] * 8
    gains = np.zeros((8, 8))
    gains[6, 1] = 1e6
    for seed in range(4):
        graph = HillClimbing("hc").knowing(gains).learn(data, arities, seed=seed)
        assert 6 in bits(graph.directed[1])


def test_each_edge_adds_its_amount_to_the_score():
    table = Observations(sample("asia", 100, seed=0), [2] * 8)
    gains = np.arange(64, dtype=float).reshape(8, 8)
    plain, informed = HillClimbing("hc"), HillClimbing("hc").knowing(gains)
    difference = informed.score_of(table)(2, 0b1010_0001) - plain.score_of(table)(2, 0b1010_0001)
    assert difference == pytest.approx(gains[0, 2] + gains[5, 2] + gains[7, 2])
    assert pytest.approx(np.log(0.9 / 0.1)) == LOG_ODDS


@pytest.mark.parametrize("algorithm", ["empty", "exact", "dag_gnn"])
def test_who_has_no_score_to_add_to_is_refused(answers, tmp_path, algorithm):
    prior = answers(f"for_{algorithm}", lambda true: true)
    with pytest.raises(ConfigError, match=r"does not take .*: choose hc"):
        discover(algorithm, "asia", samples=100, results=str(tmp_path), prior=prior)


def test_a_network_without_answers_is_named(answers, tmp_path):
    with pytest.raises(ConfigError, match="no answers to direct causes in cancer"):
        discover("hc", ["asia", "cancer"], results=str(tmp_path), prior=answers("few", lambda true: true))


@pytest.mark.slow
def test_the_league_says_what_the_answers_have_changed(answers, tmp_path):
    prior = answers("league", lambda true: true)
    folders = [str(run.folder) for run in (*runs(None, tmp_path), *runs(prior, tmp_path))]
    (remark,) = [part for part in job(folders, LeagueSettings()) if str(part).startswith("Knowledge")]
    assert "hc+empty against hc on the same data" in remark and "2 seeds" in remark
    assert "parent AID -" in remark
