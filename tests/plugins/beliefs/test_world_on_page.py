"""The believed class beside the true one, on the page of each item about a premise."""

from __future__ import annotations

import pytest

from harness import evaluate
from harness.causal.cpdag import cpdag
from harness.causal.dag import bits
from harness.plugins.beliefs.page import names_of, sections
from harness.storage.record_lines import turns
from harness.tasks.corr2cause.text import LETTERS, read_dag, read_question


@pytest.fixture(scope="module")
def run_of(tmp_path_factory):
    results = str(tmp_path_factory.mktemp("whole"))
    settings = {"split": "all", "num_nodes": [4], "perturbation": "varied", "limit": 4, "results": results}
    return lambda model, **more: evaluate(model, "corr2cause", **settings, **more)


def test_both_classes_are_drawn_in_the_names_of_the_question(run_of):
    run = run_of("hypothesis_only", whole=True)
    by_item = {item: section for item, _, section in sections(run)}
    assert len(by_item) == len(list(run.lines())) > 100
    drawn = 0
    for line in run.lines():
        premise, _ = read_question(turns(line)[-1]["content"])
        section = by_item[line["item"]]
        true, nearest = section.pictures
        pattern = cpdag(read_dag(premise))
        assert true.nodes == nearest.nodes == premise.names
        assert set(true.arrows) == {(u, v) for v, above in enumerate(pattern.directed) for u in bits(above)}
        beside = {frozenset((u, v)) for v, others in enumerate(pattern.undirected) for u in bits(others)}
        assert {frozenset(edge) for edge in true.lines} == beside
        apart = {frozenset(edge) for edge in (*true.marked, *nearest.marked)}
        assert f"{len(apart)} pairs off" in nearest.caption and "shuffled" in section.note
        drawn += bool(apart)
    assert drawn


def test_the_number_is_never_shown_alone(run_of):
    (text,) = {section for *_, section in sections(run_of("always_no", whole=True))}
    assert not text.pictures and not any(letter.isdigit() for letter in text.note)


def test_who_was_not_asked_about_whole_premises_has_none(run_of):
    assert list(sections(run_of("hypothesis_only"))) == []


def test_without_words_nodes_have_the_letters_of_the_ids():
    line = {"item": "n3-g1-parent-A-B", "request": None}
    assert names_of(3, [line]).listed == LETTERS[:3]
