"""What has to be known of replies beside their scores: cut off, out of form, unreadable, or many of one prompt."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from math import fsum

from harness.codec import request_digest
from harness.prompting.reading.own_words import own_words
from harness.protocols import Model
from harness.types import JSON, NOT_IN_FORM, ChatRequest, Record, Request, Response, ended

_ANSWER = "\n\nanswer"


def while_thinking(response: Response) -> bool:
    """Return whether a reply ended inside the model's thoughts: nothing but thoughts, or nothing at all.

    Nothing beside the thoughts is said where the limit was reached (finish_reason=length), whatever a server tells of
    the thoughts; or else where the text begins thoughts that it never closes.
    """
    if response.logprobs is not None or own_words(response.text).strip():
        return False
    # Words that come after the text would be outside of thoughts that it has closed.
    return ended(response.finish_reason) == "cut off" or not own_words(response.text + _ANSWER).strip()


def cut_off(record: Record) -> bool:
    if not isinstance(record.outcome, Response) or record.answer is None or record.answer.label is not None:
        return False
    return record.request is not None and while_thinking(record.outcome)


LARGE = 0.05
"""The mean probability outside the choices from which on a note says so."""

MOST_PROMPTS = 200_000
"""Records among which distinct prompts are counted."""

OUT_OF_FORM = f"{NOT_IN_FORM} that the server was to hold"
"""What the note says of replies that were not in their form; tables of several runs find the note by it."""


class AnswerNotes:
    """Counts over records: of replies that were not in their form, and of probability outside the choices."""

    def __init__(self) -> None:
        self._not_in_form = self._in_words = 0
        self._by_token = self._bounded = self._mostly_outside = self._without = 0
        self._outside = array("d")
        """All of it: floats do not add up alike in every order, but by fsum they do."""
        self._requests = array("q")
        """The hashes of the first items' requests."""

    def add(self, record: Record) -> None:
        """Count a record."""
        if record.sample == 0 and record.request is not None and len(self._requests) < MOST_PROMPTS:
            self._requests.append(hash(record.request))
        if not isinstance(response := record.outcome, Response):
            return
        if record.answer is not None and response.logprobs is None:
            self._in_words += 1
            self._not_in_form += record.answer.rule.startswith(NOT_IN_FORM)
        if response.outside is not None:
            self._by_token += 1
            self._outside.append(response.outside)
            self._mostly_outside += response.outside > 0.5
            self._bounded += bool(response.bounded)
            self._without += not response.logprobs

    def notes(self) -> tuple[str, ...]:
        """Return a sentence for each problem of the replies; () where they have none."""
        notes, of_all = [], f"of {self._by_token:,} {'answer' if self._by_token == 1 else 'answers'}"
        why = " (does the prompt name every field in which the items differ?)"
        if repeated := few_prompts(len(set(self._requests)), len(self._requests), why):
            notes.append(repeated)
        if self._not_in_form:
            were, them, their = ("was", "it", "its") if self._not_in_form == 1 else ("were", "them", "their")
            replies = "reply" if self._in_words == 1 else "replies"
            notes.append(
                f"{self._not_in_form:,} of {self._in_words:,} {replies} {were} {OUT_OF_FORM} {them} to "
                f"(answer=choice), and {were} read by {their} words: it may not know the means (model.constrain)."
            )
        if self._by_token and (outside := fsum(self._outside) / self._by_token) >= LARGE:
            notes.append(
                f"On average {outside:.1%} of the first token's probability lies outside the "
                f"choices, in {self._mostly_outside:,} {of_all} more than half: the probabilities are of the rest."
            )
        if self._without:
            notes.append(
                f"In {self._without:,} {of_all} no choice was among the likeliest tokens: they have no probability and "
                "are unreadable."
            )
        if self._bounded:
            notes.append(
                f"In {self._bounded:,} {of_all} a choice was not among the likeliest tokens: the most that it can have "
                "is taken as its probability."
            )
        return tuple(notes)


ENOUGH = 20
"""Replies to different requests, from the first on, none of them readable: then the run pauses."""
QUOTED, LONGEST = 3, 100
"""Replies that are quoted, and characters of each."""


