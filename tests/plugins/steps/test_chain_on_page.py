"""The chain of a reply as the page has it: the verdicts of `harness steps`, each with what shows it."""

from __future__ import annotations

import re

import networkx as nx
import pytest
from support.page_help import Page

from harness import evaluate
from harness.causal.dag import from_edges
from harness.plugins.steps.judging import judge
from harness.plugins.steps.page import section
from harness.report.__main__ import main
from harness.tasks.corr2cause.text import premise, read_premise

KITE = premise(from_edges(4, [(0, 1), (0, 2), (1, 3), (2, 3)]), "ABCD")  # A → B → D ← C ← A; A – B, A – C are open
BEFORE = "1. B and C are not adjacent [premise]\n2. A and B are adjacent [premise]\n"


def line_of(claim: str, *, number: int = 3):
    read = read_premise(KITE)
    lines = section(judge(f"{BEFORE}{number}. {claim}\nAnswer: No", read), read, right=True).lines
    return lines[-1]


@pytest.mark.parametrize(
    ("claim", "words", "why", "captions"),
    [
        ("B and C are adjacent [premise]", "refuted, a leap", "independent given A, so no edge", ["All that"]),
        ("A and C are adjacent [premise]", "entailed, follows", "Nothing makes A and C independent", []),
        ("A and D are dependent given B [premise]", "entailed, follows", "path A ← C → D is open given B", []),
        ("B and C are dependent given A [premise]", "refuted, a leap", "path between B and C is blocked", ["All"]),
        ("B and C are dependent given A and D [1]", "entailed, a leap", "B → D ← C is open given A and D", ["All"]),
        ("A directly causes B [2]", "open, a leap", "A directly causes B in 2 of the 3 graphs", ["All that"]),
        ("A directly causes B", "open, names nothing", "2 of the 3 graphs", ["In this graph it is not so"]),
        ("D causes B", "refuted, names nothing", "D causes B in none of the 3", ["In this graph it is not so"]),
        ("D does not cause B", "entailed, names nothing", "D causes B in none of the 3", []),
        ("It is open whether A directly causes B [2]", "entailed, not judged", "in 2 of the 3", ["so", "not so"]),
        ("It is open whether D causes B [2]", "refuted, not judged", "in none of the 3", ["it is not so"]),
    ],
)
def test_a_claim_stands_with_its_verdicts_and_what_shows_them(claim, words, why, captions):
    line = line_of(claim)
    assert line.text == f"3. {re.sub(r' .premise.| .[0-9].', '', claim)}"
    assert ", ".join(verdict.word for verdict in line.verdicts) == words
    assert why in " ".join(line.why)
    assert len(line.pictures) == len(captions)
    assert all(part in picture.caption for part, picture in zip(captions, line.pictures, strict=True))


def test_graphs_that_show_it_do():
    (leap,) = line_of("A directly causes B [2]").pictures
    assert (1, 0) in leap.arrows and leap.marked == ((1, 0),)  # adjacent, the other way round
    yes, no = line_of("It is open whether A directly causes B [2]").pictures
    for picture, way in ((yes, (0, 1)), (no, (1, 0))):
        graph = nx.DiGraph(picture.arrows)
        assert way in picture.arrows and nx.is_directed_acyclic_graph(graph)
        assert nx.is_d_separator(graph, 1, 2, {0}) and not nx.is_d_separator(graph, 1, 2, {0, 3})  # it fits the premise


def test_the_page_has_the_chains_and_a_filter_by_first_error(tmp_path):
    results = tmp_path / "results"
    for model in ("orients_at_random", "argues_wrong"):
        evaluate(
            model=model, task="corr2cause", prompt="trace", split="all", num_nodes=[4], perturbation="permutation",
            limit=16, results=str(results),
        )  # fmt: skip
    evaluate(model="always_no", task="corr2cause", limit=6, results=str(results))
    assert main([str(results), f"out={tmp_path / 'page.html'}"]) == 0
    page = Page(tmp_path / "page.html")
    runs = {run["model"]: run["answers"] for run in page.runs.values()}
    assert "sections" not in runs["always_no"] and "sections" not in page.chunk(runs["always_no"]["answers"])
    for model, places in (("orients_at_random", {"direction", "last line", "nowhere"}), ("argues_wrong", {"edge"})):
        answers, said = page.chunk(runs[model]["answers"]), page.chunk(runs[model]["sections"])
        names = answers["filters"]["first_error"]["names"]
        assert set(names) <= places and names[0] in places
        for (number,), code, reply in zip(
            answers["sections"], answers["filters"]["first_error"]["codes"], answers["reply"], strict=True
        ):
            assert said[number]["note"] == f"Breaks first: {names[code]}."
            assert len(said[number]["lines"]) == len(reply.splitlines()) - 1
