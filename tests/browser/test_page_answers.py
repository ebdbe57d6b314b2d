"""The answers of a run: searched, filtered, sorted, compared, saved; with the mouse and with the keyboard alone."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from facts import LABEL, Reply, Runs, address
from moving import wait_for_address
from playwright.sync_api import Page, expect

from harness.export import main as export

pytestmark = pytest.mark.browser

FILTERS: dict[str, Callable[[Reply], str]] = {
    "Outcome": lambda reply: reply.outcome,
    "Gold": lambda reply: LABEL[reply.gold["published"]],
    "Relation": lambda reply: reply.groups["relation"],
    "Number of variables": lambda reply: reply.groups["num_nodes"],
}
# Rows are drawn as they come into sight.
ROWS = """() => {
  const box = document.querySelector("[role=grid]").parentNode, found = new Map();
  const take = () => box.querySelectorAll("tr[data-place]").forEach((row) =>
    found.set(Number(row.dataset.place), [...row.cells].map((cell) => cell.textContent)));
  if (box.hidden) return [];
  for (let top = 0; top <= box.scrollHeight; top += box.clientHeight / 2) {
    box.scrollTop = top;
    box.dispatchEvent(new Event("scroll"));
    take();
  }
  box.scrollTop = 0;
  return [...found.keys()].sort((a, b) => a - b).map((place) => found.get(place));
}"""


def table_rows(page: Page) -> list[list[str]]:
    """Return the cells of all rows."""
    return page.evaluate(ROWS)


def items(page: Page) -> list[str]:
    return [row[0] for row in table_rows(page)]


def chooser(page: Page, name: str):
    return page.get_by_role("combobox", name=name, exact=True)


def counts(page: Page, name: str) -> dict[str, int]:
    """Return the number beside each value of a filter."""
    options = chooser(page, name).evaluate("(one) => [...one.options].slice(1).map((each) => each.textContent)")
    return {text.rpartition(" (")[0]: int(text.rpartition(" (")[2][:-1].replace(",", "")) for text in options}


def test_every_filter_leaves_the_rows_that_the_records_have_and_every_order_sorts_them(open_page, runs: Runs) -> None:
    run = runs.get("org/hasty")
    page = open_page(address("answers", run.id))
    assert sorted(items(page)) == sorted(reply.item for reply in run.replies)
    for name, of in FILTERS.items():
        real: dict[str, list[str]] = {}
        for reply in run.replies:
            real.setdefault(of(reply), []).append(reply.item)
        filter_counts = counts(page, name)
        assert {value: count for value, count in filter_counts.items() if count} == {k: len(v) for k, v in real.items()}
        for value in filter_counts:
            chooser(page, name).select_option(value)
            assert sorted(items(page)) == sorted(real.get(value, [])), (name, value)
            expect(page.get_by_text(f"{len(real.get(value, []))} of {len(run.replies)} answers.").first).to_be_visible()
        chooser(page, name).select_option("all")
    of_item = {reply.item: reply for reply in run.replies}
    orders: dict[str, Callable[[Reply], int | None]] = {
        "length of the reply": lambda reply: len(reply.reply),
        "tokens of the reply": lambda reply: reply.output,
    }
    for order, key in orders.items():
        for way in ("up", "down"):
            chooser(page, "Order").select_option(f"{order}, {way}")
            keys = [key(of_item[item]) for item in items(page)]
            numbers = [key for key in keys if key is not None]
            assert len(keys) == len(run.replies) and keys[: len(numbers)] == numbers, "what has no value comes last"
            assert numbers == sorted(numbers, reverse=way == "down") and len(set(numbers)) > 10
    wait_for_address(page, "sort=output&order=desc")


def test_filters_and_search_together(open_page, runs: Runs) -> None:
    run = runs.get("org/hasty")
    page = open_page(address("answers", run.id))
    chooser(page, "Outcome").select_option("wrong")
    chooser(page, "Gold").select_option("No")
    page.get_by_role("searchbox", name="Search").fill("COLLIDER at")
    matching = [reply for reply in run.replies if "collider at" in reply.reply.lower()]
    real = [reply for reply in matching if reply.outcome == "wrong" and reply.gold["published"] == 0]
    assert 3 < len(real) < len(run.replies) / 2, "the test needs runs with such answers"
    assert sorted(items(page)) == sorted(reply.item for reply in real)
    # Beside each value: how many rows it would leave, the other filters kept.
    wrong = [reply for reply in matching if reply.outcome == "wrong"]
    assert counts(page, "Gold") == {v: sum(FILTERS["Gold"](reply) == v for reply in wrong) for v in ("No", "Yes")}
    no = [reply for reply in matching if reply.gold["published"] == 0]
    for value, count in counts(page, "Outcome").items():
        assert count == sum(reply.outcome == value for reply in no)
    for value, count in counts(page, "Relation").items():
        assert count == sum(FILTERS["Relation"](reply) == value for reply in real)

    there, before = wait_for_address(page, "q=COLLIDER+at", "right=wrong", "gold=No"), items(page)
    page.reload()
    expect(page.get_by_role("searchbox", name="Search")).to_have_value("COLLIDER at")
    assert page.url == there and items(page) == before

    page.get_by_role("searchbox", name="Search").fill("no such words")
    expect(page.get_by_text("No answer passes these filters.")).to_be_visible()
    expect(page.get_by_role("grid")).to_be_hidden()
    page.get_by_role("button", name="Clear filters").click()
    assert len(items(page)) == len(run.replies)
    page.wait_for_url(lambda url: url.endswith(address("answers", run.id)))
    # A question and an item are found by their words too.
    for words in ("n5-g", "is a cause for"):
        page.get_by_role("searchbox", name="Search").fill(words)
        item_ids = [reply.item for reply in run.replies if words in f"{reply.item} {reply.question} {reply.reply}"]
        assert item_ids and sorted(items(page)) == sorted(item_ids)


def test_two_runs_beside_each_other(open_page, runs: Runs) -> None:
    first, second = runs.get("org/careful"), runs.get("org/hasty")
    page = open_page(address("answers", first.id))
    chooser(page, "Beside").select_option(second.id)
    expect(chooser(page, "The two")).to_be_visible()
    other = {reply.item: reply for reply in second.replies}
    assert [row[0:1] + row[3:5] for row in table_rows(page)]
    for row in table_rows(page):
        reply = next(reply for reply in first.replies if reply.item == row[0])
        for cell, side in ((row[3], reply), (row[4], other[row[0]])):
            assert side.shown_answer in cell and (side.outcome in cell)
    same = lambda a, b: (a.outcome, a.read) == (b.outcome, b.read)  # noqa: E731
    real = {
        "answers differ": [a.item for a in first.replies if not same(a, other[a.item])],
        "first right, second not": [a.item for a in first.replies if a.right and not other[a.item].right],
        "second right, first not": [a.item for a in first.replies if other[a.item].right and not a.right],
    }
    assert counts(page, "The two") == {name: len(item_ids) for name, item_ids in real.items()}
    for name, item_ids in real.items():
        chooser(page, "The two").select_option(label=f"{name} ({len(item_ids)})")
        assert item_ids and sorted(items(page)) == sorted(item_ids)
    # Another run beside it that was asked less: what it was not asked, it has not got right.
    less = runs.get("org/careful", variant="limit=6,samples=3")
    chooser(page, "Beside").select_option(less.id)
    expect(page.get_by_text("not asked").first).to_be_visible()
    shared_items = {reply.item for reply in less.replies}
    for row in table_rows(page):
        assert (row[4] == "not asked") == (row[0] not in shared_items)


def test_which_answers_stand_beside_each_other(open_page) -> None:
    page = open_page(modules=True)
    beside = """async ([one, other]) => {
      const { matchRows } = await import("/data/answers.js");
      const { facetsOf } = await import("/data/filters.js");
      const set = ({ items, sample, right, read }) => {
        const first = new Map();
        items.forEach((item, row) => first.has("abc"[item]) || first.set("abc"[item], row));
        const answers = { item: items, sample, right, read: read || items.map(() => null) };
        const status = items.map((_, row) => (read ? Number(right[row]) : right && right[row] === null ? 3 : 2));
        return { items: { ids: ["a", "b", "c"], groups: {} }, count: items.length, answers, first, status, gold: [] };
      };
      const sets = [set(one), set(other)];
      const contrast = facetsOf(...sets).find((facet) => facet.name === "contrast");
      return [[...matchRows(...sets)], sets[0].answers.item.map((_, row) => contrast.all(row))];
    }"""
    twice = {"items": [0, 0, 1, 1], "sample": [0, 1, 0, 1], "right": [True, False, True, None]}
    # Draws of one number stand together; what was drawn more often in one run has nothing beside it.
    thrice = {"items": [1, 1, 1, 2], "sample": [0, 1, 2, 0], "right": [False, True, False, False]}
    rows, contrasts = page.evaluate(beside, [twice, thrice])
    assert rows == [-1, -1, 0, 1]
    # Unreadable replies that task.unreadable=no makes right are right.
    assert contrasts == [[0, 1], [0], [1], [0, 2]]
    assert page.evaluate(beside, [thrice, twice])[0] == [2, 3, -1, -1]
    # What was drawn once stands beside each draw.
    assert page.evaluate(beside, [twice, {"items": [1, 0], "right": [True, True]}])[0] == [1, 1, 0, 0]
    assert page.evaluate(beside, [{"items": [1, 0], "right": [True, True]}, twice])[0] == [2, 0]
    # The same answer does not differ where label sets do, so that it is right in one run alone.
    labelled = [{"items": [0, 1], "read": [1, 0], "right": [True, right]} for right in (True, False)]
    assert not any(0 in row for row in page.evaluate(beside, labelled)[1])


def test_keyboard_alone(open_page, runs: Runs) -> None:
    run = runs.get("org/careful")
    page = open_page(address("answers", run.id, relation="parent"))
    chooser(page, "Relation").select_option("all")
    item_ids = items(page)
    expect(page.get_by_role("status")).to_have_text(f"{len(item_ids)} of {len(item_ids)} answers.")
    page.get_by_role("button", name="Save as CSV").focus()
    page.keyboard.press("Tab")
    box = page.get_by_role("region", name="Answers")
    expect(box).to_be_focused()
    selected_row = page.locator("[aria-selected=true]")

    def at(place: int, announced: bool = True) -> None:
        expect(selected_row).to_have_count(1)
        expect(selected_row.locator("td").first).to_have_text(item_ids[place])
        inside, row = box.bounding_box(), selected_row.bounding_box()
        assert row["y"] >= inside["y"] and row["y"] + row["height"] <= inside["y"] + inside["height"] + 1
        if place and announced:  # what the list says when it is moved through
            told = f"{place + 1} of {len(item_ids)}: Item {item_ids[place]}"
            expect(page.get_by_role("status")).to_contain_text(told)

    at(0)
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    at(2)
    page.keyboard.press("PageDown")
    place = item_ids.index(selected_row.locator("td").first.text_content())
    assert place > 8
    at(place)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowUp")
    assert selected_row.locator("td").first.text_content() == item_ids[0]
    page.keyboard.press("End")
    at(len(item_ids) - 1)
    page.keyboard.press("Enter")
    expect(page).to_have_url(page.url.partition("#")[0] + address("item", run.id, item_ids[-1]))
    expect(page.get_by_role("navigation", name="Neighbours")).to_be_visible()  # or it would not know yet where it was
    page.go_back()
    at(len(item_ids) - 1, announced=False)  # where it was; how many there are is told soon
    page.keyboard.press("Tab")
    expect(page.get_by_role("combobox", name="Run", exact=True)).to_be_focused()  # the focus is in the view, not lost


def saved(page: Page, file: Path) -> list[dict[str, str]]:
    """Return the rows of the file that the answers in sight are saved as."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    download.value.save_as(file)
    return csv_rows(file)