class FirstReplies:
    """Counts of the replies that are asked now, until one is readable.

    One readable answer, from the cache too, ends the counting: a model that is readable now and then is never stopped.
    Replies from the cache do not count as unreadable, as they cost nothing: the same command asks `ENOUGH` more before
    it stops again.
    """

    def __init__(self, model: Model, judged: bool) -> None:
        self._service, self._judged, self._readable = model.traits.service, judged, False
        self._seen: set[str] = set()
        self._cut_off = self._thinking = self._ranked = 0
        self._quotes: list[str] = []
        self._max_tokens = 0

    @property
    def hopeless(self) -> bool:
        return not self._readable and len(self._seen) >= ENOUGH

    def add(self, record: Record, request: Request | None) -> None:
        """Count the reply of a record, once for all items that share its request."""
        response, answer = record.outcome, record.answer
        if self._readable or record.request is None or answer is None or not isinstance(response, Response):
            return
        # A judge reads it, or not: the rules were not to.
        for_judge = self._judged and response.text.strip() and not while_thinking(response)
        self._readable = answer.label is not None or bool(for_judge)
        if self._readable or response.cached or self.hopeless or record.request in self._seen:
            return
        self._seen.add(record.request)
        self._ranked += response.logprobs is not None
        self._thinking += while_thinking(response)
        self._cut_off += ended(response.finish_reason) == "cut off" or while_thinking(response)
        if isinstance(request, ChatRequest):
            self._max_tokens = request.max_tokens
        if len(self._quotes) < QUOTED:
            self._quotes.append(_quote(response))

    @property
    def reason(self) -> str:
        """Return what is wrong with the replies, three of them, and the way out."""
        count = len(self._seen)
        room = self._service.room_to_think if self._service is not None else 0
        quotes = "".join(f"\n  {number}. {quote}" for number, quote in enumerate(self._quotes, start=1))
        if self._cut_off < count:
            fault = f"in none of the first {count} replies could an answer be read. They begin:"
        else:
            at = f"max_tokens={self._max_tokens}{f' and {room} to think' if room else ''}"
            thinking = " while the model was still thinking" if self._thinking == count else ""
            fault = f"each of the first {count} replies was cut off at {at}{thinking}, before it came to an answer:"
        regardless = "Answers so far are kept; the same command asks twenty more."
        return f"the run pauses: {fault}{quotes}\n{self._way_out(count, room)} {regardless}"

    def _way_out(self, count: int, room: int) -> str:
        if self._cut_off == count and room:
            return f"Give the model more room to think: model.reasoning_tokens={4 * room} (or max_tokens=…)."
        if self._cut_off == count:
            more = f"max_tokens={max(1024, 8 * self._max_tokens)} gives each reply more room"
            thinks = "; for a model that thinks before it answers, model.reasoning=true (model.reasoning_tokens more)"
            return f"{more}{thinks if self._service is not None else ''}."
        if self._ranked == count:
            return "No choice was among the likeliest tokens: use model.method=generate, or another prompt."
        held = "hold the replies to the choices (answer=choice), " * bool(self._service and self._service.means)
        return (
            "If they do answer, the rules cannot read how: give the prompt's file a parser (parser: module:function), "
            f"{held}or have a model read them (judge=MODEL)."
        )


def _quote(response: Response) -> str:
    """Return the beginning of a reply on one line; of thoughts alone, their end."""
    if text := _line(response.text):
        return f"“{text[:LONGEST]}{'…' if len(text) > LONGEST else ''}”"
    thoughts = _line(response.reasoning)
    return f"nothing, after the thoughts “…{thoughts[-LONGEST:]}”" if thoughts else "nothing at all"


def _line(text: str) -> str:
    """Return the words of a text on one line, without what a terminal would obey."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text[: 10**5]).split())


FEW_PROMPTS = 0.75
"""At most this share of the items' prompts is distinct where a note says so: some repetitions are the data's own, as
16% of Corr2Cause's first test set."""
_FIRST_ITEMS = 200
"""Prompts whose first item is kept, to name the fields in which later items differ from it."""
_FIELDS_NAMED = 3


class RepeatedPrompts:
    """Counts of items and of distinct prompts: many items of one prompt suggest that it leaves out the question."""

    def __init__(self) -> None:
        self.items = self.distinct = 0
        self._first: dict[str, Mapping[str, JSON]] = {}
        self._differing: dict[str, None] = {}

    def add(self, fields: Mapping[str, JSON], request: Request, *, new: bool) -> None:
        """Count an item and its request; `new` says that no earlier item made the same request."""
        self.items += 1
        self.distinct += new
        if len(self._differing) >= _FIELDS_NAMED or (new and len(self._first) >= _FIRST_ITEMS):
            return
        first = self._first.setdefault(request_digest(request), fields)
        self._differing |= {name: None for name, value in fields.items() if first.get(name) != value}

    def remark(self) -> str:
        """Return the sentence for many items of one prompt, with the likely reason; empty where there are few."""
        differing = "".join(f"{{{name}}}, " for name in list(self._differing)[:_FIELDS_NAMED]).rstrip(", ")
        why = f": the prompt's words do not name {differing}, in which they differ" if differing else ""
        return few_prompts(self.distinct, self.items, why)


def few_prompts(distinct: int, items: int, why: str = "") -> str:
    """Return the sentence that items share prompts, and so answers; empty where few do."""
    if not items or distinct > FEW_PROMPTS * items:
        return ""
    prompts = "1 distinct prompt" if distinct == 1 else f"{distinct:,} distinct prompts"
    return f"{prompts} for {items:,} items: items of one prompt share one answer{why}."
