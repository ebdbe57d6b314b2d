"""Each record against its item, its request against the prompt's words, its answer against its reply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from harness.codec import KINDS, by_digest, canonical, request_json, text_digest
from harness.cost.price import cost_of
from harness.errors import ConfigError
from harness.prompting.fit import fitting
from harness.storage import records
from harness.storage.manifest import TracedItems
from harness.storage.record_lines import Asked, Line
from harness.types import (
    TOKENS,
    Answer,
    ChatRequest,
    ChoiceRequest,
    Failure,
    Item,
    Message,
    PairRequest,
    Record,
    Request,
    Response,
    replace,
)
from harness.verify.readings import Readings

if TYPE_CHECKING:
    from harness.cost.price import Price
    from harness.prompting.prompts import Prompt
    from harness.protocols import Model
    from harness.verify.readings import JudgeCheck

MOST_LISTED = 5
"""Records with one kind of problem that are listed one by one."""


class RecordCheck:
    """One pass over the records of a run, beside the items of its task."""

    def __init__(
        self,
        items: TracedItems,
        prompt: Prompt | None,
        headline: str,
        samples: int,
        price: Price | None,
        model: Model | None = None,
        judge: JudgeCheck | None = None,
    ) -> None:
        """Prepare the check; `prompt` is None if an algorithm answered, `samples` is the number of answers per item.

        `model` is the run's model if its settings alone build it: what it accepts decides the kind of request, and one
        that needs neither server nor checkpoint is asked again. `judge` is who read what the rules could not.
        """
        self.tokens: Counter[str] = Counter()
        self.usd = 0.0
        self.answers = self.answers_without_cost = self.charged = 0
        self.recorded = False
        """Whether others have asked, so that nothing is known of the requests."""
        self.openings = prompt is not None and bool(prompt.words.opening)
        self.readings = Readings(prompt, judge)
        self._judge, self._complete = judge, False
        self._items = {item.id: item for item in items}
        self._prompt, self._headline, self._samples, self._price = prompt, headline, samples, price
        self._kind = fitting(prompt, model) if prompt is not None and model is not None else None
        self._own = model if model is not None and model.traits.instant else None
        self._records: Counter[str] = Counter()
        self._requests: set[str] = set()
        self._words: set[str] = set()
        self._without_words: Counter[str] = Counter()
        self._openings: dict[tuple[str, int], tuple[str, ...]] = {}

    def problems(self, path: Path, *, complete: bool, paid: bool) -> Iterator[str]:
        """Yield what does not hold, with the line."""
        self._complete = complete
        counts: Counter[str] = Counter()
        for number, (_, line) in enumerate(records.read_lines(path), start=1):
            for problem in self._of_line(line, line.record, paid=paid):
                counts[problem] += 1
                if counts[problem] <= MOST_LISTED:
                    yield f"{path.name}, line {number}: {problem}."
        for problem, count in counts.items():
            if count > MOST_LISTED:
                yield f"{path.name}: {count:,} lines in all: {problem}."
        if twice := [item for item, count in self._records.items() if count > self._samples]:
            yield f"{path.name}: {len(twice):,} items have more than {self._samples} records, such as {twice[0]}."
        missing = [item for item in self._items if self._records[item] < self._samples]
        if complete and missing:
            yield (
                f"{path.name}: {len(missing):,} items have no record, such as {missing[0]}, though the run is complete."
            )
        if lost := self._without_words.keys() - self._words:
            yield f"{path.name}: the words of {len(lost):,} messages stand in no line."

    def _of_line(self, line: Line, record: Record, *, paid: bool) -> Iterator[str]:
        self._records[record.item] += 1
        item = self._items.get(record.item)
        if item is None:
            yield "the task has no such item"
            return
        if record.sample >= self._samples:
            yield f"sample {record.sample} is more than the run asked for"
        yield from self._of_request(line.request, record, item)
        if self._judge is not None:
            yield from self._judge.problems(record, item, complete=self._complete)
        self._count(record)
        expected = Line.of(self._expected(record, item), self._headline)
        if not isinstance(record.outcome, Failure) and (paid or record.outcome.usage.usd is not None):
            usd = cost_of(record.outcome.usage, self._price)
            expected.cost_usd = None if usd is None else round(usd, 9)
        for name in Line.__struct_fields__:
            if name not in ("request", "response") and getattr(line, name) != getattr(expected, name):
                yield _WRONG.get(name, f"{name} is not what the item and the reply make it")

    def _expected(self, record: Record, item: Item) -> Record:
        """Return the record that follows from the item and the reply."""
        answer: Answer | None
        if isinstance(record.outcome, Failure):
            answer = None
        elif self._prompt is None:  # an algorithm says what it means
            answer = Answer({"Yes": 1, "No": 0}.get(record.outcome.text))
        else:
            answer = self.readings.answer(record, record.outcome, item)
        return Record(
            item=item.id,
            cluster=item.cluster,
            unit=item.unit,
            groups=item.groups,
            labels=item.labels,
            request=record.request,
            outcome=record.outcome,
            answer=answer,
            sample=record.sample,
            judgement=record.judgement if self._judge is not None else None,
        )

    def _of_request(self, request: Asked | None, record: Record, item: Item) -> Iterator[str]:
        """Yield the differences between the recorded request and the one that the prompt makes of the item."""
        if self._prompt is None:
            outcome = record.outcome
            if (
                request
                or isinstance(outcome, Failure)
                or replace(outcome, seconds=0, cached=False) != Response(outcome.text)
            ):
                yield "it holds more than an algorithm says"
            return
        if request is None:
            if not isinstance(record.outcome, Failure) and not self.recorded:
                yield "it has a reply, and no request"
            return
        yield from self._of_words(request)
        kind = KINDS[request.kind]
        if kind not in self._prompt.makes or kind is not (self._kind or kind):
            yield f"its request is of the kind {request.kind}, which this prompt does not make for this model"
            return
        self._kind = kind
        yield from self._of_logprobs(kind, record, item)
        opening = self._prompt.opening(item.fields)
        reply = (self._prompt.words.opening_reply or "") if self._prompt.replies == "fixed" else ""
        turns = tuple(message for turn in opening for message in (Message("user", turn), Message("assistant", reply)))
        try:
            rendered = self._prompt.render(item.fields, turns, kind, record.sample)
        except ConfigError as error:
            yield f"the prompt cannot ask about its item ({error})"
            return
        expected = request_json(rendered, by_digest)
        if opening and self._prompt.replies == "model":
            yield from self._put_replies(expected, request, opening, record.sample)
        elif self._own is not None:
            yield from self._of_reply(self._own, rendered, record)
        if _by_digest(request) != expected:
            yield "the request is not the one that the prompt makes of the item"
        if text_digest(canonical(expected)) != request.digest:
            yield "the request does not have its digest"

    def _of_logprobs(self, kind: type[Request], record: Record, item: Item) -> Iterator[str]:
        """Yield where a reply has log-probabilities that its kind of request does not ask for, or lacks them."""
        if isinstance(record.outcome, Failure) or self._prompt is None:
            return
        names = set(record.outcome.logprobs or ())
        fits = {
            ChatRequest: not names,
            # By the next token, empty where the server listed none of the choices.
            ChoiceRequest: names == set(self._prompt.choices(item.fields))
            or (not names and record.outcome.outside is not None),
            PairRequest: "entailment" in names,
        }
        if not fits[kind]:
            yield "its reply has other log-probabilities than those that its request asks for"

    def _of_reply(self, model: Model, request: Request, record: Record) -> Iterator[str]:
        """Yield the differences to the reply of a model that ships with the harness."""
        ((_, outcome),) = chain.from_iterable(model.respond([request]))
        if isinstance(outcome, Failure) or isinstance(record.outcome, Failure):
            differ = outcome != record.outcome
        else:
            plain = replace(record.outcome, seconds=outcome.seconds, cached=outcome.cached)
            differ = plain != outcome
        if differ:
            yield "the model answers otherwise today"

    def _put_replies(
        self, expected: dict[str, Any], request: Asked, opening: tuple[str, ...], sample: int
    ) -> Iterator[str]:
        """Put the model's own turns of the opening into the expected request: the run alone knows them."""
        messages = request.messages
        if len(messages) != len(expected["messages"]):
            return
        first = len(messages) - 2 * len(opening)
        replies = tuple(messages[first + 2 * k].sha256 for k in range(len(opening)))
        for k, reply in enumerate(replies):
            expected["messages"][first + 2 * k] = {"role": "assistant", "sha256": reply}
        key = text_digest("\0".join(opening)), sample
        if self._openings.setdefault(key, replies) != replies:
            yield "its opening was answered otherwise than in another record"

    def _of_words(self, request: Asked) -> Iterator[str]:
        """Yield texts that are not those of their digests, and remember which digests have one."""
        for words in request.words:
            if words.text is None:
                self._without_words[words.sha256[:16]] += 1
            elif text_digest(words.text) != words.sha256:
                yield "the words do not have their digest"
            else:
                self._words.add(words.sha256[:16])

    def _count(self, record: Record) -> None:
        """Enter what a request took, once however many items share it; of one that is not known, what a record says."""
        if isinstance(record.outcome, Failure):
            return
        if record.request is None:
            if not self.recorded:
                return
        elif record.request[:16] in self._requests:
            return
        else:
            self._requests.add(record.request[:16])
        self.answers += 1
        for kind in TOKENS:
            if (count := getattr(record.outcome.usage, kind)) is not None:
                self.tokens[kind] += count
        self.charged += record.outcome.usage.usd is not None
        cost = cost_of(record.outcome.usage, self._price)
        self.answers_without_cost += cost is None
        self.usd += cost or 0.0


_WRONG = {
    "labels": "the labels are not the item's",
    "cluster": "the cluster is not the item's",
    "unit": "the unit is not the item's",
    "groups": "the groups are not the item's",
    "answer": "the reply reads otherwise today",
    "gold": "gold is not the item's label",
    "correct": "correct is not what answer and label make it",
    "judge": "it was judged, and the run has no judge",
    "cost_usd": "its cost is not what its tokens come to",
}


def _by_digest(request: Asked) -> dict[str, Any]:
    """Return a request as JSON, its words by digest alone."""
    content: dict[str, Any] = to_builtins(request)
    del content["digest"]
    for words in (*content.get("messages", ()), content.get("premise", {}), content.get("hypothesis", {})):
        words.pop("text", None)
    return content
