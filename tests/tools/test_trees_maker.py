"""tools/trees.py: trees are fitted on a part of the train split, and their plain numbers say what scikit-learn says."""

from __future__ import annotations

import numpy as np
from support.tools import tool

from harness.causal.relations import Relation


def test_plain_numbers_say_what_scikit_learn_says():
    trees = tool("trees")
    rows, labels = trees.training(Relation.ANCESTOR, (4, 5))
    model = trees.fit(rows[:500], labels[:500], max_iter=4)
    plain = trees.forest(model)
    own = [plain.log_odds(row) for row in rows[500:900].tolist()]
    assert np.array_equal(own, model.decision_function(rows[500:900])) and len(set(own)) > 3
