"""Trees without names: what ships is evaluated as scikit-learn does, and no name makes a difference."""

from __future__ import annotations

from harness.tasks.corr2cause.claim import ItemWriter
from harness.tasks.corr2cause.enumerate import public_test
from harness.tasks.corr2cause.fresh.trees import Trees, forests
from harness.types import ChoiceRequest, Message


def log_odds(item):
    request = ChoiceRequest((Message("user", item.fields["input"]),), ("Yes", "No"))
    [[(_, response)]] = Trees().respond([request])
    return response.logprobs["Yes"] - response.logprobs["No"]


def test_names_and_places_make_no_difference():
    claims = public_test("v2")[::60]
    for perturbation in ("permutation", "varied", "refactorization"):
        writer = ItemWriter(perturbation, 3)
        for claim in claims:
            assert log_odds(writer.item(claim)) == log_odds(ItemWriter("none", 0).item(claim))


def test_what_ships_is_blind_to_none_of_the_relations():
    assert len(forests()) == 4
    assert all(len(model.trees) == 100 for model in forests().values())
