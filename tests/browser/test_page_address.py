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


def test_typing_changes_the_address_seldom_and_a_browser_that_refuses_does_no_harm(answers: Page) -> None:
    page, before, everything = answers, answers.url, count_line(answers)
    page.evaluate(COUNT_ADDRESSES)
    assert page.evaluate(TYPED, [TEXT, None]) == 1
    assert count_line(page).startswith("0 of "), "the list is not behind"
    page.wait_for_url(f"{before}?q={TEXT.replace(' ', '+')}")
    assert page.evaluate("window.written") == 2
    page.evaluate("window.allowed = 2")
    page.evaluate(TYPED, ["collider", None])
    page.wait_for_function("() => window.refused > 0")
    assert query(page) == f"q={TEXT.replace(' ', '+')}", "no more were let pass"
    # The view goes on, with all that was chosen.
    few = count_line(page)
    page.get_by_role("combobox", name="Gold", exact=True).select_option("No")
    fewer = count_line(page)
    assert len({everything, few, fewer}) == 3
    assert page.locator("tr[data-place] a").first.get_attribute("href").endswith("?q=collider&gold=No")
    page.evaluate("window.allowed = Infinity")
    page.wait_for_url(lambda url: url.endswith("?q=collider&gold=No"))
    assert count_line(page) == fewer


def test_what_was_typed_last_is_there_on_the_way_back_and_goes_into_no_other_view(answers: Page) -> None:
    page = answers
    for place in ("main .choosers a", "tr[data-place] td:last-child"):
        page.evaluate(TYPED, ["depends", place])
        page.wait_for_url(lambda url: "#/answers" not in url)
        wait_for_view(page)
        page.go_back()
        expect(page.get_by_role("searchbox", name="Search")).to_have_value("depends")
        assert query(page) == "q=depends"
    page.evaluate(COUNT_ADDRESSES, 0)
    page.evaluate(TYPED, ["collider", "#nav a"])
    wait_for_view(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Leaderboard")
    page.evaluate("window.allowed = Infinity")
    page.get_by_role("searchbox", name="Filter").fill("hasty")
    page.wait_for_url(lambda url: url.endswith("#/board?q=hasty"))
