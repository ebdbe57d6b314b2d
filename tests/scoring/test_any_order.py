"""Runs of all tasks: their records are read once, and come in any order, to the same scores, bit for bit."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.made_records import made

from harness.config_files import CONFIGS, listed, settings_in
from harness.prompting import prompts
from harness.scoring import bootstrap, choices, samples
from harness.scoring.audit import by_judge
from harness.scoring.summary import summarize
from harness.settings import build, class_of
from harness.types import JUDGE, NOT_IN_FORM, Answer, Failure, Judgement, Record, Response, Result, Usage, parts_of

ITEMS = 40
RULES = ("", "said", "announced", "opening", f"{NOT_IN_FORM}, said")
REPLIES = (
    *("Yes.", "No", "Yes, as it is", "él", "", "<think> so far", "I cannot help with that.", "Answer: Yes"),
    *("Answer: No", "Answer: none", "Answer: X -> Y; V1 -> Y", "Answer: A - B; B - C", "Answer: 0.25", "Answer: -0.1"),
    *("Smoking (0.9), asia (0.2)", "1. Age: 0.5\n2. Bronchitis: 0.7", "Answer: average treatment effect", "30%"),
    "Premise: Rain wets the street.\nHypothesis: Rain makes it wet.\nExplanation: It is water.",
)
"""Of each parser that ships some that it can read, and some that it cannot."""
WORDS = ("yes", "no", "unreadable", "perhaps", "A")


@pytest.fixture(scope="module", autouse=True)
def few_resamples():
    """Draw an interval from thirty: what it is drawn from is the same, or it is not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "resamples", lambda clusters, items=0: 30)
        yield


class YesAndNo:
    """A task of Yes and No with every kind of breakdown."""

    name = headline = "audited"
    remarks = ()

    def summarize(self, records: Iterable[Record]) -> Result:
        return summarize(
            records,
            headline="audited",
            orders={"size": ("small", "large")},
            unreadable="wrong",
            crossed=[("size", "kind")],
            within=lambda record: record.groups["kind"],
            unit="kinds",
        )


class Sets(YesAndNo):
    """Questions that have several labels, some of them, and probabilities."""

    def records(self, draw: random.Random) -> Iterator[dict]:
        """Yield what a record of each item has beside its reply."""
        sets = draw.choice([("audited",), ("audited", "original"), ("audited", "original", "some")])
        for item in range(ITEMS):
            groups = {"size": draw.choice(["small", "large"]), "kind": draw.choice("abc")}
            labels = {name: draw.randrange(2) for name in sets if name != "some" or item % 3}
            yield {"item": f"i{item}", "cluster": f"c{item % 7}", "groups": groups, "labels": labels}

    def answer(self, draw: random.Random, kept: dict, reply: Response) -> Answer:
        label = draw.choice([None, 0, 1])
        probability = draw.choice([None, 0.1, 0.5, draw.random()]) if label is not None else None
        return Answer(label, probability, rule=draw.choice(RULES))


class Choices:
    name, headline, remarks = "choices", "answer", ()

    def records(self, draw):
        for item in range(ITEMS):
            groups = {"topic": draw.choice("xy"), choices.CHOICES: str(number := draw.choice([2, 3, 4]))}
            labels = {"answer": draw.randrange(number)}
            yield {"item": f"i{item}", "cluster": f"c{item % 5}", "groups": groups, "labels": labels}

    def answer(self, draw, kept, reply):
        return Answer(draw.choice([None, *range(int(kept["groups"][choices.CHOICES]))]), rule=draw.choice(RULES))

    def summarize(self, records):
        return summarize(records, headline="answer", orders={}, choices=("A", "B", "C", "D"))


