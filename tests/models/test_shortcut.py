"""model=shortcut: what counting sentences is worth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.corr2cause_help import corr2cause
from support.outcomes import each

from harness.api import evaluate
from harness.causal.relations import Relation
from harness.errors import ConfigError
from harness.prompting.prompts import load
from harness.tasks.corr2cause import shortcut
from harness.tasks.corr2cause.text import read_premise
from harness.tasks.text_models import log_share
from harness.types import ChatRequest, ChoiceRequest, Message

PROMPT = load("corr2cause", "plain", ())
TEXT = (
    "Suppose there is a closed system of 4 variables, A, B, C and D. All the statistical relations among these 4 "
    "variables are as follows: A correlates with C. A correlates with D. B correlates with D. C correlates with D. "
    "However, A is independent of B. B is independent of C. A and B are independent given C. A and D are independent "
    "given C. A and D are independent given B and C. B and C are independent given A."
)


def rows(relation, i, j):
    premise = read_premise(TEXT)
    counts = shortcut.count(4, premise.independences)
    return shortcut.features(counts, relation, np.array([i]), np.array([j])).tolist()[0]


def test_the_features_are_counts_of_sentences():
    premise = [4, 4, 2, 4]
    pair = [0, 2]  # A and D
    cause = [1, 3, 1, 0]  # A: of B; three with a condition; in one condition; never given D
    effect = [0, 2, 0, 0]
    assert rows(Relation.PARENT, 0, 3) == [*premise, *pair, *cause, *effect]
    assert rows(Relation.ANCESTOR, 3, 0) == [*premise, *pair, *effect, *cause]
    assert rows(Relation.COLLIDER, 3, 0) == rows(Relation.COLLIDER, 0, 3) == [*premise, *pair, 1, 5, 1, 0]
    # B and C: "B is independent of C", "B and C are independent given A"; A and B once given C.
    assert rows(Relation.PARENT, 1, 2) == [*premise, 1, 1, 2, 2, 1, 1, 1, 1, 3, 0]


def answers_to(task, kind):
    items = list(task.items())
    requests = [PROMPT.render(item.fields, (), kind) for item in items]
    return [PROMPT.parse(response, {}) for _, response in each(shortcut.Shortcut().respond(requests))]


@pytest.mark.slow
def test_it_answers_alike_under_every_perturbation_and_says_how_likely():
    expected = answers_to(corr2cause(), ChoiceRequest)
    labels = [answer.label for answer in expected]
    assert {type(answer.probability) for answer in expected} == {float}
    assert [answer.probability > 0.5 for answer in expected] == [label == 1 for label in labels]
    for perturbation in ("paraphrase", "refactorization", "permutation"):
        assert answers_to(corr2cause(perturbation=perturbation), ChoiceRequest) == expected
    assert [answer.label for answer in answers_to(corr2cause(), ChatRequest)] == labels
    gold = [item.labels["published"] for item in corr2cause().items()]
    hits = sum(1 for label, truth in zip(labels, gold, strict=True) if label == truth == 1)
    # The README's figures: F1 77.46.
    assert (hits, sum(labels), sum(gold)) == (134, 166, 180)


@pytest.mark.slow
def test_the_weights_are_those_of_scikit_learn_on_the_train_split():
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    claims = list(corr2cause(split="train", num_nodes=[4, 5, 6], relations="confounder").items())
    table = []
    for item in claims:
        premise = read_premise(item.fields["premise"])
        i, j = (np.array([premise.names.index(item.fields[name])]) for name in ("var_i", "var_j"))
        counts = shortcut.count(len(premise.names), premise.independences)
        table.append(shortcut.features(counts, Relation.CONFOUNDER, i, j)[0])
    model = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky", tol=1e-10, max_iter=1000))
    model.fit(np.array(table), [item.labels["audited"] for item in claims])
    weights = shortcut.regressions()[Relation.CONFOUNDER]
    log_odds = weights.intercept + np.array(table) @ np.array(weights.slopes)
    assert np.allclose(log_odds, model.decision_function(np.array(table)), atol=1e-6)


@pytest.mark.parametrize("kind", [ChatRequest, ChoiceRequest])
@pytest.mark.parametrize("words", ["Does smoking cause cancer?", f"{TEXT}\nDo they get on?"])
def test_what_it_cannot_read_it_does_not_answer(kind, words):
    more = {"choices": ("Yes", "No")} if kind is ChoiceRequest else {"max_tokens": 5}
    ((_, response),) = each(shortcut.Shortcut().respond([kind((Message("user", words),), **more)]))
    assert response.text.startswith("Unreadable: ") and PROMPT.parse(response, {}).label is None


@pytest.mark.parametrize("log_odds", [-800.0, -1.5, 0.0, 2.0, 800.0])
def test_the_two_probabilities_are_one_together(log_odds):
    yes, no = log_share(log_odds), log_share(-log_odds)
    assert math.isclose(math.exp(yes) + math.exp(no), 1) and math.isclose(yes - no, log_odds, abs_tol=1e-12)


def test_another_task_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="model shortcut answers task=corr2cause only"):
        evaluate("shortcut", "causalbench/causality", limit=2, results=tmp_path)
