"""harness league: the distances against gadjid and their definition, and the table over finished runs."""

from __future__ import annotations

import csv
import random
import sys
from itertools import permutations

import gadjid
import numpy as np
import pytest

from harness.causal.cpdag import cpdag
from harness.causal.dag import bits, children, descendants, from_integer, relabel
from harness.causal.equivalence import members
from harness.causal.learned_graph import Pattern
from harness.errors import ConfigError
from harness.plugins.discovery import graph_scores as scores_module
from harness.plugins.discovery.acyclic import nearest_acyclic
from harness.plugins.discovery.graph_scores import DISTANCES, GraphScores, distances, graph_scores
from harness.plugins.discovery.league import LeagueSettings, job
from harness.plugins.discovery.league_chart import draw
from harness.plugins.discovery.league_rows import TITLES, Entry, entries_of
from harness.scoring.graphs import MISSING, is_acyclic, mistakes, sid
from harness.scoring.patterns import codes
from harness.tasks.causalbench.networks import load
from harness.tasks.causalbench.structures import matrix

DOWN = "from row to column"


def pairs(count, n):
    draw = random.Random(n)

    def dag():
        number = draw.getrandbits(n * (n - 1) // 2) & draw.getrandbits(63)
        return relabel(from_integer(n, number), tuple(draw.sample(range(n), n)))

    for _ in range(count):
        yield dag(), dag()


# --- the distances ---


def possible_descendants(pattern, first, without):
    """Return the nodes to which a path leads from `first` that no edge runs against, not through `without`."""
    below = children(pattern.directed)
    reached, step = 0, first
    while step:
        reached |= step
        around = 0
        for v in bits(step):
            around |= below[v] | pattern.undirected[v]
        step = around & ~reached & ~without
    return reached


def parent_distance(true, predicted):
    """Count by the definition: parents adjust an effect, or say there is none, or the pattern leaves it open."""
    reach, below = descendants(true), children(true)
    wrong = 0
    for i, parents in enumerate(predicted.directed):
        opened = possible_descendants(predicted, predicted.undirected[i], 1 << i) & ~(1 << i)
        wrong += (opened | mistakes(true, below, reach, i, parents) & ~opened).bit_count()
    return wrong


def test_parent_aid_of_500_pairs_is_as_defined_and_all_are_gadjids():
    for true, dag in pairs(500, 6):
        predicted = cpdag(dag)
        values = distances(true, predicted, "dag")
        assert values["parent_aid"] == parent_distance(true, predicted)
        of_dag = distances(true, Pattern.of(dag), "dag")
        matrices = codes(Pattern.of(true)), codes(Pattern.of(dag))
        assert of_dag["parent_aid"] == sid(*matrices, edge_direction=DOWN)
        assert of_dag == {name: getattr(gadjid, name)(*matrices, edge_direction=DOWN)[1] for name in DISTANCES}
        classes = codes(cpdag(true)), codes(predicted)
        of_class = {name: getattr(gadjid, name)(*classes, edge_direction=DOWN)[1] for name in DISTANCES}
        assert distances(true, predicted, "class") == distances(true, Pattern.of(dag), "class") == of_class


def test_against_the_class_all_members_score_alike_and_none_is_wrong():
    for true, dag in pairs(200, 6):
        own = distances(true, cpdag(true), "class")
        assert set(own.values()) == {0}
        values = [distances(true, Pattern.of(member), "class") for member in members(dag)]
        assert all(value == distances(true, cpdag(dag), "class") for value in values)


def test_without_gadjid_one_sentence_says_what_to_install(monkeypatch):
    scores_module._gadjid.cache_clear()
    monkeypatch.setitem(sys.modules, "gadjid", None)
    with pytest.raises(ConfigError, match=r"needs gadjid.*\[discovery\]"):
        distances((0, 1), Pattern.of((0, 1)), "dag")
    scores_module._gadjid.cache_clear()


# --- the nearest acyclic graph ---


def backward(edges, order):
    return sum(bool(edges[order[a], order[b]]) for a in range(len(order)) for b in range(a))


@pytest.mark.parametrize("seed", range(12))
def test_no_order_takes_fewer_edges_away(seed):
    random = np.random.default_rng(seed)
    n = 3 + seed % 5
    edges = random.random((n, n)) < random.uniform(0.3, 0.9)
    np.fill_diagonal(edges, False)
    nearest = nearest_acyclic(edges)
    assert is_acyclic(nearest.edges) and not (nearest.edges & ~edges).any()
    assert nearest.exact
    assert nearest.removed == min(backward(edges, order) for order in permutations(range(n)))


def test_what_is_too_large_is_acyclic_and_said_not_to_be_exact():
    edges = np.random.default_rng(0).random((40, 40)) < 0.5
    np.fill_diagonal(edges, False)
    nearest = nearest_acyclic(edges)
    assert is_acyclic(nearest.edges) and not nearest.exact


def test_a_ring_of_forty_loses_one_edge():
    edges = np.roll(np.eye(40, dtype=bool), 1, axis=1)
    nearest = nearest_acyclic(edges)
    assert (nearest.removed, nearest.exact) == (1, True)


# --- a graph ---


def cells_of(pattern):
    return (codes(pattern) > 0).astype(np.int8)


def test_the_true_class_is_right_as_a_pattern_and_wrong_by_the_papers_count():
    dag = load("asia").dag
    learned = graph_scores("asia", cells_of(cpdag(dag)), learned=True, truth="class")
    assert {learned.values[name] for name in (*DISTANCES, "class_shd", "sid_low")} == {0}
    assert learned.values["cell_shd"] == sum(map(int.bit_count, cpdag(dag).undirected)) // 2 > 0
    assert learned.values["sid_high"] > 0 and learned.changed == 0


def test_both_directions_of_a_model_are_a_cycle_and_of_an_algorithm_an_edge_without_one():
    cells = cells_of(cpdag(load("asia").dag))
    model = graph_scores("asia", cells, learned=False, truth="dag")
    assert model.changed == sum(map(int.bit_count, cpdag(load("asia").dag).undirected)) // 2
    assert model.values["sid_low"] == model.values["sid_high"]


def test_the_order_of_the_file_is_no_help():
    """Who says Yes to everything has each order as its nearest graph; that of the file would have all effects right."""
    cells = (1 - np.eye(37)).astype(np.int8)
    assert graph_scores("alarm", cells, learned=False, truth="dag").values["parent_aid"] > 100


def test_a_pattern_without_a_dag_is_scored_and_the_changes_counted():
    cells = matrix(load("cancer").dag).astype(np.int8)
    cells[0, 3] = cells[3, 0] = cells[1, 3] = cells[3, 1] = cells[4, 0] = 1  # squares without a chord
    assert graph_scores("cancer", cells, learned=True, truth="dag").changed > 0


def test_a_graph_without_a_reply_is_left_out():
    cells = matrix(load("cancer").dag).astype(np.int8)
    cells[0, 1] = MISSING
    assert graph_scores("cancer", cells, learned=True, truth="dag") is None


# --- the table ---


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    from harness.api import discover

    folder = tmp_path_factory.mktemp("league")
    return [
        discover(algorithm, ["cancer", "asia"], samples=500, seed=seed, results=str(folder))
        for algorithm in ("hc", "boss", "empty")
        for seed in (0, 1)
    ]


def test_a_row_for_each_algorithm_with_the_mean_over_seeds(runs):
    entries, remarks = entries_of(runs, truth="dag")
    assert remarks == []
    assert {(entry.name, entry.role, entry.networks, entry.samples) for entry in entries} == {
        ("hc", "algorithm", ("asia", "cancer"), 500),
        ("boss", "algorithm", ("asia", "cancer"), 500),
        ("empty", "baseline", ("asia", "cancer"), 500),
    }
    assert all(set(seeds) == {0, 1} for seeds in entries.values())
    empty = next(seeds for entry, seeds in entries.items() if entry.name == "empty")
    true = codes(Pattern.of(load("asia").dag))
    distance = gadjid.parent_aid(true, np.zeros_like(true), edge_direction=DOWN)[1]
    assert empty[0]["asia"].values["parent_aid"] == distance
    by_network, _ = entries_of(runs, by="network")
    assert {entry.networks for entry in by_network} == {("asia",), ("cancer",)} and len(by_network) == 6


def test_a_file_holds_the_numbers_and_remarks_say_who_is_ranked_otherwise(runs, tmp_path):
    out = tmp_path / "league.csv"
    folders = [str(run.folder) for run in runs]
    parts = job(folders, LeagueSettings(out=str(out)))
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["name"] for row in rows) == ["boss", "empty", "hc"]
    values = [float(row["parent_aid"]) for row in rows]
    assert values == sorted(values)
    assert len(parts[0].lines) == 3