class Shipped:
    """A task by the name of its config: the first of its items or a few of them, replies as its prompt reads them."""

    def __init__(self, name: str, folder: Path) -> None:
        (file := folder / "questions.csv").write_text("question,label\n" + "".join(f"{k}?,{k % 2}\n" for k in range(9)))
        own = {"path": str(file)} if name == "questions" else {}
        self.task = build({**settings_in(NAMES[name]), "limit": 12, **own}, "task")
        self.name, self.headline, self.summarize = self.task.name, self.task.headline, self.task.summarize
        self.remarks = self.task.remarks
        self.items = {item.id: item for item in islice(self.task.items(), 90)}
        self._prompt = prompts.load(name, self.task.prompts[0], ())

    def records(self, draw):
        items = list(self.items.values())
        for item in items if draw.random() < 0.8 else draw.sample(items, len(items) // 3):
            kept = {"item": item.id, "cluster": item.cluster, "unit": item.unit, "groups": item.groups}
            yield kept | {"labels": item.labels}

    def answer(self, draw, kept, reply):
        return self._prompt.parse(reply, self.items[kept["item"]].fields)


NAMES = listed(CONFIGS, "task", own=False)
ONE_OF_EACH = {class_of(settings_in(file)["_target_"], "task").summarize: name for name, file in NAMES.items()}
"""A task for each way to score one."""


@pytest.fixture(scope="module")
def task_of(tmp_path_factory):
    folder = tmp_path_factory.mktemp("questions")
    return cache(lambda name: {"sets": Sets, "choices": Choices}.get(name, lambda: Shipped(name, folder))())


def outcome(draw: random.Random) -> Response | Failure:
    if draw.random() < 0.1:
        return Failure(draw.choice(["timeout", "content_filter", "refusal", "context_length"]), "late")
    usage = Usage(draw.choice([None, 3, 5]), draw.randrange(9), reasoning=draw.choice([None, 2]))
    by_token = {"outside": draw.random(), "bounded": draw.choice([(), ("Yes",)])} if draw.random() < 0.3 else {}
    served = {"served_model": draw.choice(["", "m-1", "m-2"]), "finish_reason": draw.choice(["stop", "length", ""])}
    return Response(draw.choice(REPLIES), usage=usage, **served, **by_token)


def replied(draw: random.Random, task, kept: dict, sample: int, judge: bool) -> Record:
    reply, request = outcome(draw), f"r{draw.randrange(25)}"
    if isinstance(reply, Failure):
        return made(**kept, request=request, outcome=reply, answer=None, sample=sample)
    answer = task.answer(draw, kept, reply)
    record = made(**kept, request=request, outcome=reply, answer=answer, sample=sample)
    if not judge or draw.random() < 0.5:
        return record
    asked = draw.randrange(12)
    said = Response(WORDS[asked % len(WORDS)], usage=Usage(asked, None if asked % 3 else 1))
    judgement = Judgement(f"j{asked}", **parts_of(Failure("timeout", "") if draw.random() < 0.2 else said))
    return made(**kept, request=request, outcome=reply, sample=sample, judge=judgement,
                  answer=Answer(None, rule=JUDGE) if answer.label is None else answer)  # fmt: skip


def run(task, seed: int, drawn: int, judge: bool, apart: float) -> list[Record]:
    """Return the records of a run, whose samples of one item land so far apart; a few of them are missing."""
    draw = random.Random(seed)
    made = [
        replied(draw, task, kept, sample, judge)
        for kept in task.records(draw)
        for sample in range(drawn)
        if draw.random() < 0.97
    ]
    places = {id(record): place + apart * draw.random() for place, record in enumerate(made)}
    return sorted(made, key=lambda record: places[id(record)])


def check(task, seed: int, judge: bool, apart: float) -> None:
    """Compare a run with the same one in another order; of several samples the vote has the words of the first."""
    records, judged = run(task, seed, 1, judge, 0.0), "j" if judge else None
    again = run(task, seed, 1, judge, apart)
    assert sorted(map(repr, records)) == sorted(map(repr, again))
    scores = [samples.summarize(task, lambda of=of: iter(of), 1, judged) for of in (records, again, records[::-1])]
    assert repr(scores[0]) == repr(scores[1]) == repr(scores[2])  # the order of names, and every digit


RUN = {"seed": st.integers(0, 2**32), "judge": st.booleans(), "apart": st.sampled_from([4.0, 1000.0])}


@given(name=st.sampled_from(["sets", "choices"]), **RUN)
def test_records_in_any_order_come_to_the_same_scores(task_of, name, seed, judge, apart):
    check(task_of(name), seed, judge, apart)


@pytest.mark.parametrize("name", sorted(ONE_OF_EACH.values()))
def test_so_they_do_in_each_way_to_score_a_task(task_of, name):
    check(task_of(name), seed=1, judge=False, apart=1000.0)


@pytest.mark.parametrize("name", ["sets", "choices"])
def test_drawn_runs_have_what_the_property_is_about(task_of, name):
    records = run(task_of(name), 1, 3, True, 4.0)
    result = samples.summarize(task_of(name), lambda: iter(records), 3, "j")
    assert result.failures and result.overall.unreadable and result.samples["number"] == 3 and result.grades
    assert result.judge.replies and result.judge.audit and any(map(by_judge, records))
