"""Each line of a run's records made again: from its item the request, from its reply the answer, and what follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType, to_builtins

from harness.codec import KINDS, as_json, by_digest, canonical, request_digest, request_json, text_digest
from harness.judge import judged, number_of_choices, request_to_judge
from harness.prompting.fit import fitting
from harness.scoring.audit import by_judge, read_by_rules, unread
from harness.storage import records
from harness.types import (
    OF_ITEM,
    Answer,
    Asked,
    Failure,
    Item,
    Judgement,
    Line,
    Message,
    Record,
    Request,
    Response,
    parts_of,
    replace,
)
from harness.verify.scores import NOTHING, each_difference, few

if TYPE_CHECKING:
    from harness.cost.ledger import Ledger
    from harness.prompting.prompts import Prompt
    from harness.protocols import Model
    from harness.storage.runs import Run


@dataclass(frozen=True)
class JudgeCheck:
    """The judge of a run: the words in which it was asked, and what its answers took."""

    name: str
    identity: Mapping[str, Any]
    words: Prompt
    ledger: Ledger

    def judged(self, record: Record, judgement: Judgement | None, item: Item) -> Record:
        """Return a record, which the rules have read, as the judge leaves it: asked about this reply, with its answer.

        What it was asked about is what the rules cannot read, and what audits them.
        """
        if judgement is None or not (unread(record) or read_by_rules(record)):
            return record
        assert isinstance(record.outcome, Response)
        request = request_to_judge(self.words, item.fields, record.outcome.text)
        if isinstance(judgement.outcome, Response):
            self.ledger.add(request, judgement.outcome)
        again = replace(judgement, request=request_digest(request))
        return judged(record, again, number_of_choices(self.words, item.fields))


@dataclass
class RecordCheck:
    """One pass over the records of a run, beside the items of its task."""

    run: Run
    samples: int
    """Answers to each item."""
    items: Mapping[str, Item]
    prompt: Prompt | None
    """None if an algorithm answered."""
    model: Model | None
    """None where the run's settings alone do not build it."""
    judge: JudgeCheck | None
    ledger: Ledger
    read_otherwise: int = 0
    """How many replies earlier rules have read otherwise than today's do: their readings are taken as they are."""
    _there: set[str] = field(default_factory=set)
    _missing: set[str] = field(default_factory=set)
    """Texts that have stood in a line, and those that stood there by their digest alone."""
    _openings: dict[tuple[str, int], list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        prompt, model = self.prompt, self.model
        self._kind = fitting(prompt, model) if prompt is not None and model is not None else None
        played = prompt is not None and prompt.words.opening and prompt.replies == "model"
        self._own = model if model is not None and model.traits.instant and not played else None
        self._complete: bool = self.run.result_json["complete"]
        self._paid = self.ledger.paid

    def problems(self, path: Path, headline: str) -> Iterator[str]:
        """Yield what does not hold, with the line."""
        asked, samples = Counter[str](), self.samples

        def of_lines() -> Iterator[tuple[str, str]]:
            for number, line in enumerate(records.read(path), start=1):
                asked[line.item] += 1
                for name, problem in self._of_line(line, headline):
                    yield f"lines of {path.name} where {name} does not hold", f"{path.name}, line {number}: {problem}"

        yield from few(of_lines())
        if twice := [item for item, count in asked.items() if count > samples]:
            yield f"{path.name}: {len(twice):,} items have more than {samples} records, such as {twice[0]}."
        if self._complete and (missing := [item for item in self.items if asked[item] < samples]):
            yield f"{path.name}: {len(missing):,} items of a complete run have too few records, such as {missing[0]}."
        if lost := self._missing - self._there:
            yield f"{path.name}: the words of {len(lost):,} messages stand in no line."

    def _of_line(self, line: Line, headline: str) -> Iterator[tuple[str, str]]:
        """Yield the parts of a line that do not hold, each with a sentence about it."""
        if (item := self.items.get(line.item)) is None:
            yield "item", "the task has no such item."
            return
        if line.sample >= self.samples:
            yield "sample", f"sample {line.sample} is more than the run asked for."
        yield from self._of_words(line.request)
        request, asked = self._request(line, item)
        again = self._again(line, request, item)
        usd: float | UnsetType | None = UNSET
        if isinstance(again.outcome, Response):
            if request is not None:
                self.ledger.add(request, again.outcome)
            if self._paid or again.outcome.usage.usd is not None:
                usd = self.ledger.cost(again.outcome)
        if self.judge is not None and self._complete and again.judge is None and unread(again):
            yield "judge", "the judge was not asked about a reply that the rules cannot read."
        expected = Line.of_record(again, headline, usd)
        for name in Line.__struct_fields__:
            there, made = getattr(line, name), getattr(expected, name)
            if name == "request":
                there, made = _by_digest(there), asked
            if there != made:
                yield name, next(each_difference(_json(there), _json(made), name, "from its item and its reply"))

    def _again(self, record: Record, request: Request | None, item: Item) -> Record:
        """Return the record that follows from item, request and reply."""
        outcome = record.outcome
        if self.prompt is None:  # an algorithm says one word and what it means
            outcome = Response(outcome.text if isinstance(outcome, Response) else "")
        elif self._own is not None and request is not None:
            ((_, outcome),) = chain.from_iterable(self._own.respond([request]))
        if isinstance(outcome, Response) and isinstance(record.outcome, Response):
            outcome = replace(outcome, seconds=record.outcome.seconds, cached=record.outcome.cached)
        again = replace(
            record,
            **{name: getattr(item, name) for name in OF_ITEM if name != "item"},
            **parts_of(outcome),
            answer=self._answer(record, outcome, item) if isinstance(outcome, Response) else None,
            judge=None,
        )
        return again if self.judge is None else self.judge.judged(again, record.judge, item)

    def _answer(self, record: Record, response: Response, item: Item) -> Answer:
        """Return the answer that rules read: today's, or of a run of earlier ones what these have read."""
        if self.prompt is None:
            return Answer({"Yes": 1, "No": 0}.get(response.text))
        today = self.prompt.parse(response, item.fields)
        if not self.run.read_by_other_rules:
            return today
        read = Answer(label=None) if record.answer is None or by_judge(record) else record.answer
        self.read_otherwise += (today.label, today.probability) != (read.label, read.probability)
        return read

    def _request(self, record: Record, item: Item) -> tuple[Request | None, Any]:
        """Return the request that the prompt makes of an item, and as a line has it, its words by digest alone.

        None for an algorithm, for answers that others have recorded, and where an opening failed before the question.
        """
        prompt, asked = self.prompt, record.request
        if prompt is None or (asked is None and (self.run.manifest.recorded or isinstance(record.outcome, Failure))):
            return None, None
        kind = self._kind or (KINDS[asked.kind] if asked else None)
        self._kind = kind = kind if kind in prompt.makes else prompt.makes[0]
        opening = prompt.opening(item.fields)
        reply = (prompt.words.opening_reply or "") if prompt.replies == "fixed" else ""
        turns = tuple(message for turn in opening for message in (Message("user", turn), Message("assistant", reply)))
        request = prompt.render(item.fields, turns, kind, record.sample)
        made = request_json(request, by_digest)
        if opening and prompt.replies == "model" and asked is not None and len(asked.messages) == len(made["messages"]):
            # The model's own turns, which the run alone knows: the same ones wherever the opening is the same.
            places = range(len(asked.messages) - 2 * len(opening), len(asked.messages), 2)
            key = text_digest("\0".join(opening)), record.sample
            replies = self._openings.setdefault(key, [asked.messages[place].sha256 for place in places])
            for place, digest in zip(places, replies, strict=True):
                made["messages"][place] = {"role": "assistant", "sha256": digest}
        return request, {"digest": text_digest(canonical(made)), **made}

    def _of_words(self, asked: Asked | None) -> Iterator[tuple[str, str]]:
        """Yield texts that are not those of their digests, and remember which digests have one."""
        for words in asked.words if asked else ():
            if words.text is None:
                self._missing.add(words.sha256)
            elif text_digest(words.text) != words.sha256:
                yield "words", "the words do not have their digest."
            else:
                self._there.add(words.sha256)


def _by_digest(asked: Asked | None) -> Any:
    """Return a request as JSON, its words by digest alone."""
    if asked is None:
        return None
    content: Any = to_builtins(asked)
    for words in (*content.get("messages", ()), content.get("premise", {}), content.get("hypothesis", {})):
        words.pop("text", None)
    return content


def _json(value: Any) -> Any:
    return NOTHING if value is UNSET or value is None else as_json(value)
