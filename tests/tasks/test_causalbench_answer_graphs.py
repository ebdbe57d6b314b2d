"""The graphs that answers to CausalBench draw: distances one by one, and the files of a run."""

from __future__ import annotations

from statistics import fmean

import networkx as nx
import pytest
from support.causalbench_help import (
    COUNTED,
    DISTANCES,
    HOLES,
    answers_of,
    causalbench,
    except_for,
    matrices,
    pairs_that_differ,
    records,
    some,
    table_of,
    values,
)

from harness.scoring.graphs import sid
from harness.tasks.causalbench.networks import edges, load


def test_perfect_answers_about_adjacency_draw_the_skeleton():
    task = causalbench("Skeleton", scale="small")
    result = task.summarize(records(task))
    for name in task.chosen_networks:
        row = values(result.scores["exact"]["network/template"][f"{name}/directly_related"])
        n = len(load(name).variables)
        # Both directions of an edge count in the density of a symmetric matrix.
        assert row["shd"] == 0 and row["density"] == 2 * len(edges(load(name))) / (n * (n - 1))
        assert set(row) == {*COUNTED, "shd", "density"}
        assert set(values(result.scores["exact"]["network/template"][f"{name}/related_given"])) == set(COUNTED)


def test_distances_of_random_answers_one_by_one():
    task = causalbench("Causality", networks=["asia", "survey"])
    run_records = records(task, some(3))
    scores = task.summarize(run_records).scores["exact"]["network/template"]
    for name in ("asia", "survey"):
        _, true, closed = matrices(name)
        for template in ("cause", "influence"):
            answers = answers_of(run_records, name, template)
            row = values(scores[f"{name}/{template}"])
            assert row["shd"] == pairs_that_differ(true, answers)
            assert row["shd_closure"] == pairs_that_differ(closed, answers)
            assert row["sid"] == sid(true, answers)
            assert row["sid_closure"] == sid(closed, answers)
            assert row["acyclic"] == nx.is_directed_acyclic_graph(nx.from_numpy_array(answers, create_using=nx.DiGraph))
            assert row["average_in_degree"] == answers.sum() / len(answers)


def test_the_reversed_structure_is_scored_the_other_way_round():
    # Who answers the reversed question as if it were the plain one turns every edge around.
    task = causalbench("Causality", networks="asia", method=2)
    run_records = records(task, lambda item: "Yes" if item.labels["paper"] else "No")
    result = task.summarize(run_records)
    _, true, _ = matrices("asia")
    row = result.scores["exact"]["network/structure"]
    assert row["asia/direct"]["shd"] == 0 and row["asia/reversed_direct"]["shd"] == 8
    assert row["asia/reversed_direct"]["sid"] == sid(true, true.T) > 0
    # The table holds what was answered: row a, column b.
    _, cells = table_of(result.files["graphs/asia/reversed_direct.csv"])
    assert {pair for pair, cell in cells.items() if cell == "1"} == set(edges(load("asia")))


def test_distances_are_averaged_over_templates_then_networks():
    task = causalbench("Causality", networks=["asia", "cancer"])
    exact = task.summarize(records(task, some(4))).scores["exact"]
    for metric in ("shd", "sid", "shd_closure", "density"):
        of = {
            name: [exact["network/template"][f"{name}/{t}"][metric] for t in ("cause", "influence")]
            for name in ("asia", "cancer")
        }
        assert exact["network"]["asia"][metric] == fmean(of["asia"])
        assert exact["template"]["cause"][metric] == fmean((of["asia"][0], of["cancer"][0]))
        assert exact["template"]["causally_related"][metric] is None
        assert metric not in values(exact["template"]["causally_related"])
        everywhere = fmean((fmean(of["asia"]), fmean(of["cancer"])))
        assert exact["overall"]["all"][metric] == exact["scale"]["small"][metric] == pytest.approx(everywhere)


def test_a_failed_call_leaves_no_distance_and_only_there():
    task = causalbench("Causality", networks=["asia", "cancer"])
    exact = task.summarize(records(task, except_for(HOLES))).scores["exact"]
    distances = {*DISTANCES, "shd_closure", "sid_closure"}
    cells = exact["network/template"]
    for row in (cells["asia/cause"], exact["network"]["asia"], exact["template"]["cause"], exact["overall"]["all"]):
        assert {name for name, value in values(row).items() if value is None} == distances
    for row in (cells["asia/influence"], cells["cancer/cause"], exact["network"]["cancer"]):
        assert all(values(row)[name] is not None for name in distances)
    assert {name for name, v in values(exact["overall"]["mean of networks"]).items() if v is None} == distances


def test_the_files_say_what_was_not_read():
    task = causalbench("Causality", networks="asia")
    result = task.summarize(records(task, except_for(HOLES)))
    header, cells = table_of(result.files["graphs/asia/cause.csv"])
    assert tuple(header) == load("asia").variables
    assert cells["asia", "tub"] == "unreadable" and cells["smoke", "lung"] == "failed"
    assert cells["tub", "asia"] == "0" and cells["tub", "either"] == "1" and cells["asia", "asia"] == "0"
    _, _, closed = matrices("asia")
    assert sum(cell == "1" for cell in cells.values()) == closed.sum() - 2


def test_the_skeletons_table_has_a_cell_for_the_direction_that_was_asked():
    task = causalbench("Skeleton", networks="asia")
    _, cells = table_of(task.summarize(records(task)).files["graphs/asia/directly_related.csv"])
    pairs = {tuple(item.id.split("/")[2:]) for item in task.items() if "/directly_related/" in item.id}
    for (a, b), cell in cells.items():
        assert (cell in "01" and cell != "") == ((a, b) in pairs or a == b)
    assert sum(cell == "1" for cell in cells.values()) == 8