def csv_rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_what_is_in_sight_is_saved_as_csv_draws_with_their_numbers(open_page, runs: Runs, tmp_path: Path) -> None:
    first, second = runs.get("org/careful"), runs.get("org/hasty")
    page = open_page(address("answers", first.id, vs=second.id, right="wrong"))
    item_ids, rows = items(page), saved(page, tmp_path / "saved.csv")
    assert [row["item"] for row in rows] == item_ids
    of = [{reply.item: reply for reply in run.replies} for run in (first, second)]
    for row in rows:
        a, b = (side[row["item"]] for side in of)
        assert (row["question"], row["gold"]) == (a.question, LABEL[a.gold["published"]])
        assert (row["read"], row["outcome"], row["reply"]) == (LABEL[a.read], "wrong", a.reply)
        assert (row["second_outcome"], row["second_reply"]) == (b.outcome, b.reply)

    sampled = runs.get("org/careful", variant="limit=6,samples=3")
    rows = saved(open_page(address("answers", sampled.id, vs=first.id)), tmp_path / "saved.csv")
    texts = {(reply.item, str(reply.sample)): reply.reply for reply in sampled.replies}
    assert {(row["item"], row["sample"]): row["reply"] for row in rows} == texts and len(rows) == len(texts) == 18
    assert {sample for _, sample in texts} == {"0", "1", "2"} and {row["second_sample"] for row in rows} == {"0"}
    # A column of the table that harness.export writes has the same name and the same numbers.
    assert export([str(sampled.folder), "to=csv", f"out={tmp_path / 'records.csv'}"]) == 0
    assert {(row["item"], row["sample"]): row["text"] for row in csv_rows(tmp_path / "records.csv")} == texts