def test_the_records_serve_where_the_graphs_are_gone(runs, tmp_path):
    import shutil

    from harness.storage.runs import load as load_run

    copy = tmp_path / "copy"
    shutil.copytree(runs[0].folder, copy)
    shutil.rmtree(copy / "graphs")
    before, _ = entries_of([runs[0]])
    after, _ = entries_of([load_run(copy)])
    assert before == after


def test_who_is_asked_for_direct_causes_alone_has_the_same_numbers(runs, tmp_path):
    """A sixth of the questions; by the scores that a run leaves itself as well."""
    from harness.api import discover

    alone = discover("hc", ["cancer", "asia"], samples=500, results=str(tmp_path), overrides=["task.structure=direct"])
    asked = alone.result.overall.items
    assert asked == 8 * 7 + 5 * 4 and runs[0].result.overall.items == 6 * asked
    assert entries_of([alone]) == entries_of([runs[0]])
    for scores in ("exact", "paper"):
        both = (run.result.scores[scores]["network/structure"] for run in (alone, runs[0]))
        ours, theirs = (group["asia/direct"] for group in both)
        assert ours == theirs
    assert "structure=direct" in alone.variant


# --- the figure ---


def test_a_figure_has_a_line_for_each_algorithm_and_a_level_for_each_baseline(runs, tmp_path):
    from harness.api import discover

    more = [discover("hc", ["cancer", "asia"], samples=200, seed=0, results=str(tmp_path / "runs"))]
    chart = tmp_path / "league.svg"
    job([str(run.folder) for run in (*runs, *more)], LeagueSettings(chart=str(chart)))
    drawing = chart.read_text()
    for text in ("parent AID: asia, cancer", "SHD of CPDAGs: asia, cancer", "hc", "boss", "empty", "200", "500"):
        assert f"<!-- {text} -->" in drawing
    again = tmp_path / "again.png"
    job([str(run.folder) for run in (*runs, *more)], LeagueSettings(chart=str(again)))
    assert again.read_bytes()[:4] == b"\x89PNG"


