"""The page as a whole: it opens from disk and asks nobody, its addresses hold, it fits, and it is for everybody."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from facts import Runs, address
from moving import go, wait_for_view
from playwright.sync_api import Page, expect
from support.thinned import few

from harness.report.__main__ import main

pytestmark = pytest.mark.browser

CONTROLS = "header a, main a, button, select, input, summary"
# Controls and links that stick out of the page, but for those in a box of their own that scrolls.
WIDE_WITH_A_SUM = """() => {
  const sum = Object.assign(document.createElement("pre"), { className: "steps-to-it" });
  sum.textContent = "P(X = 1, Y = 1)/P(X = 1) - ".repeat(8);
  document.querySelector("main").append(sum);
  return document.documentElement.scrollWidth;
}"""
OUT_OF_REACH = """(controls) => [...document.querySelectorAll(controls)].filter((it) => {
  const at = it.getBoundingClientRect();
  if (!at.width || at.left >= -1 && at.right <= innerWidth + 1) return false;
  for (let up = it.parentElement; up; up = up.parentElement)
    if (["auto", "scroll"].includes(getComputedStyle(up).overflowX) || up.tagName === "svg") return false;
  return true;
}).map((one) => one.outerHTML.slice(0, 200))"""


def views(runs: Runs) -> dict[str, str]:
    """Return an address of every view, as full as it gets."""
    careful, hasty, stopped = (runs.get(f"org/{name}") for name in ("careful", "hasty", "stopped"))
    item = next(reply.item for reply in hasty.replies if reply.failure)
    graphs, beside = (runs.get(name, task="causalbench/causality") for name in ("org/hasty", "always_yes"))
    return {
        "board": address("board", task="corr2cause", published=1),
        "board of networks": address("board", task="causalbench/causality"),
        "differences": address("differences", task="corr2cause"),
        "charts": address("charts", task="corr2cause"),
        "charts of networks": address("charts", task="causalbench/causality"),
        "run": address("run", careful.id),
        "run cut short": address("run", stopped.id),
        "answers": address("answers", careful.id, vs=hasty.id, contrast="differ"),
        "item": address("item", careful.id, item, vs=hasty.id),
        "graphs": address("graphs", graphs.id, "asia", vs=beside.id),
        "nothing": address("nothing"),
    }


def test_opens_with_its_first_view_and_leads_to_the_others(open_page) -> None:
    page = open_page()  # from file://; the fixture sees to it that nothing else is asked for
    assert page.evaluate("location.protocol") == "file:"
    names = page.get_by_role("navigation", name="Views").get_by_role("link").all_text_contents()
    assert names == ["Leaderboard", "Differences", "Charts", "Answers", "Graphs"]
    for name in names:
        page.get_by_role("navigation", name="Views").get_by_role("link", name=name).click()
        expect(page.get_by_role("link", name=name, exact=True)).to_have_attribute("aria-current", "page")
        wait_for_view(page)
        expect(page).to_have_title(re.compile(f"^{name}.* · Causal reasoning in language models$"))
        assert page.evaluate("document.activeElement.id") == "main", "who cannot see the page is taken to its content"
    page.reload()
    wait_for_view(page)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def view_text(page: Page) -> str:
    """Return all that is read in the view. How wide charts and lists are changes nothing of it."""
    return page.locator("main").inner_text()


def test_from_a_score_to_the_answer_behind_it_and_back(open_page, runs: Runs) -> None:
    run = runs.get("org/careful")
    page = open_page(address("board", task="corr2cause"))
    addresses = []

    def at(*parts: str, **query: object) -> None:
        expect(page).to_have_url(page.url.partition("#")[0] + address(*parts, **query))
        wait_for_view(page)
        addresses.append((page.url, view_text(page)))

    at("board", task="corr2cause")
    page.locator(f"main tbody a[href='{address('run', run.id)}']").first.click()
    at("run", run.id)
    page.get_by_role("link", name=f"Answers ({len(run.replies)})").click()
    at("answers", run.id)
    page.get_by_role("combobox", name="Outcome").select_option("wrong")
    at("answers", run.id, right="wrong")
    addresses.pop(-2)  # a filter is no step of its own on the way back
    page.get_by_role("grid").get_by_role("link").first.click()
    wrong = [reply.item for reply in run.replies if reply.outcome == "wrong"]
    first = page.get_by_role("heading", level=1).text_content()
    at("item", run.id, next(item for item in wrong if item in page.url), right="wrong")
    page.get_by_role("link", name="next").click()
    expect(page.get_by_text(f"2 of {len(wrong)}", exact=True)).to_be_visible()
    at("item", run.id, next(item for item in wrong if item in page.url), right="wrong")
    assert page.get_by_role("heading", level=1).text_content() != first or addresses[-1][0] != addresses[-2][0]
    for url, text in reversed(addresses[:-1]):
        page.go_back()
        expect(page).to_have_url(url)
        wait_for_view(page)
        assert view_text(page) == text
    for url, text in addresses:  # sent to somebody, each address shows the same
        page.goto("about:blank")
        page.goto(url)
        wait_for_view(page)
        assert view_text(page) == text
    page.get_by_role("link", name="All answers").click()
    expect(page).to_have_url(page.url.partition("#")[0] + address("answers", run.id, right="wrong"))


def test_what_is_not_there_is_said(open_page, runs: Runs) -> None:
    run = runs.get("org/careful")
    graphs = runs.get("always_yes", task="causalbench/causality", variant="networks=alarm")
    item = run.replies[0].item
    page = open_page()
    for there, sentence in {
        address("nowhere"): "This page has no view nowhere.",
        address("run", "no/such"): "no run no/such",
        address("run"): "no run",
        address("answers", "no/such"): "There is no run no/such in this page.",
        address("answers", run.id, vs="no/such"): "There is no run no/such in this page.",
        address("item", "no/such", item): "There is no run no/such in this page.",
        address("item", run.id, "no-such"): f"The run {run.id} has no answer to no-such.",
        address("item", run.id): "The address names no item.",
        address("item"): "The address names no run.",
        address("item", run.id, item, vs="no/such"): "There is no run no/such in this page.",
        address("graphs", "no/such"): "There is no run no/such in this page.",
        address("graphs", run.id): f"The run {run.id} has no graphs in this page.",
        address("graphs", graphs.id, "asia"): f"The run {graphs.id} was not asked about asia: alarm.",
        address("graphs", graphs.id, "alarm", vs="no/such"): "There is no run no/such in this page.",
        address("answers", graphs.id): "The answers of this run are not here",
        "#/%E0%A4%A/%": "This page has no view",
        **{f"#/{name}": f"This page has no view {name}." for name in ("constructor", "__proto__", "toString")},
    }.items():
        go(page, there)
        expect(page.get_by_role("main")).to_contain_text(sentence)
        assert page.get_by_role("heading", level=1).count() == 1
    for there in (
        address("board", task="no/such"),
        address("charts", task="no/such", metric="none"),
        address("board", sort="no"),
    ):
        go(page, there)
        assert page.get_by_role("main").get_by_role("combobox").count() > 0


def test_a_page_with_little_in_it(open_page, runs: Runs, tmp_path: Path) -> None:
    stopped = runs.get("org/stopped").folder
    assert main([str(stopped), f"out={tmp_path / 'x.html'}", "answers=none"]) == 0
    page = open_page(path=tmp_path / "x.html")
    expect(page.get_by_text("Not complete, so not ranked")).to_be_visible()
    expect(page.get_by_role("contentinfo")).to_contain_text("from 1 run,")
    assert page.get_by_role("navigation", name="Views").get_by_role("link").all_text_contents() == ["Leaderboard"]
    for there, sentence in {
        "#/answers": "No run in this page has its answers here",
        "#/charts": "There is no complete run to draw.",
        "#/graphs": "No run in this page has graphs",
    }.items():
        go(page, there)
        expect(page.get_by_role("main")).to_contain_text(sentence)


@pytest.mark.parametrize("width", few([360, 768, 1280], 1))
def test_fits(open_page, runs: Runs, width: int) -> None:
    page = open_page(width=width)
    for name, there in views(runs).items():
        go(page, there)
        wide = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert wide[0] <= wide[1], f"{name} is {wide[0]} pixels wide"
        assert page.evaluate(OUT_OF_REACH, CONTROLS) == [], name
    assert page.evaluate(WIDE_WITH_A_SUM) <= page.viewport_size["width"], "lines of a sum are broken"


@pytest.mark.parametrize(("scheme", "rules"), [("light", "{}"), ("dark", "{runOnly: ['color-contrast']}")])
def test_accessibility(open_page, runs: Runs, axe: str, scheme: str, rules: str) -> None:
    page = open_page(scheme=scheme)
    page.evaluate(axe)
    troubles = []
    for name, there in views(runs).items():
        go(page, there)
        page.locator("main details:not([open]) > summary").evaluate_all(
            "(all) => all.slice(0, 3).forEach((one) => one.click())"
        )
        troubles += [
            f"{name}: {violation['impact']}: {violation['id']}: {violation['nodes'][0]['html'][:200]}"
            for violation in page.evaluate(f"async () => (await axe.run(document, {rules})).violations")
        ]
    assert not troubles, "\n".join(troubles)


def test_answers_beside_the_page(open_page, pages_folder: Path, runs: Runs, tmp_path: Path) -> None:
    out = tmp_path / "a page.html"
    asia, run = "causalbench/causality/method=2,networks=asia+cancer/closed", runs.get("org/careful")
    folders = [run.folder, pages_folder / "runs" / asia]
    assert main([*map(str, folders), f"out={out}", "answers=beside"]) == 0
    page = open_page(address("answers", run.id), path=out)
    expect(page.get_by_text(f"{len(run.replies)} of {len(run.replies)} answers.").first).to_be_visible()
    go(page, address("item", run.id, run.replies[3].item))
    assert page.locator("pre").all_text_contents() == [run.replies[3].reply, *run.replies[3].prompt]
    go(page, address("graphs", runs.get("always_yes", task="causalbench/causality").id))
    expect(page.get_by_role("img", name="Graph of always_yes on asia")).to_be_visible()
    shutil.rmtree(tmp_path / "a page_files")
    page = open_page(address("answers", run.id), path=out, expected=("ERR_FILE_NOT_FOUND",))
    expect(page.get_by_role("main")).to_contain_text("is not there: keep the folder beside the page")
    go(page, address("board"))
    expect(page.get_by_role("table").first).to_be_visible()


def test_nothing_else_may_run_or_be_asked(open_page, chromium, report: Path) -> None:
    page = open_page(expected=("Content Security Policy", "https://example.org/"))
    refused = page.evaluate("""async () => {
      const refused = [];
      addEventListener("securitypolicyviolation", (event) => refused.push(event.effectiveDirective));
      const script = document.createElement("script");
      script.textContent = "window.owned = true";
      document.body.append(script);
      document.body.setAttribute("onclick", "window.owned = true");
      document.body.click();
      const picture = document.createElement("img");
      picture.src = "https://example.org/picture.png";
      const form = document.createElement("form");
      form.action = "https://example.org/";
      document.body.append(picture, form);
      form.submit();
      await fetch("https://example.org/").catch(() => null);
      for (let k = 0; k < 2 || (refused.length < 5 && k < 1000); k += 1)
        await new Promise((then) => setTimeout(then, 25));
      return refused;
    }""")
    assert sorted(refused) == ["connect-src", "form-action", "img-src", "script-src-attr", "script-src-elem"]

    with chromium.browser.new_context(java_script_enabled=False) as context:
        without = context.new_page()
        without.goto(report.as_uri())
        expect(without.get_by_role("main")).to_contain_text("JavaScript is switched off")
    with chromium.browser.new_context() as context:
        context.add_init_script("delete window.DecompressionStream")
        old = context.new_page()
        old.goto(report.as_uri())
        expect(old.get_by_role("main")).to_contain_text("This browser is too old for this page")
