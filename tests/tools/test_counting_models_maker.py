"""Tools that fit baselines: on a part of the data, plain numbers say what scikit-learn says."""

from __future__ import annotations

import numpy as np
from support.tools import tool

from harness.causal.relations import Relation
from harness.tasks.cladder.shortcut import WordWeights, features
from harness.tasks.cladder.task import CLadder
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
