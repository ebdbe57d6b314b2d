"""The charts: a mark for each number, the same numbers as a table, details by pointer and by keyboard."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from facts import Runs, address, page_data
from moving import wait_for_view
from playwright.sync_api import expect
from support.thinned import few

pytestmark = pytest.mark.browser

# What each figure draws and what its table says; by the figure's id.
FIGURES = """() => Object.fromEntries([...document.querySelectorAll("main figure")].map((figure) => {
  figure.querySelector("details").open = true;
  return [figure.id, figure];
}).map(([id, figure]) => [id, [...figure.querySelectorAll("a")].filter((one) => !one.closest("details"))]
).map(([id, links]) => [id, {
  links: links.map((one) => one.getAttribute("aria-label")),
  stops: links.filter((one) => one.getAttribute("tabindex") === "0").length,
}]))"""
ALL = "(part) => [...document.querySelectorAll('main figure')].every((one) => one.querySelector(part))"
NUMBERS = """() => Object.fromEntries([...document.querySelectorAll("main figure")].map((figure) => [
  figure.id,
  [...figure.querySelectorAll("details tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent.trim())),
]))"""


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f}"


def score(value: float | None, interval: list[float] | None) -> str:
    return percent(value) + (f" [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]" if interval else "")


def table_of(chart: dict) -> list[list[str]]:
    """Return the rows that stand under a chart."""
    rows = []
    for row in chart["rows"]:
        kind, cells = chart["kind"], []
        if kind == "scores":
            cells = [score(row["value"], row["interval"]), f"{row['items']:,}", f"{row['clusters']:,}"]
        elif kind == "heat":
            values = [(cell and cell["values"]["f1"], cell and cell["intervals"].get("f1")) for cell in row["cells"]]
            cells = [score(*pair) for pair in values]
        elif kind == "confusion":
            names = "tp fn unreadable_positive failed_positive tn fp unreadable_negative failed_negative"
            cells = [f"{row['counts'][name]:,}" for name in names.split()]
        elif kind == "robustness":
            cells = [score(point["value"], point["interval"]) if point else "–" for point in row["points"]]
        elif kind == "cost":
            cells = [None, score(row["value"], row["interval"])]
        elif kind == "scale":
            cells = [score(*pair) for pair in zip(row["values"], row["intervals"], strict=True)]
        elif kind == "reliability":
            for one in row["bins"]:
                shares = [percent(one["predicted"]), score(one["observed"], one["interval"])]
                rows.append([row["label"], *shares, f"{one['items']:,}", f"{one['clusters']:,}"])
            continue
        rows.append([row["label"], *cells])
    return rows


def marks_of(chart: dict) -> int:
    rows = chart["rows"]
    if chart["kind"] == "heat":
        return len(rows) * len(chart["columns"])
    if chart["kind"] == "robustness":
        return sum(point is not None and point["value"] is not None for row in rows for point in row["points"])
    if chart["kind"] == "scale":
        return sum(value is not None for row in rows for value in row["values"])
    if chart["kind"] == "reliability":
        return sum(len(row["bins"]) for row in rows)
    return len(rows)


@pytest.mark.parametrize("task", few(["corr2cause", "causalbench/causality"], 1))
def test_marks_and_tables_have_every_number(open_page, report: Path, task: str) -> None:
    page = open_page(address("charts", task=task))
    charts = charts_of(report, task)
    sets = page.get_by_role("combobox", name="Runs", exact=True)
    seen = set()
    for place in range(sets.locator("option").count() if sets.count() else 1):
        if sets.count():
            sets.select_option(index=place)
        page.wait_for_function(ALL, arg=".drawing > *")
        figures = page.evaluate(FIGURES)
        page.wait_for_function(ALL, arg="details tr")
        numbers = page.evaluate(NUMBERS)
        for chart in charts:
            name = "chart-" + re.sub(r"\W+", "-", chart["id"])
            if name not in figures:
                continue
            seen.add(chart["id"])
            figure = figures[name]
            assert len(figure["links"]) == marks_of(chart), chart["id"]
            assert figure["stops"] == 1, "a chart is one stop of the tab key"
            assert all(figure["links"]), "each mark says what it is"
            for cells, expected in zip(numbers[name], table_of(chart), strict=True):
                assert [a for a, b in zip(cells, expected, strict=True) if b is not None and a != b] == [], chart["id"]
    assert seen == {chart["id"] for chart in charts if chart.get("metric", "f1") == "f1"}
    assert {chart["kind"] for chart in charts} >= {"scores", "heat", "confusion", "cost"}
    assert task != "corr2cause" or "reliability" in {chart["kind"] for chart in charts}


def test_details_by_pointer_and_by_keyboard(open_page, runs: Runs) -> None:
    run = runs.get("org/hasty")
    page = open_page(address("charts", task="corr2cause"))
    sets = page.get_by_role("combobox", name="Runs", exact=True)
    sets.select_option(label=sets.locator("option", has_text="sample of 80").first.text_content())
    figure = page.get_by_role("figure", name="F1 by model")
    mark, tip = figure.get_by_role("link", name="org/hasty"), page.get_by_role("tooltip")
    expect(tip).to_have_count(0)
    mark.hover()
    expect(tip).to_be_visible()
    f1 = run.scores["f1"]
    expect(tip).to_contain_text(f"{100 * f1:.2f}")
    page.mouse.move(2, 2)
    expect(tip).to_be_hidden()
    figure.get_by_role("link").first.focus()
    expect(tip).to_be_visible()
    first = tip.text_content()
    page.keyboard.press("ArrowDown")
    expect(figure.get_by_role("link").nth(1)).to_be_focused()
    assert tip.text_content() != first
    box, width = tip.bounding_box(), page.viewport_size["width"]
    assert box["x"] >= 0 and box["x"] + box["width"] <= width
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.keyboard.press("End")
    page.keyboard.press("Home")
    mark.focus()
    page.keyboard.press("Enter")
    wait_for_view(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("org/hasty")


def charts_of(report: Path, task: str) -> list[dict]:
    """Return the charts of a task, as the page has them."""
    return [chart for chart in page_data(report)["charts"] if chart["task"] == task]
