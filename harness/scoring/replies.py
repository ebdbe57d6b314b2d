"""What has to be known of replies beside their scores: cut off, out of form, unreadable, or many of one prompt."""

from __future__ import annotations

from array import array
from math import fsum

from harness.prompting.reading.own_words import own_words
from harness.protocols import Model
from harness.types import NOT_IN_FORM, Record, Response, ended

LARGE = 0.05  # the mean probability outside the choices from which on a note says so
MOST_PROMPTS = 200_000  # records among which distinct prompts are counted
FEW_PROMPTS = 0.75
"""At most this share of prompts is distinct where a note says so: Corr2Cause's first test set repeats 16%."""
OUT_OF_FORM = f"{NOT_IN_FORM} that the server was to hold"
"""By which tables of several runs find the note."""
ENOUGH = 20
"""Replies to different requests, from the first on, none of them readable: then the run pauses."""
QUOTED, LONGEST = 3, 100  # replies that are quoted, and characters of each


def while_thinking(response: Response) -> bool:
    """Return whether a reply ended inside the model's thoughts: nothing but thoughts, or nothing at all.

    Nothing beside the thoughts is said where the limit was reached (finish_reason=length), whatever a server tells of
    the thoughts; or else where the text begins thoughts that it never closes.
    """
    if response.logprobs is not None or own_words(response.text).strip():
        return False
    # Words that come after the text would be outside of thoughts that it has closed.
    return ended(response.finish_reason) == "cut off" or not own_words(f"{response.text}\n\nanswer").strip()


def cut_off(record: Record) -> bool:
    if not isinstance(record.outcome, Response) or record.answer is None or record.answer.label is not None:
        return False
    return record.request is not None and while_thinking(record.outcome)


def few_prompts(distinct: int, items: int) -> str:
    """Return the sentence that items share prompts, and so answers; empty where few do."""
    if not items or distinct > FEW_PROMPTS * items:
        return ""
    prompts = "1 distinct prompt" if distinct == 1 else f"{distinct:,} distinct prompts"
    return (
        f"{prompts} for {items:,} items: items of one prompt share one answer "
        "(does the prompt name every field in which the items differ?)."
    )


