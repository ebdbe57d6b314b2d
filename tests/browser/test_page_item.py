"""One answer: the exact words that were asked and replied, what was read from them, and the graphs behind it."""

from __future__ import annotations

import re

import pytest
from facts import LABEL, Reply, Runs, address
from made_runs import HOSTILE, OWNED
from moving import go, wait_for_view
from playwright.sync_api import expect
from support.thinned import few

from harness.causal.dag import DAG, bits
from harness.causal.equivalence import from_independences, members
from harness.causal.relations import Relation, relations
from harness.tasks.corr2cause.explain import FIRST
from harness.tasks.corr2cause.text import read_premise

pytestmark = pytest.mark.browser

SIDES = """() => [...document.querySelectorAll("main section[aria-label]")].map((side) => ({
  run: side.getAttribute("aria-label"),
  texts: [...side.querySelectorAll("pre")].map((one) => one.textContent),
  marks: [...side.querySelectorAll("mark")].map((one) => one.textContent),
  facts: Object.fromEntries([...side.querySelectorAll("dt")].map((dt) => [dt.textContent, dt.nextSibling.textContent])),
  outcome: side.querySelector("h3").textContent,
}))"""
ITEM = f"""() => ({{
  id: document.querySelector("h1 + p").textContent.split(" · ")[0], question: document.querySelector("h1").textContent,
  url: location.hash, place: document.querySelector("nav.steps").lastChild.textContent,
  gold: document.querySelector("p.gold").textContent, sides: ({SIDES})(),
}})"""
THERE = """(number) =>
  document.querySelector("main:not([aria-busy]) nav.steps")?.lastChild.textContent.startsWith(`${number} of`)"""
GRAPHS = """() => [...document.querySelectorAll("main figure")].map((figure) => {
  const svg = figure.querySelector("svg"), names = [...svg.querySelectorAll(".node")].map((one) => one.textContent);
  const edge = (one) => `${names[one.dataset.a]} → ${names[one.dataset.b]}`;
  const edges = [...svg.querySelectorAll(".edge")];
  return {
    caption: figure.querySelector("figcaption").textContent, label: svg.getAttribute("aria-label"), names,
    edges: edges.map(edge), heads: svg.querySelectorAll(".head").length, width: svg.getBoundingClientRect().width,
    marked: edges.filter((one) => parseFloat(getComputedStyle(one.querySelector("path")).strokeWidth) > 2).map(edge),
  };
})"""


def plain(text: str) -> str:
    """Return words as the parser compares them."""
    return re.sub(r"\s+", " ", re.sub(r"[*_`#>\"“”]", " ", text)).strip().lower()


def check(side: dict, reply: Reply) -> None:
    """Assert that a side of the page tells of one reply."""
    text, *prompt = side["texts"]
    assert prompt == reply.prompt
    if reply.failure:
        assert text == reply.failure["detail"] and side["facts"]["read"] == "nothing: the call failed"
        assert "failed" in side["outcome"] and side["marks"] == []
        return
    assert text == reply.reply or (len(reply.reply) > 3000 and text == reply.reply[:3000])
    read = "nothing that answers the question: scored as wrong" if reply.read is None else LABEL[reply.read]
    assert side["facts"]["read"] == read and reply.shown_answer in side["outcome"] and reply.outcome in side["outcome"]
    assert side["facts"].get("served model") == reply.served_model
    if reply.span:
        assert side["facts"]["read from"] == f"“{reply.span}”"
        assert [plain(mark) for mark in side["marks"]] == [reply.span], reply.reply
    if reply.reply.startswith(("Yes. I know", "No. I know")):
        assert side["texts"][0].startswith(side["marks"][0]), "a verdict at the beginning, and not the no of know"


