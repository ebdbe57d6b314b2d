"""Records of CausalBench into scores by both conventions, and into graphs."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import defaultdict
from pathlib import Path
from statistics import fmean

import networkx as nx
import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from harness import parsing
from harness.board.plain import markdown
from harness.result_json import result_from_json, result_json
from harness.scoring.intervals import means
from harness.scoring.sid import sid
from harness.settings import build
from harness.tables import remarks, result_tables
from harness.tasks.causalbench.chains import longest
from harness.tasks.causalbench.networks import NETWORKS, edges, load
from harness.types import Failure, Item, Metric, Record, Response

ROW_TO_COLUMN = "from row to column"
MISSED = Failure("timeout", "late")
COUNTED = ("f1", "precision", "recall", "accuracy")
PAPERS = ("macro_f1", "cell_accuracy", "cell_shd", "parent_set_errors", "cell_density", "degree")
DISTANCES = ("shd", "sid", "density", "average_in_degree", "average_out_degree", "acyclic")


def causalbench(task: str, /, **settings):
    section = {"_target_": f"harness.tasks.causalbench.{task}", "name": f"causalbench/{task.lower()}", "prompts": []}
    return build(section | settings, "task")


def record(item: Item, said) -> Record:
    """`said`: a text, a Failure, or a Response."""
    answer = None
    if not isinstance(said, Failure):
        said = Response(said) if isinstance(said, str) else said
        if said.logprobs is None:
            answer = parsing.verdict(said)
        elif "entailment" in said.logprobs:
            answer = parsing.entailment(said)
        else:
            answer = parsing.choice(said, ("Yes", "No"))
    return Record(item.id, item.cluster, item.groups, item.labels, "r", said, answer)


def right(item: Item) -> str:
    return "Yes" if item.labels["exact"] else "No"


def records(task, says=right) -> list[Record]:
    return [record(item, says(item)) for item in task.items()]


def some(seed: int = 0, other: tuple = ()):
    """Answers at random, with a tenth of each of the `other` ones."""
    draw = random.Random(seed)

    def says(item: Item):
        place = draw.randrange(10)
        return other[place] if place < len(other) else draw.choice(["Yes", "No"])

    return says


def except_for(special: dict, otherwise=right):
    return lambda item: special.get(item.id) or otherwise(item)


def values(row) -> dict:
    return {metric.name: metric.value for metric in row.metrics}


def matrices(name: str):
    """(the names, the true graph, its closure) through networkx."""
    names = load(name).variables
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from(edges(load(name)))
    closure = nx.transitive_closure_dag(graph)
    true, closed = (nx.to_numpy_array(g, nodelist=names, dtype=int) for g in (graph, closure))
    return names, true, closed


def answers_of(found: list[Record], name: str, template: str, breakdown: str = "template") -> np.ndarray:
    """n×n: 1 where the answer was Yes."""
    names = load(name).variables
    said = np.zeros((len(names), len(names)), dtype=int)
    for one in found:
        if one.groups["network"] == name and one.groups[breakdown] == template and one.answer:
            a, b = one.groups["pair"].split(" -> ")
            said[names.index(a), names.index(b)] = one.answer.label == 1
    return said


def pairs_that_differ(one: np.ndarray, other: np.ndarray) -> int:
    n = len(one)
    return sum(
        (one[a, b], one[b, a]) != (other[a, b], other[b, a]) for a in range(n) for b in range(a + 1, n)
    )  # fmt: skip


def table_of(text: str) -> tuple[list[str], dict[tuple[str, str], str]]:
    header, *rows = csv.reader(io.StringIO(text))
    return header[1:], {(row[0], b): cell for row in rows for b, cell in zip(header[1:], row[1:], strict=True)}


def graph_of(text: str, tmp_path: Path) -> nx.Graph:
    (tmp_path / "graph.graphml").write_text(text, encoding="utf-8")
    return nx.read_graphml(tmp_path / "graph.graphml")


FIVE = [
    ("Correlation", {}),
    ("Causality", {}),
    ("Causality", {"method": 2}),
    ("Skeleton", {}),
    ("Skeleton", {"convention": "paper"}),
]


# By pair, not by place


@pytest.mark.parametrize(("kind", "settings"), FIVE)
def test_the_order_of_the_records_means_nothing(kind, settings):
    task = causalbench(kind, networks=["asia", "cancer", "survey"], **settings)
    found = records(task, some(other=("Who knows?", MISSED)))
    mixed = list(found)
    random.Random(1).shuffle(mixed)
    one, other = task.summarize(found), task.summarize(mixed)
    assert result_json(one) == result_json(other)
    assert one.files == other.files
    assert json.dumps(result_json(one)["scores"]) == json.dumps(result_json(other)["scores"])


# Perfect answers


@pytest.mark.parametrize(("kind", "settings"), FIVE)
def test_perfect_answers_have_perfect_scores(kind, settings):
    result = causalbench(kind, scale="small", **settings)
    result = result.summarize(records(result))
    for breakdown, groups in result.scores["exact"].items():
        for name, row in groups.items():
            assert row["accuracy"] == 1, (breakdown, name)
            if breakdown != "relation":
                assert row["f1"] in (1, None) and (row["f1"] == 1 or not row.positives or name == "mean of networks")
    assert result.scores["exact"]["overall"]["all"]["f1"] == 1


def test_perfect_answers_about_causes_draw_the_closure():
    task = causalbench("Causality", scale="small")
    found = task.summarize(records(task)).scores["exact"]["network/template"]
    for name in task.chosen_networks:
        _, true, closed = matrices(name)
        for template in ("cause", "influence"):
            row = values(found[f"{name}/{template}"])
            assert row["shd_closure"] == 0 and row["sid_closure"] == 0
            assert row["shd"] == (closed - true).sum() and row["acyclic"] == 1
            assert row["sid"] == sid(true, closed, edge_direction=ROW_TO_COLUMN)
            assert row["density"] == closed.sum() / (len(true) * (len(true) - 1))
            assert row["average_in_degree"] == row["average_out_degree"] == closed.sum() / len(true)
        for template in ("causally_related", "causal_connection", "causality_between"):
            assert set(values(found[f"{name}/{template}"])) == set(COUNTED)
    assert found["asia/cause"]["shd"] == 10


def test_perfect_answers_about_structures_draw_the_graph():
    task = causalbench("Causality", scale="small", method=2)
    found = task.summarize(records(task)).scores["exact"]["network/structure"]
    for name in task.chosen_networks:
        for structure in ("direct", "reversed_direct"):
            row = values(found[f"{name}/{structure}"])
            assert row["shd"] == row["sid"] == 0 and row["acyclic"] == 1
            assert set(row) == {*COUNTED, *DISTANCES}  # no closure: the question asks for the edge
        for structure in ("indirect", "reversed_indirect", "common_effect", "common_cause"):
            assert set(values(found[f"{name}/{structure}"])) == set(COUNTED)


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


# Any answers


def test_distances_of_random_answers_one_by_one():
    task = causalbench("Causality", networks=["asia", "survey"])
    found = records(task, some(3))
    scores = task.summarize(found).scores["exact"]["network/template"]
    for name in ("asia", "survey"):
        _, true, closed = matrices(name)
        for template in ("cause", "influence"):
            said = answers_of(found, name, template)
            row = values(scores[f"{name}/{template}"])
            assert row["shd"] == pairs_that_differ(true, said)
            assert row["shd_closure"] == pairs_that_differ(closed, said)
            assert row["sid"] == sid(true, said, edge_direction=ROW_TO_COLUMN)
            assert row["sid_closure"] == sid(closed, said, edge_direction=ROW_TO_COLUMN)
            assert row["acyclic"] == nx.is_directed_acyclic_graph(nx.from_numpy_array(said, create_using=nx.DiGraph))
            assert row["average_in_degree"] == said.sum() / len(said)


def test_the_reversed_structure_is_drawn_the_other_way_round(tmp_path):
    # Who answers the reversed question as if it were the plain one turns every edge around.
    task = causalbench("Causality", networks="asia", method=2)
    found = records(task, lambda item: "Yes" if item.labels["paper"] else "No")
    result = task.summarize(found)
    _, true, _ = matrices("asia")
    row = result.scores["exact"]["network/structure"]
    assert row["asia/direct"]["shd"] == 0 and row["asia/reversed_direct"]["shd"] == 8
    assert row["asia/reversed_direct"]["sid"] == sid(true, true.T, edge_direction=ROW_TO_COLUMN) > 0
    drawn = graph_of(result.files["graphs/asia/reversed_direct.graphml"], tmp_path)
    assert set(drawn.edges) == {(b, a) for a, b in edges(load("asia"))}
    assert set(graph_of(result.files["graphs/asia/direct.graphml"], tmp_path).edges) == set(edges(load("asia")))
    # The table holds what was answered: row a, column b.
    _, cells = table_of(result.files["graphs/asia/reversed_direct.csv"])
    assert {pair for pair, cell in cells.items() if cell == "1"} == set(edges(load("asia")))


@pytest.mark.parametrize(("kind", "settings"), [("Correlation", {}), ("Causality", {}), ("Causality", {"method": 2})])
def test_papers_numbers_of_random_answers_one_by_one(kind, settings):
    task = causalbench(kind, networks=["cancer", "asia"], **settings)
    found = records(task, some(5))
    paper = task.summarize(found).scores["paper"]
    breakdown = "structure" if settings else "template"
    rows = defaultdict(list)
    for name in ("asia", "cancer"):
        _, true, _ = matrices(name)
        truth = true | true.T if kind == "Correlation" else true
        n = len(truth)
        for template in task.asked_templates:
            said = answers_of(found, name, template, breakdown)
            wanted = {
                "macro_f1": f1_score(truth.ravel(), said.ravel(), average="macro"),
                "cell_accuracy": (truth == said).mean(),
                "cell_shd": (truth != said).sum(),
                "parent_set_errors": sum((truth[:, k] != said[:, k]).any() for k in range(n)),
                "cell_density": said.sum() / (n * (n - 1)),
                "degree": said.sum() / n,
            }
            assert values(paper[f"network/{breakdown}"][f"{name}/{template}"]) == pytest.approx(wanted)
            rows[name].append(wanted)
            rows[template].append(wanted)

    def mean(some_rows: list[dict]) -> dict:
        return {metric: fmean(row[metric] for row in some_rows) for metric in PAPERS}

    for name in ("asia", "cancer"):
        assert values(paper["network"][name]) == pytest.approx(mean(rows[name]))
    for template in task.asked_templates:
        assert values(paper[breakdown][template]) == pytest.approx(mean(rows[template]))
    everywhere = mean([mean(rows["asia"]), mean(rows["cancer"])])
    assert values(paper["overall"]["all"]) == values(paper["scale"]["small"]) == pytest.approx(everywhere)
    assert "relation" not in paper


def test_exact_scores_of_random_answers_by_scikit_learn():
    task = causalbench("Causality", networks=["asia", "cancer", "child"])
    found = records(task, some(7))
    scores = task.summarize(found).scores

    def metrics(chosen: list[Record], label_set: str) -> dict:
        gold = [one.labels[label_set] for one in chosen]
        said = [one.answer.label for one in chosen]
        return {"f1": f1_score(gold, said), "accuracy": accuracy_score(gold, said)}

    for label_set, gold in (("exact", "exact"), ("direct", "paper")):
        everything = scores[label_set]
        for breakdown in ("network", "scale", "template", "relation"):
            groups = {one.groups[breakdown] for one in found}
            assert set(everything[breakdown]) == groups
            for group in groups:
                wanted = metrics([one for one in found if one.groups[breakdown] == group], gold)
                row = everything[breakdown][group]
                assert row["accuracy"] == pytest.approx(wanted["accuracy"])
                assert (row["f1"] or 0) == pytest.approx(wanted["f1"])
        pooled = metrics(found, gold)
        assert {name: everything["overall"]["all"][name] for name in pooled} == pytest.approx(pooled)
        for name in ("asia", "cancer", "child"):
            for template in task.asked_templates:
                chosen = [o for o in found if (o.groups["network"], o.groups["template"]) == (name, template)]
                row = everything["network/template"][f"{name}/{template}"]
                assert row.items == len(chosen) and row["f1"] == pytest.approx(metrics(chosen, gold)["f1"])


@pytest.mark.parametrize(("kind", "settings"), FIVE)
def test_the_mean_of_networks_weighs_them_alike(kind, settings):
    task = causalbench(kind, networks=["asia", "cancer", "child"], **settings)
    exact = task.summarize(records(task, some(2))).scores["exact"]
    mean, rows = exact["overall"]["mean of networks"], list(exact["network"].values())
    assert {metric.name for metric in mean.metrics} == {metric.name for metric in rows[0].metrics} >= set(COUNTED)
    for metric in mean.metrics:
        assert metric.value == pytest.approx(fmean(row[metric.name] for row in rows)), metric.name
    assert mean["accuracy"] != exact["overall"]["all"]["accuracy"]
    assert mean.items == exact["overall"]["all"].items


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


# Intervals


def test_rows_of_several_networks_draw_networks_and_rows_of_one_draw_pairs():
    task = causalbench("Causality", networks=[*NETWORKS[:6], "insurance"])
    result = task.summarize(records(task, some(8)))
    exact = result.scores["exact"]
    drawn = {
        ("overall", "all"): (7, ""),
        ("overall", "mean of networks"): (7, ""),
        ("template", "cause"): (7, ""),
        ("network", "asia"): (28, "pair"),
        ("network", "cancer"): (10, "pair"),
        ("network/template", "asia/cause"): (28, "pair"),
        ("scale", "small"): (5, ""),
    }
    for (breakdown, group), expected in drawn.items():
        row = exact[breakdown][group]
        assert (row.clusters, row.unit) == expected, group
        assert bool(row.metric("f1").interval) == (group != "small")
    for row in (exact["network"]["asia"], exact["scale"]["small"]):
        assert row.metric("shd").interval is None and row.metric("shd").no_interval
    shds = {name: row["shd"] for name, row in exact["network"].items()}
    expected = means({name: {"shd": Metric("shd", shd)} for name, shd in shds.items()})[0]
    for group in ("all", "mean of networks"):
        assert exact["overall"][group].metric("shd") == expected and expected.interval
    low, high = exact["overall"]["mean of networks"].metric("f1").interval
    assert low < exact["overall"]["mean of networks"]["f1"] < high
    paper = result.scores["paper"]
    assert paper["overall"]["all"].metric("macro_f1").interval and paper["overall"]["all"].clusters == 7
    asia = paper["network"]["asia"]
    assert (asia.clusters, asia.unit, asia.metric("macro_f1").interval) == (1, "", None)


@pytest.mark.parametrize(("kind", "settings"), FIVE)
def test_the_interval_of_one_network_is_over_pairs_in_either_order(kind, settings):
    task = causalbench(kind, networks="survey", **settings)
    found = records(task, some(3))
    row = task.summarize(found).scores["exact"]["overall"]["all"]
    pairs = {frozenset(one.groups["pair"].split(" -> ")) for one in found}
    assert (row.clusters, row.unit) == (len(pairs), "pair") and len(pairs) <= 15
    assert row.metric("accuracy").interval
    mean = task.summarize(found).scores["exact"]["overall"]["mean of networks"]
    assert (mean.clusters, mean.resamples) == (1, 0) and mean.metric("accuracy").interval is None


def test_bounds_are_of_the_decisions_and_of_their_means():
    task = causalbench("Causality", networks=["asia", "cancer"])
    exact = task.summarize(records(task, except_for(HOLES))).scores["exact"]
    assert exact["network/template"]["asia/cause"].metric("accuracy").bounds == (54 / 56, 1)
    assert exact["network"]["cancer"].metric("accuracy").bounds is None
    asia = exact["network"]["asia"].metric("accuracy").bounds
    assert exact["overall"]["mean of networks"].metric("accuracy").bounds == ((asia[0] + 1) / 2, 1)


def test_the_longest_chain_is_no_mean_over_clusters():
    row = causalbench("Chains").summarize(records(causalbench("Chains"), some(3))).overall
    assert row.clusters == 48 and row.metric("f1").interval
    assert row.metric("longest_chain").no_interval and row.metric("longest_chain").interval is None


# Which label sets there are


@pytest.mark.parametrize(
    ("kind", "settings", "label_sets"),
    [
        ("Correlation", {}, ["exact", "paper"]),
        ("Correlation", {"convention": "paper"}, ["paper", "exact"]),
        ("Causality", {}, ["exact", "direct", "paper"]),
        ("Causality", {"convention": "paper"}, ["paper", "exact", "direct"]),
        ("Causality", {"method": 2}, ["exact", "paper"]),
        ("Skeleton", {}, ["exact"]),
        ("Skeleton", {"convention": "paper"}, ["paper", "exact"]),
    ],
)
def test_label_sets_and_the_one_that_comes_first(kind, settings, label_sets):
    task = causalbench(kind, networks="cancer", **settings)
    result = task.summarize(records(task, some()))
    assert list(result.scores) == label_sets and result.headline == label_sets[0]
    if "paper" in label_sets:
        assert "f1" not in values(result.scores["paper"]["overall"]["all"])
    if "direct" in label_sets:
        assert set(values(result.scores["direct"]["overall"]["all"])) == set(COUNTED)
        positives = {name: result.scores[name]["template"]["cause"].positives for name in ("exact", "direct")}
        # cancer: 4 edges, and 4 longer paths.
        assert positives == {"exact": 8, "direct": 4}


def test_rows_come_in_the_papers_order():
    task = causalbench("Causality", networks=["child", "asia", "sachs"])
    found = records(task, some())
    random.Random(0).shuffle(found)
    for rows in task.summarize(found).scores.values():
        assert list(rows["network"]) == ["asia", "sachs", "child"]
        assert list(rows["scale"]) == ["small", "medium"]
        assert list(rows["template"]) == list(task.asked_templates)
        assert list(rows["network/template"])[:6] == [
            *(f"asia/{template}" for template in task.asked_templates),
            "sachs/causally_related",
        ]
        assert "pair" not in rows


# Unreadable replies and failed calls

HOLES = {"asia/cause/asia/tub": "Hard to say.", "asia/cause/smoke/lung": MISSED}


def test_an_unreadable_reply_and_a_failed_call_are_counted_beside():
    task = causalbench("Causality", networks=["asia", "cancer"])
    result = task.summarize(records(task, except_for(HOLES)))
    for label_set in ("exact", "direct", "paper"):
        for breakdown, group in (
            ("overall", "all"),
            ("network", "asia"),
            ("scale", "small"),
            ("template", "cause"),
            ("network/template", "asia/cause"),
        ):
            row = result.scores[label_set][breakdown][group]
            assert (row.unreadable, row.failed) == (1, 1), (label_set, breakdown)
        assert result.scores[label_set]["network"]["cancer"].unreadable == 0
    assert result.failures == {"timeout": 1}
    asia = result.scores["exact"]["network/template"]["asia/cause"]
    # 56 questions, 18 positive: one wrong, one not counted.
    assert asia["accuracy"] == 54 / 55 and asia["recall"] == 16 / 17 and asia["precision"] == 1


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


def test_an_unreadable_reply_draws_no_edge_and_leaves_the_distances():
    task = causalbench("Causality", networks="asia")
    exact = task.summarize(records(task, except_for({"asia/cause/asia/tub": "Hard to say."}))).scores["exact"]
    row = exact["network/template"]["asia/cause"]
    assert row["shd_closure"] == 1 and row["density"] == 17 / 56


def test_a_template_with_a_failed_call_has_no_numbers_of_the_papers():
    # Left out, the cell would let the diagonal, which is always right, speak for it.
    task = causalbench("Causality", networks="asia")
    result = task.summarize(records(task, except_for(HOLES)))
    rows = result.scores["paper"]["network/template"]
    assert set(values(rows["asia/cause"]).values()) == {None}
    assert rows["asia/influence"]["cell_accuracy"] is not None
    assert any("1 of 1 networks lack some" in note for note in result.notes)


@pytest.mark.parametrize("convention", ["exact", "paper"])
def test_a_network_of_which_every_call_failed_has_no_numbers_of_the_papers(convention):
    # As after an opening that was not answered.
    task = causalbench("Causality", networks=["asia", "cancer"], convention=convention)
    found = records(task, lambda item: MISSED if item.cluster == "cancer" else "No")
    paper = task.summarize(found).scores["paper"]
    assert set(values(paper["network"]["cancer"]).values()) == {None}
    assert paper["overall"]["all"]["cell_accuracy"] is None


def test_unreadable_replies_may_score_as_no():
    says = except_for({"asia/cause/asia/tub": "Hard to say.", "asia/cause/tub/asia": "Hard to say."})
    rows = {}
    for unreadable in ("wrong", "no"):
        task = causalbench("Causality", networks="asia", unreadable=unreadable)
        rows[unreadable] = task.summarize(records(task, says)).scores["exact"]["network/template"]["asia/cause"]
    assert rows["wrong"]["accuracy"] == 54 / 56 and rows["no"]["accuracy"] == 55 / 56


def test_the_files_say_what_was_not_read(tmp_path):
    task = causalbench("Causality", networks="asia")
    result = task.summarize(records(task, except_for(HOLES)))
    header, cells = table_of(result.files["graphs/asia/cause.csv"])
    assert tuple(header) == load("asia").variables
    assert cells["asia", "tub"] == "unreadable" and cells["smoke", "lung"] == "failed"
    assert cells["tub", "asia"] == "0" and cells["tub", "either"] == "1" and cells["asia", "asia"] == "0"
    graph = graph_of(result.files["graphs/asia/cause.graphml"], tmp_path)
    assert graph.graph["unanswered"] == "asia -> tub: unreadable; smoke -> lung: failed"
    _, _, closed = matrices("asia")
    missing = {("asia", "tub"), ("smoke", "lung")}
    assert set(graph.edges) == {pair for pair, cell in cells.items() if cell == "1"}
    assert len(graph.edges) == closed.sum() - 2 and not missing & set(graph.edges)
    complete = graph_of(result.files["graphs/asia/influence.graphml"], tmp_path)
    assert not complete.graph.get("unanswered") and len(complete.edges) == closed.sum()


# Files


def test_a_graph_for_every_template_whose_yes_is_an_edge_and_a_table_for_every_pair_of_variables():
    wanted = {
        ("Correlation", ()): ("related correlated correlation relation connection", ""),
        ("Causality", ()): (
            "causally_related causal_connection cause influence causality_between",
            "cause influence",
        ),
        ("Causality", (("method", 2),)): (
            "direct indirect reversed_direct reversed_indirect common_effect common_cause",
            "direct reversed_direct",
        ),
        ("Skeleton", ()): ("directly_related", "directly_related"),
        ("Skeleton", (("convention", "paper"),)): ("directly_related", ""),
    }
    for (kind, settings), (tables, graphs) in wanted.items():
        task = causalbench(kind, networks=["asia", "cancer"], **dict(settings))
        names = {f"graphs/{n}/{t}.csv" for n in ("asia", "cancer") for t in tables.split()}
        names |= {f"graphs/{n}/{t}.graphml" for n in ("asia", "cancer") for t in graphs.split()}
        assert set(task.summarize(records(task)).files) == names


@pytest.mark.parametrize("name", ["asia", "sachs", "win95pts"])
def test_graphml_says_the_same_as_the_answers(name, tmp_path):
    task = causalbench("Causality", networks=name)
    found = records(task, lambda item: "Yes" if item.labels["paper"] and "asia" not in item.id.split("/")[2:] else "No")
    result = task.summarize(found)
    graph = graph_of(result.files[f"graphs/{name}/cause.graphml"], tmp_path)
    assert graph.is_directed() and list(graph.nodes) == list(load(name).variables)
    assert set(graph.edges) == {(a, b) for a, b in edges(load(name)) if "asia" not in (a, b)}
    if name == "asia":
        assert graph.degree("asia") == 0


def test_graphml_of_the_skeleton_is_undirected(tmp_path):
    task = causalbench("Skeleton", networks="asia")
    graph = graph_of(task.summarize(records(task)).files["graphs/asia/directly_related.graphml"], tmp_path)
    assert not graph.is_directed() and len(graph) == 8
    assert {frozenset(edge) for edge in graph.edges} == {frozenset(edge) for edge in edges(load("asia"))}


def test_the_skeletons_table_has_a_cell_for_the_direction_that_was_asked():
    task = causalbench("Skeleton", networks="asia")
    _, cells = table_of(task.summarize(records(task)).files["graphs/asia/directly_related.csv"])
    asked = {tuple(item.id.split("/")[2:]) for item in task.items() if "/directly_related/" in item.id}
    for (a, b), cell in cells.items():
        assert (cell in "01" and cell != "") == ((a, b) in asked or a == b)
    assert sum(cell == "1" for cell in cells.values()) == 8


def test_what_was_not_asked_is_an_empty_cell():
    task = causalbench("Correlation", networks="asia", kind="indirect")
    _, cells = table_of(task.summarize(records(task)).files["graphs/asia/related.csv"])
    together = {pair for a, b in edges(load("asia")) for pair in ((a, b), (b, a))}
    for (a, b), cell in cells.items():
        assert (cell == "") == ((a, b) in together)


# Parts of the questions


@pytest.mark.parametrize(("kind", "settings"), [("Correlation", {}), ("Causality", {}), ("Causality", {"method": 2})])
def test_under_a_limit_there_are_no_numbers_of_the_papers(kind, settings):
    task = causalbench(kind, networks=["asia", "cancer"], limit=150, **settings)
    result = task.summarize(records(task, some()))
    for groups in result.scores["paper"].values():
        for row in groups.values():
            assert set(values(row)) == set(PAPERS) and set(values(row).values()) == {None}
    assert result.scores["exact"]["overall"]["all"]["accuracy"] is not None
    assert result.scores["exact"]["overall"]["all"].items == 150


def test_a_run_that_was_cut_short_has_the_papers_numbers_of_whole_networks_only():
    task = causalbench("Causality", networks=["asia", "cancer"])
    whole = records(task, some())
    cut = [one for one in whole if one.item != "cancer/influence/Smoker/Xray"]
    assert len(cut) == len(whole) - 1
    paper = task.summarize(cut).scores["paper"]
    assert values(paper["network"]["asia"]) == values(task.summarize(whole).scores["paper"]["network"]["asia"])
    assert None not in values(paper["network"]["asia"]).values()
    for row in (paper["network"]["cancer"], paper["network/template"]["cancer/influence"], paper["overall"]["all"]):
        assert set(values(row).values()) == {None}
    assert paper["network/template"]["cancer/cause"]["macro_f1"] is not None
    exact = task.summarize(cut).scores["exact"]["network/template"]
    assert exact["cancer/influence"]["shd"] is None and exact["cancer/cause"]["shd"] is not None


@pytest.mark.parametrize(("kind", "there"), [("all", True), ("direct", False), ("indirect", False)])
def test_the_papers_numbers_need_every_pair_and_not_those_of_a_kind(kind, there):
    task = causalbench("Correlation", networks="asia", kind=kind)
    paper = task.summarize(records(task, some(9))).scores["paper"]["network/template"]["asia/related"]
    assert (paper["macro_f1"] is not None) == there


def test_a_limit_that_takes_every_question_leaves_the_papers_numbers():
    for limit, there in ((99, False), (100, True)):
        task = causalbench("Causality", networks="cancer", limit=limit)
        paper = task.summarize(records(task, some(9))).scores["paper"]["overall"]["all"]
        assert (paper["macro_f1"] is not None) == there


# Readings


def test_the_papers_reading_takes_yes_and_no_alone():
    texts = {
        "asia/cause/asia/tub": "Yes, they are.",  # an edge
        "asia/cause/smoke/lung": "Yes.",  # an edge
        "asia/cause/smoke/bronc": " Yes\n",  # an edge
        "asia/cause/tub/asia": "No, it does not.",
        "asia/cause/lung/smoke": "No.",
    }
    task = causalbench("Causality", networks="asia")
    found = records(task, except_for(texts, lambda item: "Yes" if item.labels["paper"] else "No"))
    scores = task.summarize(found).scores
    exact = scores["direct"]["network/template"]["asia/cause"]
    assert exact["accuracy"] == 1 and exact.unreadable == 0
    _, true, _ = matrices("asia")
    codes, names = true.copy(), load("asia").variables
    codes[names.index("asia"), names.index("tub")] = codes[names.index("tub"), names.index("asia")] = 2
    paper = scores["paper"]["network/template"]["asia/cause"]
    assert paper["cell_accuracy"] == 62 / 64 and paper["cell_shd"] == 2 and paper["parent_set_errors"] == 2
    assert paper["macro_f1"] == pytest.approx(f1_score(true.ravel(), codes.ravel(), average="macro"))
    assert paper["cell_density"] == 9 / 56 and paper["degree"] == 7 / 8


@pytest.mark.parametrize("how", ["rank", "entail"])
def test_ranked_and_entailed_answers_count_by_their_label_in_both(how):
    def says(item: Item) -> Response:
        low, high = (-0.1, -2.5) if item.labels["paper"] else (-2.5, -0.1)
        if how == "rank":
            return Response("ranked", logprobs={"Yes": low, "No": high})
        return Response("entailment", logprobs={"entailment": low, "neutral": high, "contradiction": -9.0})

    task = causalbench("Causality", networks="asia", method=2)
    scores = task.summarize(records(task, says)).scores
    row = scores["paper"]["network/structure"]["asia/direct"]
    assert (row["macro_f1"], row["cell_accuracy"], row["cell_shd"]) == (1, 1, 0)
    assert scores["exact"]["network/structure"]["asia/direct"]["f1"] == 1
    assert scores["exact"]["network/structure"]["asia/direct"]["auroc"] == 1


def test_a_tie_of_a_ranking_is_unreadable_in_both():
    task = causalbench("Causality", networks="cancer", method=2)
    found = records(task, lambda item: Response("Yes", logprobs={"Yes": -1.0, "No": -1.0}))
    scores = task.summarize(found).scores
    assert scores["exact"]["overall"]["all"].unreadable == 120
    assert scores["paper"]["overall"]["all"]["cell_accuracy"] == pytest.approx(1 / 5)


# The skeleton by the published rule


def test_the_published_skeletons_numbers_are_over_its_questions():
    task = causalbench("Skeleton", networks=["asia", "survey", "sachs"], convention="paper")
    said = ("Yes, indeed.", MISSED)
    found = records(task, some(11, said))
    result = task.summarize(found)
    paper = result.scores["paper"]

    def metrics(chosen: list[Record]) -> dict:
        there = [one for one in chosen if not isinstance(one.outcome, Failure)]
        gold = [one.labels["paper"] for one in there]
        codes = [{"Yes": 1, "No": 0}.get(one.outcome.text, 2) for one in there]
        return {"macro_f1": f1_score(gold, codes, average="macro"), "accuracy": accuracy_score(gold, codes)}

    of = {name: metrics([o for o in found if o.cluster == name]) for name in ("asia", "survey", "sachs")}
    for name, wanted in of.items():
        assert values(paper["network"][name]) == pytest.approx(wanted)
    cells = defaultdict(list)
    for one in found:
        cells[one.groups["network"], one.groups["template"]].append(one)
    for (name, template), chosen in cells.items():
        assert values(paper["network/template"][f"{name}/{template}"]) == pytest.approx(metrics(chosen))
    for metric in ("macro_f1", "accuracy"):
        assert result.overall[metric] == pytest.approx(fmean(row[metric] for row in of.values()))
    assert result.scores["exact"]["overall"]["all"]["f1"] is not None


def test_always_yes_on_the_published_skeleton():
    # Zhou et al.'s rule: 84 of asia's 156 questions have the answer Yes, all of cancer's.
    task = causalbench("Skeleton", networks=["asia", "cancer"], convention="paper")
    paper = task.summarize(records(task, lambda item: "Yes")).scores["paper"]["network"]
    assert paper["asia"]["accuracy"] == 84 / 156
    assert paper["asia"]["macro_f1"] == pytest.approx((168 / 240) / 2)
    assert paper["cancer"]["macro_f1"] == paper["cancer"]["accuracy"] == 1


def test_any_sample_of_the_published_skeleton_has_the_same_metrics():
    for limit in range(1, 6):
        task = causalbench("Skeleton", networks="cancer", convention="paper", limit=limit)
        row = task.summarize(records(task)).overall
        assert set(values(row)) == {"macro_f1", "accuracy"}, limit


# Results


@pytest.mark.parametrize(("kind", "settings"), [*FIVE, ("Causality", {"limit": 50}), ("Causality", {"seed": 1})])
def test_a_result_survives_its_file(kind, settings):
    task = causalbench(kind, networks=["asia", "cancer"], **settings)
    result = task.summarize(records(task, some(1, ("Well.", MISSED))))
    back = result_from_json(json.loads(json.dumps(result_json(result))))
    assert result_tables(back) == result_tables(result) and remarks(back) == remarks(result)
    assert result_json(back) == result_json(result)


def test_the_tables_show_the_headline_and_the_papers_numbers_beside():
    task = causalbench("Causality", networks=["asia", "cancer"])
    result = task.summarize(records(task, some(1)))
    shown = markdown(result_tables(result))
    first, second = shown.split("\n\n")
    assert first.startswith("| exact labels") and second.startswith("| paper labels")
    assert "SHD" in first and "SID" in first and "parent set errors" in second and "macro F1" in second
    for row in ("| all ", "| mean of networks ", "| network: asia ", "| template: cause ", "| scale: small "):
        assert row in first
    assert "asia/cause" not in shown
    turned = causalbench("Causality", networks=["asia", "cancer"], convention="paper")
    assert markdown(result_tables(turned.summarize(records(turned, some(1))))).startswith("| paper labels")


@pytest.mark.parametrize(("kind", "settings"), [*FIVE, ("Chains", {})])
def test_no_records_at_all(kind, settings):
    task = causalbench(kind, **settings)
    result = task.summarize([])
    assert result.headline == task.headline and result.overall.items == 0 and not result.files
    assert set(values(result.overall).values()) == {None}
    result_tables(result)


# Chains


def test_the_longest_chain_has_every_shorter_one_right():
    assert longest({3: True, 4: True, 5: True}) == 5
    assert longest({3: True, 4: False, 5: True}) == 3
    assert longest({5: True, 3: True, 4: False, 26: True}) == 3
    assert longest({3: False, 4: True}) == 0
    assert longest({6: True, 9: True}) == 9
    assert longest({}) is None


def chains(says, **settings):
    task = causalbench("Chains", **settings)
    return task.summarize(records(task, says)).scores["exact"]


def test_perfect_answers_to_chains():
    scores = chains(right)
    assert scores["overall"]["all"]["f1"] == 1 and scores["overall"]["all"]["longest_chain"] == 26
    assert {kind: row["longest_chain"] for kind, row in scores["kind"].items()} == {
        "chain": 26,
        "reversed": 24,
        "broken": 25,
        "shuffled": 26,
    }
    assert list(scores["length"]) == [str(length) for length in range(3, 27)]
    assert all(row.items == 2 and row["accuracy"] == 1 for row in scores["length"].values())
    assert "longest_chain" not in values(scores["length"]["3"])


@pytest.mark.parametrize(("hole", "letters"), [("No", 10), ("Could be.", 10), (MISSED, None)])
def test_the_longest_chain_ends_before_the_first_that_was_not_right(hole, letters):
    scores = chains(except_for({"chain/11": hole}))
    assert scores["kind"]["chain"]["longest_chain"] == letters == scores["overall"]["all"]["longest_chain"]
    assert scores["kind"]["reversed"]["longest_chain"] == 24
    assert (scores["overall"]["all"].failed, scores["overall"]["all"].unreadable) == (
        int(hole is MISSED),
        int(hole == "Could be."),
    )


def test_a_failed_call_after_the_first_wrong_answer_changes_no_length():
    scores = chains(except_for({"chain/11": "No", "chain/12": MISSED}))
    assert scores["kind"]["chain"]["longest_chain"] == 10


def test_a_model_that_always_says_yes_is_no_good_at_chains():
    scores = chains(lambda item: "Yes")
    assert scores["kind"]["chain"]["accuracy"] == 1 and scores["kind"]["chain"]["longest_chain"] == 26
    assert scores["overall"]["all"]["accuracy"] == 0.5 and scores["overall"]["all"]["longest_chain"] == 0


def test_chains_of_a_probability_have_an_answer_as_well():
    found = chains(lambda item: Response("x", logprobs={"Yes": -1.0 - (1 - item.labels["exact"]), "No": -1.5}))
    assert found["overall"]["all"]["accuracy"] == 1 and found["overall"]["all"]["auroc"] == 1
