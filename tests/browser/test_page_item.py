"""One answer: the exact words that were asked and replied, what was read from them, and the graphs behind it."""

from __future__ import annotations

import re

import pytest
from facts import Reply, Runs, address
from made_runs import HOSTILE
from moving import go, settled
from playwright.sync_api import Page, expect

from harness.causal.dag import DAG, bits
from harness.causal.equivalence import from_independences, members
from harness.causal.relations import Relation, relations
from harness.tasks.corr2cause.explain import FIRST
from harness.tasks.corr2cause.parse_text import read_premise

LABEL = {1: "Yes", 0: "No"}
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
    """Words as the parser compares them."""
    return re.sub(r"\s+", " ", re.sub(r"[*_`#>\"“”]", " ", text)).strip().lower()


def check(side: dict, one: Reply) -> None:
    """A side of the page tells of one reply."""
    reply, *prompt = side["texts"]
    assert prompt == one.prompt
    if one.failure:
        assert reply == one.failure["detail"] and side["facts"]["read"] == "nothing: the call failed"
        assert "failed" in side["outcome"] and side["marks"] == []
        return
    assert reply == one.reply or (len(one.reply) > 3000 and reply == one.reply[:3000])
    read = "nothing that answers the question: scored as wrong" if one.read is None else LABEL[one.read]
    assert side["facts"]["read"] == read and one.said in side["outcome"] and one.outcome in side["outcome"]
    if one.span:
        assert side["facts"]["read from"] == f"“{one.span}”"
        assert [plain(mark) for mark in side["marks"]] == [one.span], one.reply
    if one.reply.startswith(("Yes. I know", "No. I know")):
        assert side["texts"][0].startswith(side["marks"][0]), "a verdict at the beginning, and not the no of know"


def test_through_all_answers_by_key(opened, runs: Runs) -> None:
    run = runs.get("org/hasty")
    of = {one.item: one for one in run.replies}
    outcomes, seen = set(), []
    page = opened(address("answers", run.id))
    page.get_by_role("grid").get_by_role("link").first.click()
    page.locator("main:not([aria-busy]) .steps").wait_for()
    while True:
        shown = page.evaluate(ITEM)
        item = shown["id"]
        one = of[item]
        seen.append(item)
        outcomes.add(one.outcome)
        (side,) = shown["sides"]
        assert side["run"] == run.id and shown["url"] == address("item", run.id, item)
        check(side, one)
        assert shown["question"] == one.question and shown["place"] == f"{len(seen)} of {len(of)}"
        gold = f"Gold: {LABEL[one.gold['published']]} (published, scored here), {LABEL[one.gold['audited']]} (audited)"
        assert shown["gold"].startswith(gold) and (one.gold["published"] == one.gold["audited"]) == (
            shown["gold"] == gold
        )
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


@pytest.mark.parametrize(("holds", "least"), [(True, 2), (False, 10)])
def test_the_graphs_behind_an_answer(opened, runs: Runs, holds: bool, least: int) -> None:
    run = runs.get("reasoner")
    prompts = {one.item: one.prompt for one in runs.get("org/hasty").replies}
    found = None
    for one in run.replies:
        premise = read_premise(prompts[one.item][-1].partition("Question: ")[2].partition("\n")[0])
        dags = list(members(from_independences(len(premise.names), premise.independences)))
        if one.gold["audited"] == holds and least <= len(dags) <= FIRST:
            found = one, premise.names, dags
            break
    assert found, "the test needs such an item"
    one, names, dags = found
    page = opened(address("item", run.id, one.item))
    settled(page)
    if len(dags) > 9:
        page.get_by_role("button", name=f"Show the other {len(dags) - 9}").click()
    shown = page.evaluate(GRAPHS)
    real = {arrows(dag, names): dag for dag in dags}
    assert len(shown) == len(dags) and {frozenset(graph["edges"]) for graph in shown} == set(real)
    for graph in shown:
        assert graph["names"] == list(names) and graph["heads"] == len(graph["edges"])
        assert set(graph["label"].partition(": ")[2].split(", ")) == set(graph["edges"])  # for those who do not see it
    relation, i, j = Relation(one.groups["relation"]), *(names.index(name) for name in one.item.split("-")[-2:])
    assert bool(relations(real[frozenset(shown[0]["edges"])])[relation][i] >> j & 1) is holds
    assert shown[0]["caption"].endswith("shows it" if holds else "decides")
    assert not any(graph["marked"] or "decides" in graph["caption"] for graph in shown[1:])
    assert set(shown[0]["marked"]) <= set(shown[0]["edges"]) and bool(shown[0]["marked"]) >= holds
    assert shown[0]["width"] > 1.3 * shown[1]["width"]
    expect(page.get_by_text(re.compile("^Follows: " if holds else "^Does not follow: "))).to_be_visible()
    expect(page.get_by_text(f"{len(dags)} graphs fit the premise")).to_be_visible()


