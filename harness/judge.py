"""A model that reads the replies in which the rules find no verdict (judge=…).

It goes over the records of a finished run once, and its readings are written into them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import Any

from harness.codec import request_digest
from harness.config_files import PROMPTS
from harness.errors import ConfigError, HarnessError, RunStopped
from harness.prompting import prompts
from harness.prompting.prompts import Prompt
from harness.prompting.schema import read
from harness.protocols import Model, Outcomes, Task, Wrapper
from harness.scoring.samples import unread
from harness.settings import build
from harness.storage import records
from harness.storage.run_folder import Folder
from harness.types import JSON, JUDGE, Answer, ChatRequest, Failure, Judgement, Record, Request, Response

PROMPT = "reply"
"""The prompt of judges: a file of prompts/judge/."""
END = 20_000
"""Characters at either end of a reply that a judge is shown: a verdict stands at one of them."""
_WORDS: Mapping[str, int | None] = {"yes": 1, "no": 0, "unreadable": None}
_AROUND = " \t\r\n.\"'`*"
_NAMES = ("statement", "hypothesis", "question")
"""Fields of an item that say what it asks, the plainest first."""


def judge_of(settings: Mapping[str, Any], *, asks: bool) -> Model:
    """Return the model that the settings of a judge describe; `asks` says whether it needs its key.

    Raises ConfigError for one that cannot judge.
    """
    with _errors_of_judge(settings):
        model: Model = build(settings, "judge")
    if ChatRequest not in model.accepts or model.traits.instant or model.traits.tasks:
        raise ConfigError(
            f"judge={model.name} writes no replies of its own: a judge is a model that writes, such as judge=gpt4."
        )
    if model.traits.ranks:
        raise ConfigError("judge.method=rank: a judge writes what it reads in a reply: leave judge.method out.")
    if asks and (service := model.traits.service) is not None:
        service.check_key()
    return _Judging(model, settings)


class _Judging(Wrapper):
    """A model whose errors name its settings as those of a judge."""

    def __init__(self, model: Model, settings: Collection[str]) -> None:
        super().__init__(model)
        self._settings = settings

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        with _errors_of_judge(self._settings):
            yield from self.model.respond(requests)


@contextmanager
def _errors_of_judge(settings: Collection[str]) -> Iterator[None]:
    """Have errors speak of judge.base_url where a model of its own would say model.base_url."""
    try:
        yield
    except HarnessError as error:
        names = "|".join(re.escape(name) for name in settings)
        error.args = (re.sub(rf"(?<![\w./-])model\.(?=(?:{names})\b)", "judge.", str(error)), *error.args[1:])
        raise


@dataclass(frozen=True)
class Judge:
    """The model that judges, and the prompt it gets."""

    model: Model
    """With what goes around it: budget, cache, ledger."""
    words: Prompt

    @property
    def name(self) -> str:
        return self.model.name


def read_rest(
    task: Task, folder: Folder, judge: Judge, say: Callable[[str], None] = lambda _: None
) -> RunStopped | None:
    """Have the judge read what the rules could not, and leave its readings in the records of a run.

    Return what stopped it before it was asked about every reply; what it has read by then is kept.
    """
    unread_items = Counter(record.item for record in records.read(folder.records_file) if unread(record))
    if not unread_items:
        return None
    count = unread_items.total()
    say(f"{judge.name} judges {count:,} {'reply' if count == 1 else 'replies'} in which the rules have read no answer")
    statements = _statements(task, unread_items)

    def question_of(record: Record) -> Request:
        assert isinstance(record.outcome, Response)
        return request_to_judge(judge.words, statements[record.item], record.outcome.text)

    requests = (question_of(record) for record in records.read(folder.records_file) if unread(record))
    judgements, stopped = _ask(judge, requests)
    with folder.rewrite_records(task.headline) as writer:
        for one in records.read_lines(folder.records_file):
            record = one.record
            if unread(record):
                record = judged(record, judgements.get(request_digest(question_of(record))))
            writer.copy(record, one.line)
    return stopped


def judged(record: Record, judgement: Judgement | None) -> Record:
    """Return an unread record with the judge's reading."""
    if judgement is None:
        return record
    return replace(record, judgement=judgement, answer=reading_of(judgement.outcome))


def _statements(task: Task, ids: Counter[str]) -> dict[str, str]:
    return {item.id: statement_of(item.fields) for item in task.items() if item.id in ids}


def _ask(judge: Judge, requests: Iterable[Request]) -> tuple[Mapping[str, Judgement], RunStopped | None]:
    """Return the outcome of each distinct request by its digest, and the error that stopped the judge."""
    judgements: dict[str, Judgement] = {}
    sent: set[str] = set()

    def distinct() -> Iterator[Request]:
        for request in requests:
            if (name := request_digest(request)) not in sent:
                sent.add(name)
                yield request

    stopped: RunStopped | None = None
    try:
        with closing(judge.model.respond(distinct())) as landing:
            for request, outcome in chain.from_iterable(landing):
                name = request_digest(request)
                judgements[name] = Judgement(name, outcome)
    except RunStopped as reason:
        stopped = reason
    else:
        for name in sent - judgements.keys():
            judgements[name] = Judgement(name, Failure("unanswered", "the judge ended without answering"))
    return judgements, stopped


@cache
def judge_prompt() -> Prompt:
    """Return the prompt that ships with harness: a folder of the working directory is not looked into."""
    where = PROMPTS / "judge" / f"{PROMPT}.yaml"
    return Prompt(PROMPT, where, read(where))


def recorded_prompt(words: Mapping[str, JSON]) -> Prompt:
    """Return the prompt whose words a manifest holds. Raises ConfigError where they make none."""
    return prompts.recorded(PROMPT, words, ())


def statement_of(fields: Mapping[str, JSON]) -> str:
    """Return what an item asks about: its best-known field, else all of its fields."""
    for name in _NAMES:
        if value := fields.get(name):
            return str(value)
    return "\n".join(value for value in fields.values() if isinstance(value, str))


def request_to_judge(words: Prompt, statement: str, reply: str) -> ChatRequest:
    """Return what a judge is asked. The gold label is no part of it."""
    if len(reply) > 2 * END:
        reply = f"{reply[:END]}\n[… {len(reply) - 2 * END:,} characters left out …]\n{reply[-END:]}"
    request = words.render({"statement": statement, "reply": reply}, (), ChatRequest)
    assert isinstance(request, ChatRequest)
    return request


def reading_of(outcome: Response | Failure) -> Answer:
    """Return the answer that a judge has read: its one word, and no label for anything else."""
    if isinstance(outcome, Failure):
        return Answer(label=None)
    word = outcome.text.rpartition("</think>")[2].strip(_AROUND).casefold()
    return Answer(label=_WORDS.get(word), span=outcome.text, rule=JUDGE)
