"""The address while somebody types: written seldom and never lost, whatever the browser says to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from facts import Runs, address
from moving import wait_for_view
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

# As fast as nobody types: within one task, so that no timer of the page runs in between on any machine.
TYPED = """([text, then]) => {
  const field = document.querySelector("input[type=search]");
  for (let end = 1; end <= text.length; end += 1) {
    field.value = text.slice(0, end);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  if (then) document.querySelector(then).click();
  return window.written;
}"""
# "allowed" is how many changes of the address the browser lets pass before it throws.
COUNT_ADDRESSES = """(allowed) => {
  const really = history.replaceState.bind(history);
  window.written = 0;
  window.refused = 0;
  window.allowed = allowed ?? Infinity;
  history.replaceState = (...given) => {
    if (window.written >= window.allowed) {
      window.refused += 1;
      throw new DOMException("Attempt to use history.replaceState() more than 100 times", "SecurityError");
    }
    window.written += 1;
    really(...given);
  };
}"""
TEXT = "collider at " + "q" * 90


def count_line(page: Page) -> str:
    return page.locator(".answer-count").inner_text()


@pytest.fixture
def answers(open_page, runs: Runs) -> Iterator[Page]:
    page = open_page(address("answers", runs.get("org/hasty").id))
    expect(page.locator(".answer-count")).to_be_visible()
    yield page
    page.evaluate("delete history.replaceState")  # the browser's own, with which the next test opens its page


def query(page: Page) -> str:
    return page.url.partition("?")[2]


def test_typing_changes_the_address_seldom_and_the_last_word_stands_in_it(answers: Page) -> None:
    page, before = answers, answers.url
    page.evaluate(COUNT_ADDRESSES)
    assert page.evaluate(TYPED, [TEXT, None]) == 1
    assert count_line(page).startswith("0 of "), "the list is not behind"
    page.wait_for_url(f"{before}?q={TEXT.replace(' ', '+')}")
    assert page.evaluate("window.written") == 2
    page.get_by_role("searchbox", name="Search").fill("chain")
    page.wait_for_url(f"{before}?q=chain")
    assert page.evaluate("window.written") == 3


@pytest.mark.parametrize("way", ["link", "row", "select"])
def test_what_was_typed_last_is_there_on_the_way_back(answers: Page, way: str) -> None:
    page = answers
    if way == "select":
        page.evaluate(TYPED, ["depends", None])
        page.get_by_role("combobox", name="Run", exact=True).select_option(index=0)
    else:
        there = {"link": "main .choosers a", "row": "tr[data-place] td:last-child"}[way]
        page.evaluate(TYPED, ["depends", there])
    page.wait_for_url(lambda url: "/hasty" not in url.partition("?")[0] or "#/answers" not in url)
    wait_for_view(page)
    page.go_back()
    expect(page.get_by_role("searchbox", name="Search")).to_have_value("depends")
    assert query(page) == "q=depends"


def test_a_browser_that_refuses_does_no_harm(answers: Page) -> None:
    page = answers
    everything = count_line(page)
    page.evaluate(COUNT_ADDRESSES, 1)
    page.evaluate(TYPED, ["collider", None])
    page.wait_for_function("() => window.refused > 0")
    assert query(page) == "q=c", "the first one was written"
    # The view goes on, with all that was chosen.
    few = count_line(page)
    page.get_by_role("combobox", name="Gold", exact=True).select_option("No")
    fewer = count_line(page)
    assert len({everything, few, fewer}) == 3
    row = page.locator("tr[data-place] a").first.get_attribute("href")
    assert row.endswith("?q=collider&gold=No")
    page.evaluate("window.allowed = Infinity")
    page.wait_for_url(lambda url: url.endswith("?q=collider&gold=No"))
    assert count_line(page) == fewer


def test_what_is_not_written_goes_into_no_other_view(answers: Page) -> None:
    page = answers
    page.evaluate(COUNT_ADDRESSES, 0)
    page.evaluate(TYPED, ["depends", "#nav a"])
    wait_for_view(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Leaderboard")
    page.evaluate("window.allowed = Infinity")
    page.get_by_role("searchbox", name="Filter").fill("hasty")
    page.wait_for_url(lambda url: url.endswith("#/board?q=hasty"))
