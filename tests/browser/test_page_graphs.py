"""The true graph of a network beside those that were answered."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from facts import Run, Runs, address
from moving import wait_for_view
from playwright.sync_api import Page, expect
from support.thinned import few

from harness.tasks.causalbench.networks import load

pytestmark = pytest.mark.browser

KINDS = {
    "agree": "in both",
    "reversed": "the other way round",
    "missing": "missing",
    "extra": "extra",
    "lost": "no answer read",
}
PANELS = """() => [...document.querySelectorAll("main figure")].map((figure) => ({
  name: figure.querySelector("strong").textContent, said: figure.querySelector("figcaption").textContent,
  edges: [...figure.querySelectorAll(".edge title")].map((one) => one.textContent),
  nodes: [...figure.querySelectorAll(".node")].map((one) => one.textContent),
}))"""
LINE = """(edge) => { const path = edge.querySelector("path"), style = getComputedStyle(path);
  return [style.stroke, style.strokeDasharray, style.strokeWidth]; }"""
WHY = {"unreadable": "unreadable", "failed": "failed call", "": "not asked"}
Edges = dict[str, set[tuple[str, str]] | dict[tuple[str, str], str]]


def truth(network: str) -> set[tuple[str, str]]:
    net = load(network)
    return {
        (net.variables[u], b) for b, up in zip(net.variables, net.dag, strict=True) for u in range(64) if up >> u & 1
    }


def directed(run: Run, network: str, template: str) -> Edges:
    """Return what became of each edge, by the table of answers and the network; reversed_… turns the edges."""
    turned = template.startswith("reversed")
    cells = {(b, a) if turned else (a, b): cell for (a, b), cell in run.sheet(network, template).items()}
    real, yes = truth(network), {pair for pair, cell in cells.items() if cell == "1"}
    turn = {(b, a) for a, b in real - yes} & yes
    unsaid = {(a, b) for a, b in real - yes if (b, a) not in yes}
    lost = {pair: cells[pair] for pair in unsaid if cells[pair] in WHY}
    missing = unsaid - set(lost)
    return {"agree": yes & real, "reversed": turn, "missing": missing, "extra": yes - real - turn, "lost": lost}


def undirected(run: Run, network: str, template: str) -> Edges:
    order = {name: place for place, name in enumerate(load(network).variables)}
    pair = lambda a, b: (a, b) if order[a] < order[b] else (b, a)  # noqa: E731
    cells = run.sheet(network, template)
    real, yes = {pair(*edge) for edge in truth(network)}, {pair(*edge) for edge, cell in cells.items() if cell == "1"}
    lost = {
        (a, b): next((why for why in answers if why in ("unreadable", "failed")), "")  # asked in one order is asked
        for a, b in real - yes
        if (answers := [cells[a, b], cells[b, a]]) == ["", ""] or {*answers} & {"unreadable", "failed"}
    }
    missing = real - yes - set(lost)
    return {"agree": yes & real, "reversed": set(), "missing": missing, "extra": yes - real, "lost": lost}


def titles(edges: Edges, sign: str) -> set[str]:
    """Return what edges are called; lost ones with the reason that the tables of answers have."""
    return {
        f"{a} {sign} {b}: {KINDS[kind]}{f' ({WHY[pairs[a, b]]})' if kind == 'lost' else ''}"
        for kind, pairs in edges.items()
        for a, b in pairs
    }


def question(page: Page, template: str) -> None:
    page.get_by_role("combobox", name="Question").select_option(template)
    wait_for_view(page)


def graph_run(runs: Runs, model: str, **where: str) -> Run:
    return runs.get(model, **({"task": "causalbench/causality"} | where))


@pytest.mark.parametrize(
    ("model", "task", "template", "of", "sign"),
    few(
        [
            ("org/hasty", "causality", "direct", directed, "→"),
            ("org/hasty", "causality", "reversed_direct", directed, "→"),
            ("random_uniform", "skeleton", None, undirected, "–"),
            ("always_yes", "causality", "direct", directed, "→"),
        ],
        2,
    ),
)
def test_edges_are_those_of_the_answers(
    open_page, runs: Runs, model: str, task: str, template: str | None, of: Callable[..., Edges], sign: str
) -> None:
    variant = {"skeleton": {"variant": "networks=asia+cancer"}}.get(task, {})
    run = graph_run(runs, model, task=f"causalbench/{task}", **variant)
    if template is None:
        template = next((run.folder / "graphs" / "asia").glob("*.csv")).stem
    page = open_page(address("graphs", run.id, "asia", template=template))
    expect(page.get_by_role("heading", level=1)).to_have_text("asia: true and answered graph")
    edges = of(run, "asia", template)
    true, answered = page.evaluate(PANELS)
    real = {tuple(sorted(edge)) if sign == "–" else edge for edge in truth("asia")}
    true_edges = {tuple(title.split(f" {sign} ")) for title in true["edges"]}
    assert {tuple(sorted(edge)) if sign == "–" else edge for edge in true_edges} == real
    assert true["nodes"] == answered["nodes"] == list(load("asia").variables)
    assert set(answered["edges"]) == titles(edges, sign) and len(answered["edges"]) == len(titles(edges, sign))
    for kind, words in KINDS.items():
        assert (f"· {len(edges[kind])} {words}" in answered["said"]) == bool(edges[kind]), answered["said"]

    page.get_by_text("Only what differs").click()
    wait_for_view(page)
    _, panel = page.evaluate(PANELS)
    different = titles({kind: edges[kind] for kind in KINDS if kind != "agree"}, sign)
    assert set(panel["edges"]) == different and f"· {len(edges['agree'])} in both" in panel["said"]
    page.get_by_text(f"What differs: {model}, {len(different)} edges").click()
    rows = page.get_by_role("region", name=f"Differences of {model}").get_by_role("row").all_text_contents()
    assert sorted(rows[1:]) == sorted(edge.replace(": ", "") for edge in different)


def test_choosers_and_the_way_back(open_page, runs: Runs) -> None:
    hasty, yes = graph_run(runs, "org/hasty"), graph_run(runs, "always_yes")
    page = open_page(address("graphs", hasty.id, "asia"))
    page.get_by_role("combobox", name="Beside").select_option(yes.id)
    expect(page.get_by_role("img", name="Graph of always_yes on asia")).to_be_visible()
    page.get_by_role("combobox", name="Network").select_option("cancer")
    expect(page.get_by_role("heading", name="cancer: true and answered graph")).to_be_visible()
    assert [panel["name"] for panel in page.evaluate(PANELS)] == ["True graph", "org/hasty", "always_yes"]
    question(page, "common_cause")
    there = page.url
    assert f"{address('graphs', hasty.id, 'cancer')}?" in there and "template=common_cause" in there
    page.reload()
    wait_for_view(page)
    assert page.url == there and page.get_by_role("combobox", name="Question").input_value() == "common_cause"
    page.go_back()
    wait_for_view(page)
    assert page.get_by_role("combobox", name="Question").input_value() == "direct"
    page.get_by_role("combobox", name="Run").select_option(yes.id)
    expect(page.get_by_role("img", name="Graph of always_yes on cancer")).to_be_visible()  # once, not beside itself

    # One variable: its edges stay, the others fade.
    page.get_by_role("combobox", name="Variable").select_option("Cancer")
    edges = page.locator("main figure .edge").evaluate_all(
        "(all) => all.map((one) => [one.querySelector('title').textContent, Number(getComputedStyle(one).opacity)])"
    )
    assert {opacity for _, opacity in edges} == {1, 0.18}
    assert all(("Cancer" in title) == (opacity == 1) for title, opacity in edges)
    assert "node=Cancer" in page.url


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_kinds_of_edges_are_told_by_line_and_by_colour(open_page, runs: Runs, scheme: str) -> None:
    page = open_page(address("graphs", graph_run(runs, "org/hasty").id, "asia"), scheme=scheme)
    legend = page.get_by_role("list", name="Lines").get_by_role("listitem")
    assert [text.strip() for text in legend.all_text_contents()] == list(KINDS.values())
    lines = [tuple(element.locator(".edge").evaluate(LINE)) for element in legend.all()]
    assert len({colour for colour, *_ in lines}) == 5 and len({tuple(rest) for _, *rest in lines}) == 5
    edges_drawn = 0
    for kind, line in zip(KINDS, lines, strict=True):
        edge = page.locator("main figure .edge", has=page.locator(f"title:text-matches(': {KINDS[kind]}$')"))
        for element in edge.all()[:2]:
            edges_drawn += 1
            assert tuple(element.evaluate(LINE)) == line
    assert edges_drawn > 4


def test_of_a_complete_graph_the_first_edges_are_drawn(open_page, runs: Runs) -> None:
    run = graph_run(runs, "always_yes", variant="networks=alarm")
    page = open_page(address("graphs", run.id, "alarm", template="cause"))
    _, answered = page.evaluate(PANELS)
    cells = run.sheet("alarm", "cause").values()
    edges = sum(cell == "1" for cell in cells)
    assert edges == 37 * 36 and len(answered["edges"]) < edges
    assert sum(title.endswith(": extra") for title in answered["edges"]) == 600
    expect(page.get_by_text("Only the first 600 extra edges are drawn")).to_be_visible()
