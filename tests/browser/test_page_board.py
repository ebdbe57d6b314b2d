"""The leaderboard: sorted, filtered, with and without published numbers, and with the numbers of the runs."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from facts import Run, Runs, address
from moving import go, wait_for_address, wait_for_view
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

# Tables as they are in sight: where each row leads, and its cells by the title of their column.
TABLES = """() => [...document.querySelectorAll("main table.data")].map((table) => {
  const cells = [...table.tHead.rows[0].cells], heads = cells.map((one) => one.querySelector("button").firstChild.data);
  const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  return {
    caption: table.closest("section").querySelector(".above").innerText,
    heads, label: table.closest("[role=region]").getAttribute("aria-label"), published: !!table.closest("details"),
    sorts: Object.fromEntries(cells.map((one, k) => [heads[k], one.getAttribute("aria-sort")])),
    rows: rows.map((row) => ({
      href: (row.querySelector("a") || { hash: "" }).hash,
      ...Object.fromEntries([...row.cells].map((cell, k) => [heads[k], cell.innerText.trim()])),
      best: [...row.cells].map((cell, k) => cell.querySelector("strong") ? heads[k] : null).filter(Boolean),
    })),
  };
})"""
METRICS = {"F1": "f1", "precision": "precision", "recall": "recall", "accuracy": "accuracy"}


def tables(page: Page) -> list[dict]:
    """Return the measured tables."""
    return [table for table in page.evaluate(TABLES) if not table["published"]]


def number(cell: str) -> float | None:
    """Return the value of a cell, without its interval."""
    return None if cell.startswith("–") else float(cell.split()[0].replace(",", ""))


def said(caption: str, name: str) -> str:
    """Return the count that a caption says of all rows: 80 items, 13 positives, 12 clusters; none unreadable."""
    words = {"clusters": "(?:clusters?|pairs)", "unreadable": name, "failed": name}
    word = words.get(name, f"{name[:-1]}s?")
    (shown,) = re.findall(rf"([\d,]+|none) {word}\b", caption)
    return "0" if shown == "none" else shown


def run_of(row: dict, runs: Runs) -> Run:
    (match,) = [run for run in runs.all if row["href"] == address("run", run.id)]
    return match


def test_numbers_are_those_of_the_runs(open_page, runs: Runs) -> None:
    page = open_page(address("board"))
    seen = set()
    for task in ("corr2cause", "causalbench/causality", "causalbench/skeleton"):
        go(page, address("board", task=task))
        for table in tables(page):
            for row in table["rows"]:
                run = run_of(row, runs)
                seen.add(run.id)
                scores = run.scores
                for title, name in METRICS.items():
                    value = scores.get(name)
                    assert row[title].split()[0] == ("–" if value is None else f"{100 * value:.2f}"), (run.id, title)
                    ends = re.findall(r"\[(.*), (.*)\]", row[title])
                    there = scores.get("intervals", {}).get(name)
                    if ends:
                        assert ends == [tuple(f"{100 * end:.1f}" for end in there)], (run.id, title)
                    else:
                        assert there is None or name in ("precision", "recall") or scores["clusters"] < 6
                for name in ("items", "positives", "clusters", "unreadable", "failed"):
                    shown = row[name] if name in row else said(table["caption"], name)
                    assert int(shown.split()[0].replace(",", "")) == scores[name], (run.id, name)
            for title in METRICS:
                # Baselines and the reasoner are there to compare with: none is the best.
                values = [number(row[title]) if run_of(row, runs).compared else None for row in table["rows"]]
                numbers = [value for value in values if value is not None]
                best = {place for place, value in enumerate(values) if value is not None and value == max(numbers)}
                bold = {place for place, row in enumerate(table["rows"]) if title in row["best"]}
                assert bold == (best if len(set(numbers)) > 1 else set()), (table["label"], title)
    answered = {run.id for run in runs.all if run.scores["failed"] < run.scores["items"]}
    assert seen == {run.id for run in runs.all if run.result["complete"]} & answered


def test_numbers_are_rounded_as_in_the_tables(open_page) -> None:
    shares = [100 * n / whole for whole in (32, 64, 400, 8000, 20_000) for n in range(whole + 1)]
    values = [*shares, 0.125, 2.5, 1384.125, 98765.4375, 1.005, -0.375]
    texts = open_page(modules=True).evaluate(
        """async (all) => {
          const { formatNumber } = await import("/data/format.js");
          return [1, 2].map((decimals) => all.map((one) => formatNumber(one, decimals)));
        }""",
        values,
    )
    assert texts == [[f"{value:,.{decimals}f}" for value in values] for decimals in (1, 2)]


def test_sorted_by_click_and_by_key(open_page, runs: Runs) -> None:
    page = open_page(address("board", task="corr2cause"))
    label = max(tables(page), key=lambda table: len(table["rows"]))["label"]
    region = page.get_by_role("region", name=label, exact=True)

    def check(title: str, way: str) -> list[str]:
        (table,) = [table for table in tables(page) if table["label"] == label]
        assert table["sorts"] == {head: way if head == title else None for head in table["heads"]}
        values = [row[title] if title == "model" else number(row[title]) for row in table["rows"]]
        numbers = [value for value in values if value is not None]
        assert numbers == sorted(numbers, reverse=way == "descending") and len(set(numbers)) > 2
        assert values[len(numbers) :] == [None] * (len(values) - len(numbers)), "what is undefined stands last"
        return [row["href"] for row in table["rows"]]

    region.get_by_role("button", name="accuracy").click()
    first = check("accuracy", "descending")
    region.get_by_role("button", name="accuracy").click()
    assert check("accuracy", "ascending") == first[::-1]
    wait_for_address(page, "sort=accuracy&order=asc")
    region.get_by_role("button", name="model").focus()
    page.keyboard.press("Enter")
    check("model", "ascending")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "F1"
    page.keyboard.press("Space")
    check("F1", "descending")
    expect(page.get_by_role("status")).to_contain_text("Sorted by F1, descending.")
    region.get_by_role("button", name="precision").click()
    region.get_by_role("button", name="precision").click()
    values = check("precision", "ascending")
    wait_for_address(page, "sort=precision&order=asc")
    page.reload()
    wait_for_view(page)
    assert check("precision", "ascending") == values


def test_filtered(open_page, runs: Runs) -> None:
    page = open_page(address("board", task="corr2cause"))
    every = [row["href"] for table in tables(page) for row in table["rows"]]
    page.get_by_role("searchbox", name="Filter").fill("HASTY perturb")
    links = [unquote(row["href"]) for table in tables(page) for row in table["rows"]]
    expected = [run.id for run in runs.all if "hasty" in run.id and "perturbation" in run.id]
    assert sorted(links) == sorted(f"#/run/{run_id}" for run_id in expected) and len(links) == 2
    expect(page.get_by_text("0 of 6 rows.")).to_be_visible()
    page.get_by_role("combobox", name="Role").select_option("baseline")
    assert [row for table in tables(page) for row in table["rows"]] == []
    page.get_by_role("searchbox", name="Filter").fill("")
    links = [unquote(row["href"]).rpartition("/")[2] for table in tables(page) for row in table["rows"]]
    assert sorted(links) == ["always_no", "hypothesis_only", "random_uniform"]
    page.wait_for_url(lambda url: url.endswith(address("board", task="corr2cause", role="baseline")))
    there, tables_before = page.url, tables(page)
    page.reload()
    wait_for_view(page)
    assert page.url == there and tables(page) == tables_before
    page.get_by_role("combobox", name="Role").select_option("all")
    assert [row["href"] for table in tables(page) for row in table["rows"]] == every

    page.locator("summary", has_text="Columns").click()
    page.get_by_role("checkbox", name="recall").uncheck()
    page.keyboard.press("Escape")
    assert all("recall" not in table["heads"] and "F1" in table["heads"] for table in tables(page))
    page.get_by_role("combobox", name="Broken down by").select_option(label="relation")
    run = runs.get("org/hasty")
    row = next(row for table in tables(page) for row in table["rows"] if row["href"] == address("run", run.id))
    by_relation = run.result["scores"]["published"]["relation"]
    for relation, scores in by_relation.items():
        assert row[relation].split()[0] == ("–" if scores["f1"] is None else f"{100 * scores['f1']:.2f}"), relation


def test_published_numbers_are_asked_for_and_set_apart(open_page) -> None:
    page = open_page(address("board", task="corr2cause"))
    section = page.get_by_role("region", name="Published numbers")
    expect(section).to_have_count(0)
    measured = tables(page)
    page.get_by_text("Published numbers").click()
    expect(section.get_by_role("table", name="Table 4")).to_be_visible()
    expect(section.get_by_text("data v1.0").first).to_be_visible()
    row = section.get_by_role("row", name=re.compile("^BART MNLI")).first
    expect(row).to_contain_text("33.38")
    assert tables(page) == measured, "no published row among the measured ones"
    assert "published=1" in page.url
    page.reload()
    expect(section).to_be_visible()
    page.get_by_role("switch", name="Published numbers").focus()
    page.keyboard.press("Space")
    expect(section).to_have_count(0)
    assert "published" not in page.url


def test_a_run_tells_all_of_its_result_and_one_that_was_cut_short_is_not_ranked(open_page, runs: Runs) -> None:
    page = open_page(address("board", task="corr2cause"))
    assert not any("stopped" in row["model"] for table in tables(page) for row in table["rows"])
    page.get_by_text("Not complete, so not ranked:").get_by_role("link", name="limit=80/cot/org/stopped").click()
    wait_for_view(page)
    expect(page.get_by_text("This run is not complete")).to_be_visible()
    run = runs.get("org/hasty")
    page = open_page(address("run", run.id))
    main = page.get_by_role("main")
    scores = main.get_by_role("table", name="All scores, by label set")
    heads = scores.get_by_role("columnheader").all_text_contents()
    for labels in ("published", "audited"):
        place = heads.index(f"{labels} labels") - 1
        there = run.result["scores"][labels]["overall"]["all"]
        for title, name in METRICS.items():
            cell = scores.get_by_role("row", name=title).get_by_role("cell").nth(place)
            expect(cell).to_contain_text(f"{100 * there[name]:.2f}")
            for end in there.get("bounds", {}).get(name, []):
                expect(cell).to_contain_text(f"{100 * end:.2f}")
    counts = run.scores["confusion"]
    table = main.get_by_role("table", name="Answers by gold label")
    cells = [row.get_by_role("cell").all_text_contents() for row in table.get_by_role("row").all()[1:]]
    keys = [
        ["tp", "fn", "unreadable_positive", "failed_positive"],
        ["fp", "tn", "unreadable_negative", "failed_negative"],
    ]
    assert cells == [[str(counts.get(key, 0)) for key in row] for row in keys]
    replies = [(reply.gold["published"], reply.read) for reply in run.replies if reply.outcome in ("right", "wrong")]
    assert [row[:2] for row in cells] == [[str(replies.count((gold, read))) for read in (1, 0)] for gold in (1, 0)]
    relations = main.get_by_role("table", name="by relation")
    for name, there in run.result["scores"]["published"]["relation"].items():
        row = relations.get_by_role("row", name=name)
        expect(row).to_contain_text(f"{100 * there['accuracy']:.2f}")
    usage = run.result["usage"]
    expect(main).to_contain_text(f"{usage['output']:,}")
    expect(main).to_contain_text("temperature")
    page.get_by_role("link", name="Compare the answers").click()
    wait_for_view(page)
    expect(page.get_by_role("combobox", name="The two")).to_be_visible()
