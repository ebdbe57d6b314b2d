"""Runs of language models beside algorithms in harness league: a row each, and a horizontal line in the figure."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import gadjid
import pytest
from support.causalbench_help import last
from support.openai_server import chat_reply

from harness.api import discover, evaluate
from harness.causal.dag import bits
from harness.causal.learned_graph import Pattern
from harness.plugins.discovery.league import LeagueSettings, job
from harness.plugins.discovery.league_rows import entries_of
from harness.scoring.patterns import codes
from harness.tasks.causalbench.networks import load

NETWORKS = ("asia", "cancer")
EDGES = {
    (network.variables[u], network.variables[v])
    for network in map(load, NETWORKS)
    for v, above in enumerate(network.dag)
    for u in bits(above)
}


def knows(path, body, number):
    """Reply as one who knows all causes, without background those of smoke not, and who once says neither."""
    words = last(body)
    cause, effect = re.search(r"(?i)does (\w+) directly cause the (\w+)\?", words).groups()
    right = (cause, effect) in EDGES and (cause != "smoke" or "background knowledge" in words)
    return chat_reply("Hm." if (cause, effect) == ("dysp", "asia") else "Yes" if right else "No")


@pytest.fixture
def runs(serve, key, tmp_path):
    server = serve(knows)
    asked = {"task.method": 2, "task.structure": "direct", "model.base_url": server.url}
    settings = {"networks": list(NETWORKS), "results": str(tmp_path / "runs")}
    forms = ("variable_name", "background")
    models = [evaluate("gpt4", "causalbench/causality", format=form, **settings, **asked) for form in forms]
    learned = [discover("hc", NETWORKS, samples=rows, results=settings["results"]) for rows in (100, 300)]
    return [*models, *learned]


def test_a_model_with_an_unreadable_reply_has_a_row_with_the_distances_of_its_graphs(runs):
    plain, background = (entries_of([run])[0] for run in runs[:2])
    (entry,) = plain
    assert (entry.role, entry.networks, entry.samples) == ("model", NETWORKS, None)
    asia = load("asia")
    smoke = asia.variables.index("smoke")
    named = Pattern.of(tuple(above & ~(1 << smoke) for above in asia.dag))
    expected = gadjid.parent_aid(codes(Pattern.of(asia.dag)), codes(named), edge_direction="from row to column")[1]
    ((of_dag,),) = (of.values() for of in entries_of(runs[:1], truth="dag")[0].values())
    assert of_dag["asia"].values["parent_aid"] == expected > 0
    ((graphs,),) = (of.values() for of in background.values())
    assert {scores.values["class_shd"] for scores in graphs.values()} == {0}


def test_each_run_of_a_model_is_a_horizontal_line_with_a_name_of_its_own(runs, tmp_path):
    chart = tmp_path / "league.svg"
    (table, *_) = job([str(tmp_path / "runs")], LeagueSettings(chart=str(chart)))
    assert [line.cells[0].value.split(" · ")[0] for line in table.lines].count("gpt4") == 2
    drawing = chart.read_text()
    for label in ("gpt4", "gpt4 (format=background)", "hc"):
        assert f"<!-- {label} -->" in drawing
    dashed = [
        path.get("d")
        for path in ElementTree.fromstring(drawing).iter("{http://www.w3.org/2000/svg}path")
        if "stroke-dasharray" in (path.get("style") or "") and path.get("clip-path")
    ]
    heights = [{float(y) for y in re.findall(r"[ML] \S+ (\S+)", line)} for line in dashed]
    assert len(heights) == 2 * 2 and all(len(ys) == 1 for ys in heights)  # two models in each of two frames
    assert heights[0] != heights[1] and heights[2] != heights[3]
