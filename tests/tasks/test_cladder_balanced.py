"""The 1,000 published questions that are built in, and what their numbers at full precision imply."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from functools import partial
from importlib import resources

import pytest
from support.cladder_help import task as cladder

from harness.errors import ConfigError
from harness.tasks.cladder.graphs import GRAPHS
from harness.tasks.cladder.items import public_texts, text_digest
from harness.tasks.cladder.queries import Ask
from harness.tasks.cladder.stated import XY, effect_range, follows

task = partial(cladder, split="balanced1000")


def test_the_questions_are_the_published_ones_and_their_keys_are_not_always_what_words_or_model_imply():
    items = list(task().items())
    assert len(items) == len({item.id for item in items}) == 1000
    assert items[0].id == "14890" and items[0].cluster.endswith("-chain-anticommonsense-model2134")
    # Their digests were taken from the authors' file before these questions shipped.
    assert {text_digest(item.fields["text"]) for item in items} <= public_texts()
    assert Counter(item.labels["published"] for item in items) == {0: 505, 1: 495}
    for label_set, known, against in (("stated", 889, 13), ("exact", 873, 18)):
        with_it = [item for item in items if label_set in item.labels]
        assert len(with_it) == known == len(list(task(labels=label_set).items()))
        assert sum(item.labels[label_set] != item.labels["published"] for item in with_it) == against
    both = [item for item in items if {"stated", "exact"} <= item.labels.keys()]
    assert len(both) > 800 and all(item.labels["stated"] == item.labels["exact"] for item in both)


def test_the_exact_answers_that_ship_are_those_of_the_numbers_at_full_precision():
    """Of arrowhead the authors' P(Y | X) is wrong, so nothing follows from it; elsewhere the range is one value."""
    known = 0
    packed = (resources.files("harness") / "data" / "cladder" / "balanced1000.json.gz").read_bytes()
    for row in json.loads(gzip.decompress(packed)):
        if not (numbers := row.get("given_info")):
            continue
        tables = tables_of(numbers)
        exact = None
        if row["graph_id"] != "arrowhead" or ("Y", ("X",)) not in tables:
            least, most = effect_range(row["query_type"], GRAPHS[row["graph_id"]], tables, slack=0.0)
            if most - least <= 1e-9:
                exact = int(follows(Ask(row["query_type"], row["polarity"]), (least, least)))
        assert row.get("exact") == exact, row["id"]
        known += exact is not None
    assert known == 560


def tables_of(numbers):
    """The tables in percents by node and causes; P(X = 0, Y = 1) and P(X = 1, Y = 1) together."""
    tables = {}
    for name, values in numbers.items():
        if match := re.fullmatch(r"[pP]\((\w+)(?:=1)?(?: \| ([\w, ]+))?\)", name):
            tables[match[1], tuple(match[2].split(", ")) if match[2] else ()] = percents(values)
        else:
            tables[XY, ()] = [*tables.get((XY, ()), []), *percents(values)]
    return tables


def percents(table):
    return [value for part in table for value in percents(part)] if isinstance(table, list) else [100 * table]


def test_other_words_need_questions_that_are_made_here():
    with pytest.raises(ConfigError, match="perturbation"):
        task(perturbation="letters")
