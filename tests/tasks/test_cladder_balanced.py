"""The 1,000 published questions that are built in, and what their numbers at full precision imply."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest
from support.cladder_help import task as cladder

from harness.errors import ConfigError
from harness.tasks.cladder.full_precision import value_of_numbers
from harness.tasks.cladder.items import public_texts, sample_candidates, text_digest
from harness.tasks.cladder.queries import NUMERIC
from harness.tasks.cladder.sources import balanced1000
from harness.tasks.cladder.stated import XY

task = partial(cladder, split="balanced1000")


@pytest.mark.slow
def test_the_questions_are_the_published_ones_and_known_to_be_public():
    items = list(task().items())
    assert len(items) == len({item.id for item in items}) == 1000
    assert items[0].id == "14890" and items[0].cluster.endswith("-chain-anticommonsense-model2134")
    # Their digests were taken from the authors' file before these questions shipped.
    assert {text_digest(item.fields["text"]) for item in items} <= public_texts()
    assert Counter(item.labels["published"] for item in items) == {0: 505, 1: 495}


@pytest.mark.slow
def test_where_the_key_is_not_what_the_words_or_the_model_imply():
    items = list(task().items())
    for label_set, known, against in (("stated", 889, 13), ("exact", 873, 18)):
        with_it = [item for item in items if label_set in item.labels]
        assert len(with_it) == known == len(list(task(labels=label_set).items()))
        assert sum(item.labels[label_set] != item.labels["published"] for item in with_it) == against
    both = [item for item in items if {"stated", "exact"} <= item.labels.keys()]
    assert len(both) > 800 and all(item.labels["stated"] == item.labels["exact"] for item in both)


def test_numbers_at_full_precision_give_the_value_of_the_model_or_none():
    """Against the models of the authors' sample, whose files have the same numbers with the same mistake."""
    settled = set()
    for candidate in sample_candidates():
        question = candidate.question
        query, graph = question.ask.query, question.model.scm.graph.name
        if query not in NUMERIC:
            continue
        given = {}
        for (node, causes), values in question.model.facts(query).tables.items():
            if node == XY:
                given |= dict(zip(("P(Y=1, X=0)", "P(Y=1, X=1)"), values, strict=True))
            else:
                given[f"p({node} | {', '.join(causes)})" if causes else f"p({node})"] = list(values)
        value = value_of_numbers(query, graph, given)
        if value is None:
            assert graph in ("arrowhead", "IV", "confounding")
        elif query == "exp_away":
            assert (value > 0) == (question.value > 0)
        else:
            settled.add((query, graph))
            assert value == pytest.approx(question.value, abs=1e-6)
    assert len(settled) > 35


def test_the_package_has_all_numbers_of_the_file():
    rows = [row for row in balanced1000() if row.query in NUMERIC]
    known = [row for row in rows if row._value is not None]
    assert len(known) == 560 and len(rows) == 687


def test_other_words_need_questions_that_are_made_here():
    with pytest.raises(ConfigError, match="perturbation"):
        task(perturbation="letters")
