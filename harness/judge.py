"""A model that reads the replies in which the rules find no verdict, and a sample of the others (judge=…).

It goes over the records of a finished run once, and its readings are written into them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import Any

from msgspec import structs

from harness.codec import request_digest
from harness.config_files import PROMPTS
from harness.errors import ConfigError, HarnessError, RunStopped
from harness.prompting import prompts
from harness.prompting.prompts import Prompt, constrained
from harness.prompting.reading.own_words import own_words
from harness.prompting.schema import read
from harness.protocols import Model, Task
from harness.scoring.audit import audited_sample, judge_words, key_of, read_by_rules, unread, verdict
from harness.settings import build
from harness.storage import records
from harness.storage.run_folder import Folder
from harness.types import (
    JSON,
    JUDGE,
    Answer,
    AnswerForm,
    ChatRequest,
    Failure,
    Judgement,
    Record,
    Request,
    Response,
    parts_of,
)

END = 20_000
"""Characters at either end of a reply that a judge is shown: a verdict stands at one of them."""
AUDITED = 50
"""How many of the replies that the rules did read a new judge reads as well, so that their errors are known."""
_NAMES = ("statement", "hypothesis", "question")
"""Fields of an item that say what it asks, the plainest first."""


def judge_of(settings: Mapping[str, Any], prompt: Prompt, *, asks: bool) -> Judge:
    """Return the judge that settings describe, of replies to a prompt; `asks` says whether it needs its key.

    It is held to its words where its server can. Raises ConfigError for a model that cannot judge.
    """
    with _errors_of_judge():
        model: Model = build(settings, "judge")
    if ChatRequest not in model.accepts or model.traits.instant or model.traits.tasks:
        raise ConfigError(
            f"judge={model.name} writes no replies of its own: a judge is a model that writes, such as judge=gpt4."
        )
    if model.traits.ranks:
        raise ConfigError("judge.method=rank: a judge writes what it reads in a reply: leave judge.method out.")
    service = model.traits.service
    if asks and service is not None:
        service.check_key()
    words = judge_prompt(prompt.words.choices_from, None if service is None else service.means)
    return Judge(model, words, AUDITED)


@contextmanager
def _errors_of_judge() -> Iterator[None]:
    """Have errors speak of judge.base_url where a model of its own would say model.base_url."""
    try:
        yield
    except HarnessError as error:
        error.args = (re.sub(r"(?<![\w./-])model\.(?=[a-z])", "judge.", str(error)), *error.args[1:])
        raise


@dataclass(frozen=True)
class Judge:
    """The model that judges, and the prompt it gets."""

    model: Model
    """With what goes around it: budget, cache, ledger."""
    words: Prompt
    sample: int = 0
    """How many of the replies that the rules did read it reads as well."""

    @property
    def name(self) -> str:
        return self.model.name


def read_rest(
    task: Task, folder: Folder, judge: Judge, say: Callable[[str], None] = lambda _: None
) -> RunStopped | None:
    """Have the judge read what the rules could not, and leave its readings in the records of a run.

    Return what stopped it before it was asked about every reply; what it has read by then is kept.
    """
    path = folder.records_file
    audited = audited_sample(records.read(path), judge.sample)

    def is_audited(record: Record) -> bool:
        return key_of(record) in audited and read_by_rules(record)

    items = Counter(record.item for record in records.read(path) if unread(record))
    count = items.total()
    if not count and not audited:
        return None
    say(
        f"{judge.name} judges {count:,} {'reply' if count == 1 else 'replies'} in which the rules have read no answer"
        + f", and {len(audited):,} that they have read" * bool(audited)
    )
    items.update(item for item, _ in audited)
    fields_of = {item.id: item.fields for item in task.items() if item.id in items}

    def question_of(record: Record) -> Request:
        assert isinstance(record.outcome, Response)
        return request_to_judge(judge.words, fields_of[record.item], record.outcome.text)

    # Those that the scores wait for first.
    asked = (question_of(r) for wanted in (unread, is_audited) for r in records.read(path) if wanted(r))
    judgements, stopped = _ask(judge, asked)
    with folder.rewrite_records(task.headline) as writer:
        for line in records.read(path):
            record: Record = line
            if unread(record) or is_audited(record):
                judgement = judgements.get(request_digest(question_of(record)))
                record = judged(record, judgement, number_of_choices(judge.words, fields_of[record.item]))
            writer.write(record)
    return stopped


def judged(record: Record, judgement: Judgement | None, choices: int) -> Record:
    """Return a record with the judge's reading: as its answer where the rules have none, else beside theirs."""
    if judgement is None:
        return record
    if not unread(record):
        return structs.replace(record, judge=judgement)
    word, answer = judgement.outcome, Answer(label=None)
    if isinstance(word, Response):
        answer = Answer(label=verdict(word, choices)[0], span=word.text, rule=JUDGE)
    return structs.replace(record, judge=judgement, answer=answer)


