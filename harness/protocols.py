"""What the harness asks of a benchmark and of a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from harness.types import JSON, Failure, Item, Message, Record, Request, Response, Result, Transcript, Usage

Outcome = tuple[Request, Response | Failure]


class Task(Protocol):
    """A benchmark: it gives items and scores the records that a run makes of them."""

    @property
    def name(self) -> str:
        """Its folder under prompts/ and results/, such as corr2cause."""

    @property
    def headline(self) -> str:
        """The label set that the tables show; every item has it."""

    @property
    def prompts(self) -> Sequence[str]:
        """The prompts to try in this order where the user names none."""

    @property
    def prompt_format(self) -> str:
        """Which of a prompt file's `formats` the settings ask for; empty for its plain words."""

    @property
    def data(self) -> Mapping[str, JSON]:
        """What the items come from, where the settings alone do not say it: the digest of a file, a revision."""

    def items(self) -> Iterable[Item]:
        """The questions, the same at every call; a length hint (`__len__`) serves the progress bar."""

    def examples(self) -> Sequence[Mapping[str, JSON]]:
        """Fields of solved items, with an `answer`, for few-shot prompts."""

    def summarize(self, records: Iterable[Record]) -> Result:
        """The scores."""


class Model(Protocol):
    """Anything that answers requests.

    A class that answers sooner than a cache could (a baseline, the reasoner) says `instant = True` and is asked
    every time; one that can answer some tasks only names them in `tasks`; one whose answer to the same request varies
    with its `sample` says `draws = True`.
    """

    @property
    def name(self) -> str:
        """Its row on the leaderboard and its folder under results/."""

    @property
    def identity(self) -> Mapping[str, JSON]:
        """An include-list of everything that can change an output: the first half of the cache's key."""

    @property
    def accepts(self) -> tuple[type[Request], ...]:
        """The kinds of request it can answer."""

    def respond(self, requests: Iterable[Request]) -> Iterator[Outcome]:
        """Answer each distinct request once, in any order, each as soon as it is known.

        Pulls a bounded window of requests, so that a long run holds neither all requests nor all responses.
        Closing the iterator cancels what is under way, after what landed has been handed out. Raises
        RunStopped for what no later request can survive (key, quota, budget). Where answers land several at a
        time, a Landing tells how many are at hand, so that they can be stored together.
        """


class Landing(Iterator[Outcome]):
    """Outcomes as they land. Its length hint says how many are at hand: for so many, next() does not wait."""

    def __init__(self, outcomes: Generator[Outcome], at_hand: Callable[[], int]) -> None:
        """`at_hand` counts them."""
        self._outcomes = outcomes
        self._at_hand = at_hand

    def __next__(self) -> Outcome:
        return next(self._outcomes)

    def __length_hint__(self) -> int:
        return self._at_hand()

    def close(self) -> None:
        """Cancels what is under way."""
        self._outcomes.close()


class Admission(Iterator[Request]):
    """Requests, and which of their tries may go out: here all of them, at any time. A budget admits fewer."""

    def __init__(self, source: Iterable[Request]) -> None:
        """Takes the requests from `source`."""
        self._source = iter(source)

    def __next__(self) -> Request:
        return next(self._source)

    @property
    def ready(self) -> bool:
        """Whether next() need not be put off until a call under way has landed."""
        return True

    @property
    def left(self) -> float:
        """Seconds after which nothing more may go out."""
        return math.inf

    def failed(self, request: Request, usage: Usage | None) -> None:
        """Takes note of a try that went out and has no answer; called for every such try.

        `usage` is what the server has counted for it all the same: None where it has certainly done no work, and
        without counts where nobody knows.
        """

    def again(self, request: Request) -> bool:
        """Whether a request whose last try has failed may go out again now. Raises BudgetReached if it never may."""
        return True


def as_text(messages: Transcript) -> str:
    """A conversation as one text, for models without turns: replies follow their question after a space."""
    text = ""
    for message in messages:
        if message.role == "assistant":
            text += f" {message.content}"
        else:
            text += f"\n\n{message.content}" if text else message.content
    return text


def unanswered(messages: Transcript, ahead: Iterable[str]) -> Transcript:
    """A conversation with the user turns that will follow, each reply in between empty.

    Empty, not left out: many chat templates refuse two turns of the user in a row.
    """
    turns = ((Message("assistant", ""), Message("user", turn)) for turn in ahead)
    return (*messages, *(message for pair in turns for message in pair))
