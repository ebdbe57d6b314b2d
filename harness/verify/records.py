"""Each line of a run's records made again: from its item the request, from its reply the answer, and what follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType, to_builtins

from harness.codec import KINDS, as_json, by_digest, canonical, request_digest, request_json, text_digest
from harness.judge import judge_prompt, judged, number_of_choices, recorded_prompt, request_to_judge
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
from harness.verify.differences import MOST_LISTED, NOTHING, each_difference

if TYPE_CHECKING:
    from harness.cost.ledger import Ledger
    from harness.prompting.prompts import Prompt
    from harness.protocols import Model


class JudgeCheck:
    """The judge of a run: the words in which it was asked, and what its answers took."""

    def __init__(
        self, model: Model | None, words: Mapping[str, Any], configuration: Mapping[str, Any], ledger: Ledger
    ) -> None:
        """`model` is None where its settings alone do not build it. Raises ConfigError for words that are no prompt."""
        recorded = configuration.get("judge") or {}
        self.name: str = model.name if model is not None else str(recorded.get("name"))
        self.identity: Mapping[str, Any] = model.identity if model is not None else recorded.get("model") or {}
        self.words: Prompt = recorded_prompt(words, configuration)
        self.ledger = ledger

    @property
    def asked_as_today(self) -> bool:
        return self.words.digest == judge_prompt(self.words.words.choices_from).digest

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


class RecordCheck:
    """One pass over the records of a run, beside the items of its task."""

    def __init__(
        self,
        items: Iterable[Item],
        prompt: Prompt | None,
        model: Model | None,
        judge: JudgeCheck | None,
        ledger: Ledger,
        *,
        recorded: bool,
        older_rules: bool,
    ) -> None:
        """`prompt` is None if an algorithm answered, `model` where its settings alone do not build it.

        `recorded` says that others have asked, so that nothing is known of the requests; `older_rules` that other rules
        than today's have read the replies, so that their readings are taken as they are.
        """
        self.read_otherwise = 0
        """How many replies earlier rules have read otherwise than today's do."""
        self._items = {item.id: item for item in items}
        self._prompt, self._judge, self._ledger = prompt, judge, ledger
        self._recorded, self._older_rules = recorded, older_rules
        self._kind = fitting(prompt, model) if prompt is not None and model is not None else None
        played = prompt is not None and prompt.words.opening and prompt.replies == "model"
        self._own = model if model is not None and model.traits.instant and not played else None
        self._paid = ledger.paid
        self._there: set[str] = set()
        self._missing: set[str] = set()
        """Texts that have stood in a line, and those that stood there by their digest alone."""
        self._openings: dict[tuple[str, int], list[str]] = {}

    def problems(self, path: Path, headline: str, samples: int, *, complete: bool) -> Iterator[str]:
        """Yield what does not hold, with the line; `samples` is the number of answers to each item."""
        counts, asked = Counter[str](), Counter[str]()
        for number, line in enumerate(records.read(path), start=1):
            asked[line.item] += 1
            for name, problem in self._of_line(line, headline, samples, complete=complete):
                counts[name] += 1
                if counts[name] <= MOST_LISTED:
                    yield f"{path.name}, line {number}: {problem}"
        for name, count in counts.items():
            if count > MOST_LISTED:
                yield f"{path.name}: {count:,} lines in all where {name} does not hold."
        if twice := [item for item, count in asked.items() if count > samples]:
            yield f"{path.name}: {len(twice):,} items have more than {samples} records, such as {twice[0]}."
        if complete and (missing := [item for item in self._items if asked[item] < samples]):
            yield f"{path.name}: {len(missing):,} items of a complete run have too few records, such as {missing[0]}."
        if lost := self._missing - self._there:
            yield f"{path.name}: the words of {len(lost):,} messages stand in no line."

    def _of_line(self, line: Line, headline: str, samples: int, *, complete: bool) -> Iterator[tuple[str, str]]:
        """Yield the parts of a line that do not hold, each with a sentence about it."""
        if (item := self._items.get(line.item)) is None:
            yield "item", "the task has no such item."
            return
        if line.sample >= samples:
            yield "sample", f"sample {line.sample} is more than the run asked for."
        yield from self._of_words(line.request)
        request, asked = self._request(line, item)
        again = self._again(line, request, item)
        usd: float | UnsetType | None = UNSET
        if isinstance(again.outcome, Response):
            if request is not None:
                self._ledger.add(request, again.outcome)
            if self._paid or again.outcome.usage.usd is not None:
                usd = self._ledger.cost(again.outcome)
        if self._judge is not None and complete and again.judge is None and unread(again):
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
        if self._prompt is None:  # an algorithm says one word and what it means
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
        return again if self._judge is None else self._judge.judged(again, record.judge, item)

    def _answer(self, record: Record, response: Response, item: Item) -> Answer:
        """Return the answer that rules read: today's, or of a run of earlier ones what these have read."""
        if self._prompt is None:
            return Answer({"Yes": 1, "No": 0}.get(response.text))
        today = self._prompt.parse(response, item.fields)
        if not self._older_rules:
            return today
        read = Answer(label=None) if record.answer is None or by_judge(record) else record.answer
        self.read_otherwise += (today.label, today.probability) != (read.label, read.probability)
        return read

    def _request(self, record: Record, item: Item) -> tuple[Request | None, Any]:
        """Return the request that the prompt makes of an item, and as a line has it, its words by digest alone.

        None for an algorithm, for answers that others have recorded, and where an opening failed before the question.
        """
        prompt, asked = self._prompt, record.request
        if prompt is None or (asked is None and (self._recorded or isinstance(record.outcome, Failure))):
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