def _ask(judge: Judge, requests: Iterable[Request]) -> tuple[Mapping[str, Judgement | None], RunStopped | None]:
    """Return the outcome of each distinct request by its digest, and the error that stopped the judge."""
    judgements: dict[str, Judgement | None] = {}

    def distinct() -> Iterator[Request]:
        for request in requests:
            if (name := request_digest(request)) not in judgements:
                judgements[name] = None
                yield request

    try:
        with _errors_of_judge(), closing(judge.model.respond(distinct())) as landing:
            for request, outcome in chain.from_iterable(landing):
                name = request_digest(request)
                judgements[name] = Judgement(name, **parts_of(outcome))
    except RunStopped as reason:
        return judgements, reason
    unanswered = Failure("unanswered", "the judge ended without answering")
    return {name: judgement or Judgement(name, failure=unanswered) for name, judgement in judgements.items()}, None


@cache
def judge_prompt(choices_from: str | None = None, means: str | None = None) -> Prompt:
    """Return the prompt that ships with harness: a folder of the working directory is not looked into.

    `choices_from` names the field of an item with choices of its own.
    """
    where = PROMPTS / "judge" / f"{_name_of(choices_from)}.yaml"
    prompt = Prompt(where.stem, where, replace(read(where), choices_from=choices_from))
    return prompt if means is None else constrained(prompt, means)


def recorded_prompt(words: Mapping[str, JSON], configuration: Mapping[str, Any]) -> Prompt:
    """Return the prompt whose words a manifest holds; its configuration says what its judge was held by.

    Raises ConfigError where they make none.
    """
    prompt = prompts.recorded(_name_of(words.get("choices_from")), words, ())
    means: Any = configuration
    for name in ("judge", "model", "constrain"):
        means = means.get(name) if isinstance(means, Mapping) else None
    return prompt if means is None else constrained(prompt, means)


def _name_of(choices_from: Any) -> str:
    """Return the file of prompts/judge/: for questions with choices of their own, or for Yes and No."""
    return "choice" if choices_from else "reply"


def number_of_choices(words: Prompt, fields: Mapping[str, JSON]) -> int:
    """Return how many choices of its own an item has; 0 for Yes and No."""
    return len(words.choices(fields)) if words.words.choices_from else 0


def request_to_judge(words: Prompt, item: Mapping[str, JSON], reply: str) -> ChatRequest:
    """Return what a judge is asked about a reply, without the model's thoughts. The gold label is no part of it."""
    said = own_words(reply).strip()
    if len(said) > 2 * END:
        said = f"{said[:END]}\n[… {len(said) - 2 * END:,} characters left out …]\n{said[-END:]}"
    asks = next((str(item[name]) for name in _NAMES if item.get(name)), None)
    statement = "\n".join(value for value in item.values() if isinstance(value, str)) if asks is None else asks
    fields: dict[str, JSON] = {"statement": statement, "reply": said}
    if (name := words.words.choices_from) is not None:
        options = zip(words.choices(item), item[name], strict=True)
        fields |= {
            "statement": str(item.get("text") or fields["statement"]),
            "options": "\n".join(f"{letter}. {text}" for letter, text in options),
            name: item[name],
        }
    request = words.render(fields, (), ChatRequest)
    assert isinstance(request, ChatRequest)
    if words.means is None:
        return request
    return replace(request, form=AnswerForm(judge_words(number_of_choices(words, item)), words.means))