def test_through_all_answers_by_key(open_page, runs: Runs) -> None:
    run = runs.get("org/hasty")
    of = {reply.item: reply for reply in run.replies}
    outcomes, seen = set(), []
    page = open_page(address("answers", run.id))
    page.get_by_role("grid").get_by_role("link").first.click()
    page.locator("main:not([aria-busy]) .steps").wait_for()
    while True:
        sides = page.evaluate(ITEM)
        item = sides["id"]
        reply = of[item]
        seen.append(item)
        outcomes.add(reply.outcome)
        (side,) = sides["sides"]
        assert side["run"] == run.id and sides["url"] == address("item", run.id, item)
        check(side, reply)
        assert sides["question"] == reply.question and sides["place"] == f"{len(seen)} of {len(of)}"
        published, audited = (reply.gold[name] for name in ("published", "audited"))
        gold = f"Gold: {LABEL[published]} (published, scored here), {LABEL[audited]} (audited)"
        assert sides["gold"].startswith(gold) and (published == audited) == (sides["gold"] == gold)
        if len(seen) == len(of):
            break
        page.keyboard.press("j")
        page.wait_for_function(THERE, arg=len(seen) + 1)
    assert sorted(seen) == sorted(of) and outcomes == {"right", "wrong", "unreadable", "failed"}
    page.keyboard.press("k")
    page.wait_for_function(THERE, arg=len(seen) - 1)
    assert page.evaluate(ITEM)["id"] == seen[-2]


def arrows(dag: DAG, names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(f"{names[u]} → {name}" for name, above in zip(names, dag, strict=True) for u in bits(above))


@pytest.mark.parametrize(("holds", "least"), few([(True, 2), (False, 10)], 1))
def test_the_graphs_behind_an_answer(open_page, runs: Runs, holds: bool, least: int) -> None:
    run = runs.get("reasoner")
    prompts = {reply.item: reply.prompt for reply in runs.get("org/hasty").replies}
    example = None
    for reply in run.replies:
        premise = read_premise(prompts[reply.item][-1].partition("Question: ")[2].partition("\n")[0])
        dags = list(members(from_independences(len(premise.names), premise.independences)))
        if reply.gold["audited"] == holds and least <= len(dags) <= FIRST:
            example = reply, premise.names, dags
            break
    assert example, "the test needs such an item"
    reply, names, dags = example
    page = open_page(address("item", run.id, reply.item))
    wait_for_view(page)
    if len(dags) > 9:
        page.get_by_role("button", name=f"Show the other {len(dags) - 9}").click()
    graphs = page.evaluate(GRAPHS)
    real = {arrows(dag, names): dag for dag in dags}
    assert len(graphs) == len(dags) and {frozenset(graph["edges"]) for graph in graphs} == set(real)
    for graph in graphs:
        assert graph["names"] == list(names) and graph["heads"] == len(graph["edges"])
        assert set(graph["label"].partition(": ")[2].split(", ")) == set(graph["edges"])  # for those who do not see it
    relation, i, j = Relation(reply.groups["relation"]), *(names.index(name) for name in reply.item.split("-")[-2:])
    assert bool(relations(real[frozenset(graphs[0]["edges"])])[relation][i] >> j & 1) is holds
    assert graphs[0]["caption"].endswith("shows it" if holds else "decides")
    assert not any(graph["marked"] or "decides" in graph["caption"] for graph in graphs[1:])
    assert set(graphs[0]["marked"]) <= set(graphs[0]["edges"]) and bool(graphs[0]["marked"]) >= holds
    assert graphs[0]["width"] > 1.3 * graphs[1]["width"]
    expect(page.get_by_text(re.compile("^Follows: " if holds else "^Does not follow: "))).to_be_visible()
    expect(page.get_by_text(f"{len(dags)} graphs fit the premise")).to_be_visible()


def test_two_models_side_by_side(open_page, runs: Runs) -> None:
    first, second = runs.get("org/careful"), runs.get("org/hasty")
    less = runs.get("org/careful", variant="limit=6,samples=3")
    shared_items = {reply.item for reply in less.replies}
    reply = next(reply for reply in first.replies if reply.item not in shared_items)
    page = open_page(address("item", first.id, reply.item))
    page.get_by_role("combobox", name="Beside").select_option(second.id)
    expect(page.get_by_role("region", name=second.id)).to_be_visible()
    a, b = page.evaluate(SIDES)
    assert (a["run"], b["run"]) == (first.id, second.id)
    check(a, reply)
    check(b, next(each for each in second.replies if each.item == reply.item))
    boxes = [page.get_by_role("region", name=run.id, exact=True).bounding_box() for run in (first, second)]
    assert boxes[0]["y"] == boxes[1]["y"] and boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
    page.set_viewport_size({"width": 360, "height": 700})
    boxes = [page.get_by_role("region", name=run.id, exact=True).bounding_box() for run in (first, second)]
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]
    page.get_by_role("combobox", name="Beside").select_option(less.id)
    expect(page.get_by_text("This run was not asked this item.")).to_be_visible()