class AnswerNotes:
    """Counts over records: of distinct prompts, of replies out of form, and of probability outside the choices."""

    def __init__(self) -> None:
        self._not_in_form = self._in_words = self._bounded = self._without = 0
        self._outside = array("d")
        """All of it: floats do not add up alike in every order, but by fsum they do."""
        self._requests = array("q")
        """The hashes of the first items' requests."""

    def add(self, record: Record) -> None:
        """Count a record."""
        if record.sample == 0 and record.request is not None and len(self._requests) < MOST_PROMPTS:
            self._requests.append(hash(record.request.digest))
        if not isinstance(response := record.outcome, Response):
            return
        if record.answer is not None and response.logprobs is None:
            self._in_words += 1
            self._not_in_form += record.answer.rule.startswith(NOT_IN_FORM)
        if response.outside is not None:
            self._outside.append(response.outside)
            self._bounded += bool(response.bounded)
            self._without += not response.logprobs

    def notes(self) -> tuple[str, ...]:
        """Return a sentence for each problem of the replies; () where they have none."""
        by_token = len(self._outside)
        of_all = f"of {by_token:,} {'answer' if by_token == 1 else 'answers'}"
        notes = [few_prompts(len(set(self._requests)), len(self._requests))]
        if self._not_in_form:
            were, them, their = ("was", "it", "its") if self._not_in_form == 1 else ("were", "them", "their")
            replies = "reply" if self._in_words == 1 else "replies"
            notes.append(
                f"{self._not_in_form:,} of {self._in_words:,} {replies} {were} {OUT_OF_FORM} {them} to "
                f"(answer=choice), and {were} read by {their} words: it may not know the means (model.constrain)."
            )
        if by_token and (outside := fsum(self._outside) / by_token) >= LARGE:
            mostly = sum(share > 0.5 for share in self._outside)
            notes.append(
                f"On average {outside:.1%} of the first token's probability lies outside the "
                f"choices, in {mostly:,} {of_all} more than half: the probabilities are of the rest."
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
        return tuple(filter(None, notes))


class FirstReplies:
    """The first replies in which nothing was read, and whether so many are asked now that a run had better pause.

    One readable answer, from the cache too, ends the counting: a model that is readable now and then is never stopped.
    Replies from the cache do not count, as they cost nothing: the same command asks `ENOUGH` more before it stops.
    """

    def __init__(self, model: Model, judged: bool) -> None:
        self._service, self._judged, self._readable = model.traits.service, judged, False
        self._unread: dict[str, Response] = {}  # by request, as items may share one
        self._asked_now, self._max_tokens = set[str](), 0

    @property
    def hopeless(self) -> bool:
        return not self._readable and len(self._asked_now) >= ENOUGH

    def add(self, record: Record) -> None:
        """Keep the reply of a record, if it is among the first that nobody can read."""
        response, answer = record.outcome, record.answer
        if record.request is None or answer is None or not isinstance(response, Response):
            return
        if answer.label is None and len(self._unread) < ENOUGH:
            self._unread.setdefault(record.request.digest, response)
            self._max_tokens = record.request.max_tokens or 0
        # A judge reads it, or not: the rules were not to.
        for_judge = self._judged and response.text.strip() and not while_thinking(response)
        self._readable |= answer.label is not None or bool(for_judge)
        if not self._readable and not response.cached:
            self._asked_now.add(record.request.digest)

    @property
    def reason(self) -> str:
        """Why the run pauses."""
        said = self.fault(f"the first {ENOUGH}")
        return f"the run pauses: {said} Answers so far are kept; the same command asks twenty more."

    def fault(self, number: str) -> str:
        """Return what is wrong with so many replies, three of them, and the way out."""
        replies, service = [*self._unread.values()], self._service
        room = service.room_to_think if service is not None else 0
        if all(ended(reply.finish_reason) == "cut off" or while_thinking(reply) for reply in replies):
            at = f"max_tokens={self._max_tokens}{f' and {room} to think' if room else ''}"
            thinking = " while the model was still thinking" if all(map(while_thinking, replies)) else ""
            fault = f"each of {number} replies was cut off at {at}{thinking}, before an answer:"
            more = f"max_tokens={max(1024, 8 * self._max_tokens)} gives each reply more room"
            way_out = (
                f"{more}; for a model that thinks before it answers, model.reasoning=true (model.reasoning_tokens)."
            )
            if room:
                way_out = f"Give the model more room to think: model.reasoning_tokens={4 * room} (or max_tokens=…)."
        else:
            fault = f"in none of {number} replies could an answer be read. They begin:"
            held = "hold the replies to the choices (answer=choice), " * bool(service and service.means)
            way_out = (
                "If they do answer, the rules cannot read how: give the prompt's file a parser (parser: "
                f"module:function), {held}or have a model read them (judge=MODEL)."
            )
            if all(reply.logprobs is not None for reply in replies):
                way_out = "No choice was among the likeliest tokens: use model.method=generate, or another prompt."
        quotes = "".join(f"\n  {k}. {_quote(reply)}" for k, reply in enumerate(replies[:QUOTED], start=1))
        return f"{fault}{quotes}\n{way_out}"


def _quote(response: Response) -> str:
    """Return the beginning of a reply on one line, without what a terminal would obey; of thoughts alone, their end."""
    text, thoughts = (
        " ".join("".join(sign if sign.isprintable() else " " for sign in words[: 10**5]).split())
        for words in (response.text, response.reasoning)
    )
    if text:
        return f"“{text[:LONGEST]}{'…' if len(text) > LONGEST else ''}”"
    return f"nothing, after the thoughts “…{thoughts[-LONGEST:]}”" if thoughts else "nothing at all"