def test_pictures_of_few_variables_are_no_higher_than_wide(opened) -> None:
    page = opened(modules=True)
    draw = """async (count) => {
        const { circleLayout } = await import("/graphs/layout.js");
        const { graphPicture } = await import("/graphs/picture.js");
        const nodes = [..."ABCDEF"].slice(0, count);
        const picture = graphPicture({ nodes, at: circleLayout(count, 62), edges: [], round: true });
        return picture.getAttribute("viewBox").split(" ").map(Number);
    }"""
    for count in range(2, 7):
        _, _, width, height = page.evaluate(draw, count)
        assert height < 1.2 * width, count


def test_two_models_side_by_side(opened, runs: Runs) -> None:
    first, second, less = (
        runs.get("org/careful"),
        runs.get("org/hasty"),
        runs.get("org/careful", variant="limit=6,samples=3"),
    )
    asked = {one.item for one in less.replies}
    one = next(one for one in first.replies if one.item not in asked)
    page = opened(address("item", first.id, one.item))
    page.get_by_role("combobox", name="Beside").select_option(second.id)
    expect(page.get_by_role("region", name=second.id)).to_be_visible()
    a, b = page.evaluate(SIDES)
    assert (a["run"], b["run"]) == (first.id, second.id)
    check(a, one)
    check(b, next(each for each in second.replies if each.item == one.item))
    boxes = [page.get_by_role("region", name=run.id, exact=True).bounding_box() for run in (first, second)]
    assert boxes[0]["y"] == boxes[1]["y"] and boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
    page.set_viewport_size({"width": 360, "height": 700})
    boxes = [page.get_by_role("region", name=run.id, exact=True).bounding_box() for run in (first, second)]
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]
    page.get_by_role("combobox", name="Beside").select_option(less.id)
    expect(page.get_by_text("This run was not asked this item.")).to_be_visible()


def test_runs_scored_by_other_labels_are_told_as_such(opened, runs: Runs) -> None:
    first, second = runs.get("org/careful"), runs.get("org/hasty")
    page = opened(address("item", first.id, first.replies[0].item, vs=second.id), modules=True)
    said = page.get_by_text("Right and wrong are not by the same labels")
    expect(said).to_have_count(0)
    page.evaluate(
        """async (id) => { (await import("/data/runs.js")).findRun(id).result.headline = "audited"; }""", second.id
    )
    for there in (
        address("answers", first.id, vs=second.id),
        address("item", first.id, first.replies[1].item, vs=second.id),
    ):
        go(page, there)
        expect(said).to_contain_text("org/careful by the published labels, org/hasty by the audited labels.")


def test_several_replies_to_one_item(opened, runs: Runs) -> None:
    run = runs.get("org/careful", variant="limit=6,samples=3")
    item = run.replies[0].item
    page = opened(address("item", run.id, item))
    draws = [one for one in run.replies if one.item == item]
    for number, one in enumerate(draws, 1):
        expect(page.get_by_role("heading", name=f"Reply {number} of 3")).to_contain_text(one.said)
    expect(page.get_by_text("the majority of these replies is scored")).to_be_visible()
    for steps in range(1, 6):  # a step leads to another item, not to another reply
        page.get_by_role("link", name="next").click()
        expect(page.get_by_text(f"{steps + 1} of 6", exact=True)).to_be_visible()


def test_what_an_unreadable_reply_is_scored_as(opened, runs: Runs) -> None:
    run = runs.get("org/hasty")
    page = opened(modules=True)
    page.evaluate(  # as of a run with task.unreadable=no
        """async (id) => {
          const { findRun } = await import("/data/runs.js");
          findRun(id).manifest.configuration.task.unreadable = "no";
        }""",
        run.id,
    )
    go(page, address("item", run.id, next(one.item for one in run.replies if one.outcome == "unreadable")))
    expect(page.get_by_text("nothing that answers the question: scored as No", exact=True)).to_be_visible()


def told(page: Page, reply: str) -> None:
    """The reply stands in the page, all of it, as text."""
    more = page.get_by_role("button", name="Show all")
    if more.count():
        more.first.click()
    assert page.locator("pre").first.text_content() == reply
    assert page.locator("main").locator("script, img, iframe, style, form:not([role]), object, embed").count() == 0
    assert page.locator("main pre a").count() == 0


def test_hostile_replies_are_text(opened, runs: Runs) -> None:
    replies = {
        one.reply: (run, one.item)
        for run in runs.all
        if run.prompt == "cot"
        for one in run.replies
        if one.reply in HOSTILE
    }
    assert set(replies) == set(HOSTILE), "the test needs all of them"
    for reply, (run, item) in replies.items():
        page = opened(address("item", run.id, item))
        told(page, reply)
        assert not page.evaluate("window.owned")
        page.goto(page.url.partition("#")[0] + address("answers", run.id, q=reply[:40].strip()))
        settled(page)
        expect(page.get_by_role("grid").get_by_role("link", name=item)).to_be_visible()
        assert page.locator("main").locator("script, img, iframe, style").count() == 0
    name = "<img src=x onerror='window.owned=true'>"
    run = runs.get(name, variant="limit=6")
    for view in (
        address("board", task="corr2cause"),
        address("charts", task="corr2cause"),
        address("item", run.id, run.replies[0].item),
    ):
        page = opened(view)
        assert page.locator("main img").count() == 0 and not page.evaluate("window.owned")
    expect(page.get_by_role("heading", name=name)).to_be_visible()
