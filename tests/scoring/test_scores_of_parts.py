"""Runs of all kinds, cut anywhere into parts: what is counted of the parts comes to what one pass does, bit for bit."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.causalbench_help import causalbench

from harness.scoring import bootstrap, choices, parted, samples, summary
from harness.scoring.audit import by_judge
from harness.types import JUDGE, NOT_IN_FORM, Answer, Failure, Judgement, Record, Response, Usage

ITEMS = 40
RULES = ("", "said", "announced", "opening", f"{NOT_IN_FORM}, said")
TEXTS = ("Yes.", "No", "Yes, as it is", "él", "", "<think> so far", "I cannot help with that.")
WORDS = ("yes", "no", "unreadable", "perhaps", "A")


@pytest.fixture(scope="module", autouse=True)
def few_resamples():
    """Draw an interval from thirty: what it is drawn from is the same, or it is not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "resamples", lambda clusters, items=0: 30)
        yield


class Cut(parted.Parted):
    """Records in parts that begin at some places; what is counted of each comes from another process, it might be."""

    def __init__(self, records: list[Record], places: list[int]) -> None:
        self._records = records
        self._edges = [0, *sorted(min(place, len(records)) for place in places), len(records)]

    def __iter__(self) -> Iterator[Record]:
        raise AssertionError("what reads all records at once counts no parts")

    def fold(self, count):
        for start, end in pairwise(self._edges):
            yield pickle.loads(pickle.dumps(count(iter(self._records[start:end]))))


class YesAndNo:
    name = headline = "audited"
    probable = True

    def records(self, draw: random.Random) -> Iterator[tuple[dict, int]]:
        """Yield what a record of each item has beside its reply, and how many choices the item has."""
        sets = draw.choice([("audited",), ("audited", "original"), ("audited", "original", "some")])
        for item in range(ITEMS):
            groups = {"size": draw.choice(["small", "large"]), "kind": draw.choice("abc")}
            labels = {name: draw.randrange(2) for name in sets if name != "some" or item % 3}
            yield {"item": f"i{item}", "cluster": f"c{item % 7}", "groups": groups, "labels": labels}, 2

    def summarize(self, records):
        return summary.summarize(
            records,
            headline="audited",
            orders={"size": ("small", "large")},
            unreadable="wrong",
            crossed=[("size", "kind")],
            within=lambda record: record.groups["kind"],
            unit="kinds",
        )


class Choices:
    name, headline = "choices", "answer"
    probable = False

    def records(self, draw):
        for item in range(ITEMS):
            groups = {"topic": draw.choice("xy"), choices.CHOICES: str(number := draw.choice([2, 3, 4]))}
            labels = {"answer": draw.randrange(number)}
            yield {"item": f"i{item}", "cluster": f"c{item % 5}", "groups": groups, "labels": labels}, number

    def summarize(self, records):
        return choices.summarize(records, headline="answer", names=("A", "B", "C", "D"))


class Graphs:
    """CausalBench's questions about two small networks, all of them or a few."""

    probable = False  # it would take four times as long

    def __init__(self, task: str) -> None:
        self._task = causalbench(task, networks=["cancer", "earthquake"])
        self.name, self.headline, self.summarize = self._task.name, self._task.headline, self._task.summarize

    def records(self, draw):
        items = list(self._task.items())
        for item in items if draw.random() < 0.5 else draw.sample(items, len(items) // 3):
            kept = {"item": item.id, "cluster": item.cluster, "unit": item.unit, "groups": item.groups}
            yield kept | {"labels": item.labels}, 2


TASKS = {
    "yes and no": YesAndNo(),
    "choices": Choices(),
    "causality": Graphs("Causality"),
    "skeleton": Graphs("Skeleton"),
}


def outcome(draw: random.Random) -> Response | Failure:
    if draw.random() < 0.1:
        return Failure(draw.choice(["timeout", "content_filter", "refusal", "context_length"]), "late")
    usage = Usage(draw.choice([None, 3, 5]), draw.randrange(9), reasoning=draw.choice([None, 2]))
    by_token = {"outside": draw.random(), "bounded": draw.choice([(), ("Yes",)])} if draw.random() < 0.3 else {}
    served = {"served_model": draw.choice(["", "m-1", "m-2"]), "finish_reason": draw.choice(["stop", "length", ""])}
    return Response(draw.choice(TEXTS), usage=usage, **served, **by_token)


def replied(draw: random.Random, task, kept: dict, number: int, sample: int, judge: bool) -> Record:
    reply, request = outcome(draw), f"r{draw.randrange(25)}"
    if isinstance(reply, Failure):
        return Record(**kept, request=request, outcome=reply, answer=None, sample=sample)
    label = draw.choice([None, *range(number)])
    probability = draw.choice([None, 0.1, 0.5, draw.random()]) if task.probable and label is not None else None
    answer = Answer(label, probability, rule=draw.choice(RULES))
    record = Record(**kept, request=request, outcome=reply, answer=answer, sample=sample)
    if not judge or draw.random() < 0.5:
        return record
    asked = draw.randrange(12)
    said = Response(WORDS[asked % len(WORDS)], usage=Usage(asked, None if asked % 3 else 1))
    judgement = Judgement(f"j{asked}", Failure("timeout", "") if draw.random() < 0.2 else said)
    return Record(**kept, request=request, outcome=reply, sample=sample, judgement=judgement,
                  answer=Answer(label, rule=JUDGE) if label is None else answer)  # fmt: skip


def run(task, seed: int, drawn: int, judge: bool, apart: float) -> list[Record]:
    """Return the records of a run, whose samples of one item land so far apart; a few of them are missing."""
    draw = random.Random(seed)
    made = [
        replied(draw, task, kept, number, sample, judge)
        for kept, number in task.records(draw)
        for sample in range(drawn)
        if draw.random() < 0.97
    ]
    places = {id(record): place + apart * draw.random() for place, record in enumerate(made)}
    return sorted(made, key=lambda record: places[id(record)])


@given(
    name=st.sampled_from(sorted(TASKS)),
    seed=st.integers(0, 2**32),
    drawn=st.sampled_from([1, 2, 3, 5]),
    judge=st.booleans(),
    apart=st.sampled_from([0.0, 4.0, 1000.0]),
    places=st.lists(st.integers(0, 250), max_size=6),
)
def test_parts_come_to_what_one_pass_does_bit_for_bit(name, seed, drawn, judge, apart, places):
    task, judged = TASKS[name], "j" if judge else None
    records = run(task, seed, drawn, judge, apart)
    one = samples.summarize(task, lambda: iter(records), drawn, judged)
    cut = samples.summarize(task, lambda: Cut(records, places), drawn, judged)
    assert repr(cut) == repr(one)  # the order of names, and every digit


@pytest.mark.parametrize("name", sorted(TASKS))
def test_drawn_runs_have_what_the_property_is_about(name):
    records = run(TASKS[name], 1, 3, True, 4.0)
    result = samples.summarize(TASKS[name], lambda: iter(records), 3, "j")
    assert result.failures and result.overall.unreadable and result.samples["number"] == 3 and result.grades
    assert result.judge.replies and result.judge.audit and any(map(by_judge, records)) and len(result.notes) > 1
    assert bool(result.files) == isinstance(TASKS[name], Graphs)
