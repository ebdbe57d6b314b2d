"""Differences between runs, folds of small breakdowns, and names that are whole on a narrow screen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from facts import Runs, address
from moving import wait_for_view
from playwright.sync_api import Page

from harness.compare.__main__ import main as compare
from harness.leaderboard.__main__ import main as leaderboard

pytestmark = pytest.mark.browser

SECTIONS = """() => Object.fromEntries([...document.querySelectorAll("main section")].map((one) => [
  one.querySelector("h2").textContent,
  [...one.querySelectorAll("tr")].map((row) => [...row.cells].map((cell) =>
    cell.innerText.replace(/\\s+/g, " ").trim())),
]))"""


def sections(page: Page) -> dict[str, list[list[str]]]:
    """Return the rows of each table in sight, the head first, by its heading."""
    return page.evaluate(SECTIONS)


def test_the_table_that_a_sweep_over_one_setting_ends_with(open_page, pages_folder, capsys) -> None:
    assert leaderboard([str(pages_folder / "runs/corr2cause"), "by=perturbation", "format=json", "out=-"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    (table,) = [table for table in tables if table["columns"]]
    columns = [column for column in table["columns"] if not column["in_caption"]]
    texts = [
        [row[column["name"]]["text"] if column["kind"] == "metric" else row[column["name"]] for column in columns]
        for row in table["rows"]
    ]
    assert any("+" in text for row in texts for text in row), "some difference has an interval"
    page = open_page(address("differences", task="corr2cause"))
    head, *rows = sections(page)[table["heading"]]
    assert head == [column["title"] for column in columns]
    assert rows == texts
    page.get_by_role("region", name=table["heading"]).get_by_role("button", name="model").click()
    names = [row[0] for row in sections(page)[table["heading"]][1:]]
    assert names == sorted(names), "its columns sort"


def test_models_on_the_same_items_beside_the_best(open_page, runs: Runs, tmp_path: Path) -> None:
    best, other = (runs.get(f"org/{name}") for name in ("hasty", "careful"))
    out = tmp_path / "comparison.json"
    assert compare([str(best.folder), str(other.folder), f"out={out}"]) == 0
    row = json.loads(out.read_text())["tables"][0]["rows"][0]
    assert row["metric"] == "f1"
    page = open_page(address("differences", task="corr2cause"))
    head, first, second = sections(page)["Models, a sample of 80"]
    assert head == ["model", "F1", "− best", "p"]
    assert (first[0], first[2:]) == ("org/hasty", ["–", "–"])
    assert (second[0], second[2:]) == ("org/careful", [row["difference"]["text"], row["p"]["text"]])
    page.get_by_role("region", name="Models, a sample of 80").get_by_role("link", name="org/careful").click()
    wait_for_view(page)
    assert address("run", other.id) in page.url, "a model leads to its run"