def test_what_a_run_is_scored_by_is_told(open_page, runs: Runs) -> None:
    """As of a second run by other labels, and with task.unreadable=no."""
    first, second = runs.get("org/careful"), runs.get("org/hasty")
    page = open_page(address("item", first.id, first.replies[0].item, vs=second.id), modules=True)
    note = page.get_by_text("Right and wrong are not by the same labels")
    expect(note).to_have_count(0)
    page.evaluate(
        """async (id) => {
          const run = (await import("/data/runs.js")).findRun(id);
          run.result.headline = "audited";
          run.manifest.configuration.task.unreadable = "no";
        }""",
        second.id,
    )
    for there in (
        address("answers", first.id, vs=second.id),
        address("item", first.id, first.replies[1].item, vs=second.id),
    ):
        go(page, there)
        expect(note).to_contain_text("org/careful by the published labels, org/hasty by the audited labels.")
    go(page, address("item", second.id, next(one.item for one in second.replies if one.outcome == "unreadable")))
    expect(page.get_by_text("nothing that answers the question: scored as No", exact=True)).to_be_visible()


def test_several_replies_to_one_item(open_page, runs: Runs) -> None:
    run = runs.get("org/careful", variant="limit=6,samples=3")
    item = run.replies[0].item
    page = open_page(address("item", run.id, item))
    draws = [reply for reply in run.replies if reply.item == item]
    for number, reply in enumerate(draws, 1):
        expect(page.get_by_role("heading", name=f"Reply {number} of 3")).to_contain_text(reply.shown_answer)
    expect(page.get_by_text("the majority of these replies is scored")).to_be_visible()
    for steps in range(1, 6):  # a step leads to another item, not to another reply
        page.get_by_role("link", name="next").click()
        expect(page.get_by_text(f"{steps + 1} of 6", exact=True)).to_be_visible()


def test_hostile_replies_are_text(open_page, runs: Runs) -> None:
    answered = [(run, reply) for run in runs.all if run.prompt == "cot" for reply in run.replies]
    replies = {reply.reply: (run, reply.item) for run, reply in answered if reply.reply in HOSTILE}
    assert set(replies) == set(HOSTILE), "the test needs all of them"
    markup = "script, img, iframe, style, form:not([role]), object, embed"
    for text, (run, item) in replies.items():
        page = open_page(address("item", run.id, item))
        more = page.get_by_role("button", name="Show all")
        if more.count():
            more.first.click()
        assert page.locator("pre").first.text_content() == text, "all of it, as text"
        assert page.locator("main").locator(markup).count() == page.locator("main pre a").count() == 0
        assert not page.evaluate("window.owned")
        go(page, address("answers", run.id, q=text[:40].strip()))
        expect(page.get_by_role("grid").get_by_role("link", name=item)).to_be_visible()
        assert page.locator("main").locator(markup).count() == 0
    run = runs.get(OWNED, variant="limit=6")
    there = (address("board", task="corr2cause"), address("charts", task="corr2cause"))
    for view in (*there, address("item", run.id, run.replies[0].item)):
        page = open_page(view)
        assert page.locator("main img").count() == 0 and not page.evaluate("window.owned")
    expect(page.get_by_role("heading", name=OWNED)).to_be_visible()
