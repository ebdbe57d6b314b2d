"""CausalBench's graphs in the page: edges mean what the questions mean, so that they come to the same F1."""

from __future__ import annotations

import shutil

import pytest
from support.page_help import run

from harness.report.chunks import graphs
from harness.storage.runs import load

NETWORKS = "task.networks=[asia,cancer]"


@pytest.fixture(scope="module", params=["causality method=2", "causality method=1", "correlation", "skeleton"])
def finished_run(request, tmp_path_factory):
    task, *settings = request.param.split()
    folder = tmp_path_factory.mktemp("runs")
    overrides = [f"task.{setting}" for setting in settings]
    run(folder, "model=random_uniform", f"task=causalbench/{task}", NETWORKS, *overrides)
    return load(next(folder.rglob("result.json")).parent)


def test_edges_come_to_the_scores(finished_run):
    networks = graphs(finished_run)["networks"]
    assert list(networks) == ["asia", "cancer"]
    for network, graph in networks.items():
        nodes = range(len(graph["nodes"]))
        assert len(graph["edges"]) == {"asia": 8, "cancer": 4}[network]
        for name, template in graph["templates"].items():
            yes, true = ({tuple(edge) for edge in template[part]} for part in ("yes", "true"))
            assert all(a in nodes and b in nodes and a != b for a, b in yes | true) and not template["lost"]
            if template["directed"] or name == "directly_related":  # elsewhere a pair is asked about twice
                assert template["f1"] == pytest.approx(2 * len(yes & true) / (len(yes) + len(true)))
            if not template["directed"]:
                assert all(a < b for a, b in yes | true)
            if name == "cause":
                assert template["shows"] == "directed paths of any length" and len(true) > len(graph["edges"])
            if name == "directly_related":
                assert template["shd"] == len(yes ^ true)
            if name in ("direct", "reversed_direct"):
                assert true == {tuple(edge) for edge in graph["edges"]}


def test_lost_graphs_come_from_the_records(finished_run, tmp_path):
    shutil.copytree(finished_run.folder, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "graphs")
    assert graphs(load(tmp_path / "run")) == graphs(finished_run)


def test_unreadable_and_failed_answers_are_lost_edges(finished_run, tmp_path):
    shutil.copytree(finished_run.folder, folder := tmp_path / "run")
    name, first = next((n, t) for n, t in graphs(finished_run)["networks"]["cancer"]["templates"].items())
    text = (folder / "graphs" / "cancer" / f"{name}.csv").read_text()
    rows = [line.split(",") for line in text.splitlines()]
    for row, column, what in ((1, 2, "unreadable"), (2, 1, "unreadable"), (3, 5, "failed"), (5, 3, "failed")):
        rows[row][column] = what
    (folder / "graphs" / "cancer" / f"{name}.csv").write_text("\n".join(map(",".join, rows)))
    lost = graphs(load(folder))["networks"]["cancer"]["templates"][name]["lost"]
    both = [[0, 1, "unreadable"], [1, 0, "unreadable"], [2, 4, "failed"], [4, 2, "failed"]]
    assert sorted(lost) == sorted(both if first["directed"] else [both[0], both[2]])
