"""Tools that make what ships: it is made again as it is, and what they fit is what scikit-learn fits."""

from __future__ import annotations

import numpy as np
from support.tools import TOOLS, tool

from harness.causal.relations import Relation
from harness.tasks.cladder.shortcut import WordWeights, features
from harness.tasks.cladder.task import CLadder
from harness.tasks.corr2cause.fresh.matching import index
from harness.tasks.corr2cause.shortcut import CLAIMS
from harness.tasks.corr2cause.small_models import _text
from harness.tasks.text_models import Forest


def test_plain_numbers_say_what_scikit_learn_says():
    trees = tool("counting_models")
    rows, labels = trees.training(Relation.ANCESTOR, (4, 5))
    model = trees.fit(rows[:500], labels[:500], max_iter=4)
    plain = trees.forest(model)
    own = [plain.log_odds(row) for row in rows[500:900].tolist()]
    assert np.array_equal(own, model.decision_function(rows[500:900])) and len(set(own)) > 3


def test_the_shortcuts_of_cladder_are_fitted_anew():
    fitting = tool("cladder_shortcut")
    items = list(CLadder("cladder", ("plain",), seed=-1, limit=400).items())
    texts, labels = [str(item.fields["text"]) for item in items], [item.labels["stated"] for item in items]
    forest, weights = Forest(**fitting.numbers(texts, labels)), WordWeights(**fitting.words(texts, labels))
    for log_odds in (lambda text: forest.log_odds(features(text)), weights.log_odds):
        assert np.mean([(log_odds(text) > 0) == label for text, label in zip(texts, labels, strict=True)]) > 0.8


def test_the_threshold_is_the_best_one_on_the_data():
    data = tool("small_models").LabelledClaims(
        [("x",)], {"a": [(0, 1)] * 9 + [(0, 0)], "b": [(0, 1)] * 4 + [(0, 0)] * 6, "c": [(0, 0)] * 9}, ""
    )
    assert tool("small_models").fit_shares(data).threshold == 0.2  # a and b are Yes: F1 0.79, where a alone has 0.78


def test_what_ships_is_made_again_byte_for_byte():
    for name, text in tool("small_models").files().items():
        assert text == _text(*name.split("/")), name


def test_the_index_is_what_its_command_makes():
    for name, rows in tool("pairs").make(5).items():
        shipped = [(pair.n, CLAIMS.index(pair.kind), *pair.yes, *pair.no) for pair in index(name)]
        assert [row for row in shipped if row[0] == 5] == list(map(tuple, rows))


def test_richer_counts_tell_the_halves_of_a_pair_apart_only_where_they_are_not_matched(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    row = tool("pair_trees").row
    for name in ("counts", "strict"):
        assert {bool((row(pair, pair.yes) == row(pair, pair.no)).all()) for pair in index(name)[:9]} == {
            name == "strict"
        }
