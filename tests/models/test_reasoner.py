from __future__ import annotations

import pytest
from support.outcomes import each
from support.thinned import few

from harness.prompting.prompts import load
from harness.run import ask
from harness.tasks.corr2cause.claim import WORDINGS, ItemWriter, claims
from harness.tasks.corr2cause.enumerate import premises
from harness.tasks.corr2cause.reasoner import Reasoner
from harness.types import ChatRequest, Message


def wrong(sizes, perturbation: str, wording: int = 0) -> list[str]:
    writer, prompt = ItemWriter(perturbation, 1, wording), load("corr2cause", "plain", ())
    items = (writer.item(claim) for n in sizes for g in premises(n, "all") for claim in claims(n, g, seed=1))
    found = ask(items, prompt, Reasoner(), ChatRequest)
    return [record.item for record in found if record.answer.label != record.labels["audited"]]


@pytest.mark.slow
@pytest.mark.parametrize("perturbation", ["none", "paraphrase", "refactorization", "permutation"])
def test_it_is_right_about_every_hypothesis_over_up_to_five_variables(perturbation):
    assert wrong((2, 3, 4, 5), perturbation) == []


@pytest.mark.parametrize("wording", few(range(1, WORDINGS), 3))
def test_it_is_right_in_every_wording(wording):
    assert wrong((2, 3, 4), "none", wording) == []


@pytest.mark.slow
@pytest.mark.parametrize("perturbation", ["none", "paraphrase", "refactorization", "permutation"])
def test_it_is_right_about_all_198_090_hypotheses_over_six(perturbation):
    assert wrong((6,), perturbation) == []


def test_what_it_cannot_read_it_does_not_answer():
    request = ChatRequest((Message("user", "Does smoking cause cancer?"),), max_tokens=5)
    ((_, response),) = each(Reasoner().respond([request]))
    assert response.text.startswith("Unreadable") and load("corr2cause", "plain", ()).parse(response, {}).label is None
