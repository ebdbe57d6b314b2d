"""model=hypothesis_only and model=linear: what 150 numbers, and 16,576, make of Corr2Cause."""

from __future__ import annotations

import hashlib
import math

import pytest
from support.corr2cause_help import corr2cause
from support.outcomes import each

from harness.prompting.prompts import load
from harness.tasks.corr2cause.small_models import (
    HypothesisOnly,
    Linear,
    sentences,
    shipped_shares,
    shipped_weights,
)
from harness.tasks.data_files import shipped
from harness.types import ChatRequest, ChoiceRequest, Message

PROMPT = load("corr2cause", "plain", ())
PREMISE = (
    "Suppose there is a closed system of 4 variables, A, B, C and D. All the statistical relations among these 4 "
    "variables are as follows: A correlates with C. B correlates with C. However, A is independent of B. A and D are "
    "independent given B and C."
)


def counts(model, kind=ChoiceRequest, labels="published", **settings):
    """Hits, Yes said, Yes right, and what was not answered."""
    items = list(corr2cause(**settings).items())
    requests = [PROMPT.render(item.fields, (), kind) for item in items]
    said = [PROMPT.parse(response, {}).label for _, response in each(model.respond(requests))]
    gold = [item.labels[labels] for item in items]
    hits = sum(1 for label, truth in zip(said, gold, strict=True) if label == truth == 1)
    return hits, sum(label == 1 for label in said), sum(gold), said.count(None)


@pytest.mark.parametrize(
    ("model", "settings", "expected"),
    [
        # docs/findings.md: F1 57.04, 56.55 on v1; 93.62, 93.13 on v1, 31.03 under other names.
        (HypothesisOnly(), {}, (164, 395, 180, 0)),
        (Linear(), {}, (176, 196, 180, 0)),
        (Linear(), {"labels": "audited"}, (190, 196, 192, 0)),
        (Linear(), {"perturbation": "permutation"}, (45, 110, 180, 0)),
        (Linear(), {"perturbation": "paraphrase"}, (0, 0, 180, 0)),
        (HypothesisOnly(), {"perturbation": "refactorization"}, (0, 0, 180, 0)),
    ],
    ids=str,
)
def test_what_it_scores(model, settings, expected):
    assert counts(model, **settings) == expected


def test_ranked_and_written_answers_agree():
    for model in (HypothesisOnly(), Linear()):
        assert counts(model, ChatRequest, num_nodes=[4, 5]) == counts(model, num_nodes=[4, 5])


def test_a_premise_is_its_sentences_letter_for_letter():
    assert sentences(PREMISE) == (
        "closed system of 4 variables, A, B, C and D",
        "A correlates with C",
        "B correlates with C",
        "A is independent of B",
        "A and D are independent given B and C",
    )


def test_the_score_is_the_sum_of_the_weights_of_the_sentences():
    claim = "There exists at least one collider (i.e., common effect) of A and B"
    own, model = shipped_weights()[claim], Linear()
    total = own.intercept + sum(own.weights[sentence] for sentence in sentences(PREMISE))
    assert model.log_odds(f"{PREMISE}\n{claim}.") == pytest.approx(total / 1000, abs=0.001) != 0
    # What it has no weight for counts for nothing: a seventh variable.
    assert model.log_odds(f"{PREMISE} A correlates with G.\n{claim}.") == model.log_odds(f"{PREMISE}\n{claim}.")


def test_the_floor_sees_no_premise_and_its_probability_is_seen_from_the_threshold():
    claim = "A directly causes D"
    yes, total = shipped_shares()[claim]
    odds = (yes + 0.5) / (total - yes + 0.5) * (1 - 0.33) / 0.33
    values = {
        HypothesisOnly().log_odds(f"{premise}\n{claim}.")
        for premise in (PREMISE, PREMISE[:200], "closed system of mice")
    }
    assert [*values] == [pytest.approx(math.log(odds), abs=1e-3)]


@pytest.mark.parametrize("model", [HypothesisOnly(), Linear()], ids=str)
def test_without_a_premise_there_is_no_answer(model):
    ((_, response),) = each(model.respond([ChatRequest((Message("user", "A directly causes D."),), max_tokens=5)]))
    assert response.text.startswith("Unreadable: ") and PROMPT.parse(response, {}).label is None


@pytest.mark.parametrize(
    "hypothesis",
    [
        "Do they get on?",
        "A directly affects B.",  # Table 9
        "A directly causes G.",  # of seven variables
        "A directly causes Bob.",
        "Z directly causes Y.",
    ],
)
def test_a_hypothesis_that_it_was_not_fitted_on_is_answered_as_the_train_split_as_a_whole(hypothesis):
    odds = 43_429 / (205_026 - 43_429)
    words = f"{PREMISE}\n{hypothesis}"
    assert Linear().log_odds(words) == pytest.approx(math.log(odds), abs=2e-3)
    assert HypothesisOnly().log_odds(words) == pytest.approx(math.log(odds * 0.67 / 0.33), abs=2e-3)


def test_of_several_examples_the_last_question_is_answered():
    asked = f"{PREMISE}\nA directly causes D."
    other = f"{PREMISE}\nB directly causes C.\nYes\n\n{asked}"
    assert Linear().log_odds(other) == Linear().log_odds(asked)


def test_the_identity_is_that_of_the_numbers():
    assert Linear().identity == {
        "kind": "linear",
        "sha256": hashlib.sha256(shipped("models/linear/weights.csv")).hexdigest(),
    }
    assert HypothesisOnly().identity["threshold"] == 0.33
