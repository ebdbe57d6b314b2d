"""Several answers to each item: the vote, and how much the draws differ."""

from __future__ import annotations

import itertools

import pytest
from support.made_records import made
from support.scripted import Scripted

from harness.errors import ConfigError
from harness.models.api.openai import Chat
from harness.models.baselines import Baseline
from harness.prompting.fit import check_samples
from harness.prompting.prompts import load
from harness.run import ask
from harness.scoring import samples as scoring
from harness.scoring.samples import Draws, summarize_votes
from harness.tasks.causalbench import Causality
from harness.tasks.corr2cause import Corr2Cause
from harness.tasks.corr2cause.reasoner import Reasoner
from harness.types import Answer, ChatRequest, Failure, Record, Response, Usage


def record(item: str, sample: int, label: int | None, gold: int = 1, failure: str = "") -> Record:
    outcome = Failure(failure, "") if failure else Response("", usage=Usage(input=10, output=1))
    answer = None if failure else Answer(label)
    return made(item, "c", {}, {"published": gold}, "r", outcome, answer, sample)


def votes(*records: Record, samples: int = 3) -> tuple[list[Record], Draws]:
    draws = Draws("published", samples)
    for item in {record.item for record in records}:
        draws.add([record for record in records if record.item == item])
    return list(scoring.votes(records, samples)), draws


@pytest.mark.parametrize(
    ("labels", "voted"),
    [([1, 1, 0], 1), ([0, 0, 0], 0), ([1, None, None], 1), ([1, 0, None], None), ([None, None, None], None)],
)
def test_the_majority_of_what_can_be_read_is_the_vote_and_a_tie_is_none(labels, voted):
    ((vote,), _) = votes(*(record("a", k, label) for k, label in enumerate(labels)))
    assert vote.answer == Answer(voted)


def test_draws_may_come_in_any_order_and_items_mixed():
    records = [record(item, k, int(item == "a" or k == 0)) for item in "ab" for k in range(3)]
    for order in itertools.permutations(records):
        voted, _ = votes(*order)
        assert {vote.item: vote.answer.label for vote in voted} == {"a": 1, "b": 0}


def test_spread_agreement_and_pass_rates_by_hand():
    _, counter = votes(
        *(record("a", k, 1) for k in range(3)),  # right, right, right
        *(record("b", k, int(k == 0)) for k in range(3)),  # right, wrong, wrong
        *(record("c", k, 0) for k in range(3)),  # wrong three times
    )
    summary = counter.summary({"accuracy"}, "wrong")
    assert summary["pass@1"] == pytest.approx(4 / 9)
    assert summary["pass@3"] == pytest.approx(2 / 3) and summary["pass^3"] == pytest.approx(1 / 3)
    assert summary["agreement"] == pytest.approx((1 + 2 / 3 + 1) / 3)
    assert summary["accuracy_mean"] == pytest.approx((2 / 3 + 1 / 3 + 1 / 3) / 3)
    assert summary["accuracy_sd_between_draws"] == pytest.approx(0.19245, abs=1e-5)


def test_a_failed_draw_is_counted_and_votes_for_nothing():
    ((vote,), counter) = votes(record("a", 0, 1), record("a", 1, None, failure="timeout"), record("a", 2, 0))
    assert vote.answer == Answer(None) and counter.failures == {"timeout": 1}
    ((vote,), _) = votes(*(record("a", k, None, failure="timeout") for k in range(3)))
    assert isinstance(vote.outcome, Failure)


@pytest.mark.parametrize("name", ["plain", "cot_two_step"])
def test_each_draw_is_a_request_of_its_own_with_its_own_opening(name):
    task = Corr2Cause(name="corr2cause", prompts=("plain",), limit=7)
    model = Scripted(lambda request: Response("Yes." if request.sample else "No."))
    records = list(ask(task.items(), load("corr2cause", name, ()), model, ChatRequest, samples=3))
    assert sorted((r.item, r.sample) for r in records) == sorted((i.id, k) for i in task.items() for k in range(3))
    assert len(set(model.asked)) == len(model.asked) == 21 * (2 if name == "cot_two_step" else 1)
    result = summarize_votes(task, records, 3)
    assert result.overall.items == 7 and result.samples["number"] == 3
    assert all(r.answer.label == (r.sample > 0) for r in records)
    assert result.samples["agreement"] == pytest.approx(2 / 3)


def test_graphs_of_causalbench_are_those_of_the_vote():
    task = Causality(name="causalbench/causality", prompts=("closed",), networks=("asia",))
    model = Scripted(lambda request: Response("Yes" if request.sample == 2 else "No"))
    records = list(ask(task.items(), load(task.name, "closed", ()), model, ChatRequest, samples=3))
    assert summarize_votes(task, records, 3).overall["shd"] == 8  # no edge drawn, eight missing


def test_samples_of_what_cannot_differ_are_refused(key):
    prompt = load("corr2cause", "plain", ())
    greedy = Chat(name="m", model="m", base_url="http://127.0.0.1:9/v1")
    for model in (greedy, Baseline(name="always_yes", p_yes=1.0), Reasoner(name="reasoner")):
        check_samples(1, prompt, model)
        with pytest.raises(ConfigError, match=r"samples=3: model .* would give the same answer each time"):
            check_samples(3, prompt, model)
    warm = Chat(name="m", model="m", base_url="http://127.0.0.1:9/v1", temperature=0.7)
    check_samples(3, prompt, warm)
    check_samples(3, prompt, Baseline(name="coin", p_yes=0.5))