def test_a_level_far_above_the_lines_is_named_in_place_of_squeezing_them(tmp_path):
    networks = ("child", "insurance", "water", "mildew", "alarm", "barley")

    def seeds(value):
        scores = GraphScores(dict.fromkeys(TITLES, value), 0, True, False)
        return {0: dict.fromkeys(networks, scores)}

    entries = {Entry("hc", "algorithm", networks, samples): seeds(1_000 / samples) for samples in (100, 1_000)}
    levels = {
        Entry("always_no", "baseline", networks, None): seeds(11),
        Entry("far", "model", networks, None): seeds(90),
    }
    draw(entries | levels, str(tmp_path / "league.svg"))
    drawing = (tmp_path / "league.svg").read_text()
    assert "<!-- far 90 ↑ -->" in drawing and "always_no 11" not in drawing
    assert "<!-- parent AID: 6 medium networks -->" in drawing


def test_one_number_of_samples_makes_no_figure(runs, tmp_path):
    with pytest.raises(ConfigError, match="several numbers of samples"):
        job([str(run.folder) for run in runs], LeagueSettings(chart=str(tmp_path / "league.png")))


def test_a_file_of_another_kind_is_refused_before_anything_is_read():
    with pytest.raises(ConfigError, match=r"chart=league.txt: the name has to end in .png, .pdf, .svg"):
        job(["nowhere"], LeagueSettings(chart="league.txt"))


# --- leaderboard and page ---


def test_leaderboard_and_page_show_algorithms_and_models_by_the_distances(runs, tmp_path):
    from harness.api import evaluate
    from harness.leaderboard.__main__ import LeaderboardSettings
    from harness.leaderboard.__main__ import job as leaderboard
    from harness.report.__main__ import content

    model = evaluate(
        "always_yes", "causalbench/causality", method=2, networks=["cancer", "asia"], results=str(tmp_path)
    )
    rows = [*runs, model]
    folders = [str(run.folder) for run in rows]
    tables = leaderboard(folders, LeaderboardSettings(out="-"))
    last = tables[-1]
    names = [column.name for column in last.columns]
    assert last.heading == "By distances that know patterns" and len(last.lines) == len(rows)
    shown = {line.run["folder"]: dict(zip(names, line.cells, strict=True)) for line in last.lines}
    ((seeds,),) = (of.values() for of in entries_of([model])[0].values())
    distance = np.mean([scores.values["parent_aid"] for scores in seeds.values()])
    assert shown[str(model.folder)]["parent_aid"].value == distance and shown[str(model.folder)]["changed"].value > 0
    column = [line.cells[names.index("parent_aid")].value for line in last.lines]
    assert column == sorted(column)
    chosen = leaderboard(folders, LeaderboardSettings(out="-", metrics=("f1",)))
    assert len(chosen) == len(tables) - 1
    data, _ = content(rows, "", answers=False)
    assert {row["run"] for row in data["tables"][-1]["rows"]} == {run["id"] for run in data["runs"]}


@pytest.mark.parametrize("own", [True, False])
def test_the_leaderboard_of_a_sweep_has_the_distances_too(runs, tmp_path, own):
    from types import SimpleNamespace

    from harness.plugins.discovery.discover import table
    from harness.sweep import jobs
    from harness.sweep.carry_out import conclude

    for number, run in enumerate(runs[:2]):
        jobs.note(tmp_path / str(number), run=run.folder, error=None)
    multirun = SimpleNamespace(jobs=[SimpleNamespace(number=number) for number in (0, 1)])
    assert conclude(tmp_path, multirun, table if own else None, {}, interrupted=False) == 0
    board = (tmp_path / "LEADERBOARD.md").read_text()
    assert board.count("By distances that know patterns") == 1 and ("F1 of direct edges" in board)


def test_without_gadjid_the_leaderboard_says_what_is_left_out(runs, monkeypatch):
    from harness.leaderboard.build import build, with_more

    scores_module._gadjid.cache_clear()
    monkeypatch.setitem(sys.modules, "gadjid", None)
    tables = with_more(build(runs), runs)
    assert len(tables) == len(build(runs)) + 1 and not tables[-1].lines
    assert "Left out: " in tables[-1].notes[0] and "gadjid" in tables[-1].notes[0]
    scores_module._gadjid.cache_clear()
