"""Money as an invariant: stories of batches with servers whose behaviour is drawn (support_batches.py)."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
import support_batches
from harness_batches.model import Batched
from support.outcomes import each
from support_batches import CHOICES, REQUESTS, DrawnServer, draw, story

from harness.cache.model import CachedModel
from harness.cache.store import Store
from harness.cost.budget import Budget, Budgeted
from harness.cost.ledger import Ledger
from harness.cost.price import Price
from harness.cost.size import size
from harness.settings import Limits


def stories(count: int, seed: int, folder: Path) -> Counter[str]:
    tally: Counter[str] = Counter()
    source = random.Random(seed)
    for number in range(count):
        choice = draw(source, quiet=source.choice([0.3, 0.7, 0.9]))
        place = folder / str(number)
        place.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            try:
                tally += story(dict(choice), place, patch)
            except BaseException as error:
                odd = {name: value for name, value in choice.items() if value != CHOICES[name][0]}
                raise AssertionError(f"story {number} of seed {seed}: {odd}") from error
    return tally


@pytest.mark.parametrize("count", [8, pytest.param(100, marks=pytest.mark.slow)])
def test_no_request_is_billed_twice_whatever_a_server_does(tmp_path, count):
    tally = stories(count, 1, tmp_path)
    assert tally["complete"] > count / 6 and tally["waits"] > count / 6, tally


def test_a_line_that_was_worked_on_is_not_given_back_to_the_budget(tmp_path, monkeypatch):
    """Its reply ended as the window was full: of a failed call that name says that nothing was done."""
    full = {
        "index": 0,
        "message": {"role": "assistant", "content": ""},
        "finish_reason": "model_context_window_exceeded",
    }
    monkeypatch.setattr(support_batches, "reply", lambda: {"id": "c", "model": "m", "choices": [full]})
    choice = {name: options[0] for name, options in CHOICES.items()} | {"failing": 1}
    endpoint = support_batches.use(DrawnServer(choice), monkeypatch)
    budget = Budget(Limits(usd=1e6))
    with closing(Store(tmp_path / "answers.sqlite")) as store:
        batched = Batched(endpoint, store, CachedModel(endpoint, store).key)
        ledger = Ledger(Price(((0, 10.0),), ((0, 100.0),)), paid=True)
        outcomes = dict(each(Budgeted(batched, budget, ledger).respond(REQUESTS)))
    assert [outcome.kind for outcome in outcomes.values()].count("context_length") == 2
    most = [10 * one.input_most + 100 * one.output_most for one in (size(each, endpoint) for each in REQUESTS)]
    assert budget.spent.usd == pytest.approx(sum(most) / 1e6)
