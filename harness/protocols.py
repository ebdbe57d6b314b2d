"""What the harness asks of a benchmark and of a model."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import length_hint
from typing import Any, Protocol

from harness.types import (
    JSON,
    Failure,
    Item,
    Means,
    Record,
    Request,
    Response,
    Result,
    Role,
    Transcript,
    Usage,
)

Outcome = tuple[Request, Response | Failure]
"""A request and what became of it."""
Outcomes = Sequence[Outcome]
"""What landed together: stored in one transaction before anything more is asked."""


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

    @property
    def remarks(self) -> Sequence[str]:
        """Sentences about the data, said beside the scores: what repeats, what contradicts itself."""

    @property
    def like(self) -> str:
        """The task that it asks as, empty for none: whoever answers that one answers this one, too."""

    @property
    def draw_size(self) -> int | None:
        """How many items in a row are one draw of many more that could come, as two of a pair; None: these are all."""

    def items(self) -> Iterable[Item]:
        """Return the questions, the same at every call; a length hint (`__len__`) serves the progress bar."""

    def examples(self) -> Sequence[Mapping[str, JSON]]:
        """Return the fields of solved items, with an `answer`, for few-shot prompts."""

    def summarize(self, records: Iterable[Record]) -> Result:
        """Return the scores."""


def training_of(model: Model) -> Mapping[str, JSON]:
    """Return what a model says of its training, in `training`: what manifests quote, and no part of its identity."""
    return getattr(model, "training", {})


class Service(Protocol):
    """A server that answers for a model: where it is, what it costs, what it takes."""

    @property
    def base_url(self) -> str:
        """Its address."""

    @property
    def model(self) -> str:
        """What the server calls the model."""

    @property
    def tier(self) -> str | None:
        """The class of service that is asked for, where it has a price of its own."""

    @property
    def price(self) -> Mapping[Any, float | None] | None:
        """USD per million tokens of input, output and cached_input; None: as in the price table."""

    @property
    def discount(self) -> float:
        """The share of that price that a call costs: less than 1 in batches."""

    @property
    def batch_window(self) -> str | None:
        """Within what time a batch is answered, such as 24h; None where calls are answered at once."""

    @property
    def requests_per_minute(self) -> float | None:
        """The limit that the user knows of."""

    @property
    def room_to_think(self) -> int:
        """Tokens that the model may write beside a request's max_tokens."""

    @property
    def limit(self) -> str:
        """The name of the parameter that limits a reply."""

    @property
    def means(self) -> Means | None:
        """How it is asked to hold a reply to a prompt's choices; None where it cannot be."""

    def check_key(self) -> None:
        """Refuse to ask without a usable key. Raises ConfigError."""


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What a run has to know of a model besides its answers; the defaults are those of one with nothing special."""

    role: Role
    """What it is, for tables and charts: a run's manifest records it."""
    instant: bool = False
    """It answers sooner than a cache could, and for nothing (a baseline): asked every time, never stored."""
    varies: bool = False
    """Another sample of the same request can be another answer."""
    tasks: tuple[str, ...] = ()
    """The only tasks that it can answer; empty where it can answer any."""
    service: Service | None = None
    """The server that answers for it; None for a model on this machine."""
    ranks: bool = False
    """Its settings ask for ranking (model.method=rank), so a prompt that makes it write is refused."""
    ranks_and_writes: bool = False
    """It ranks and writes under one identity: the request tells its answers apart, and a run says which of the two."""


class Model(Protocol):
    """Anything that answers requests."""

    @property
    def name(self) -> str:
        """Its row on the leaderboard and its folder under results/."""

    @property
    def identity(self) -> Mapping[str, JSON]:
        """An include-list of everything that can change an output: the first half of the cache's key."""

    @property
    def accepts(self) -> tuple[type[Request], ...]:
        """The kinds of request it can answer."""

    @property
    def traits(self) -> Traits:
        """What else a run has to know of it."""

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Answer each distinct request once, in any order; yield the outcomes that landed together, as they land.

        Pull a bounded window of requests, so that a long run holds neither all requests nor all responses.
        When the next list is asked for, the last one has been stored. Closing the generator gives up what is under
        way, but for what a later call could still collect. Raise RunStopped for what no later request can survive
        (key, quota, budget), after what has landed.
        """


class Wrapper:
    """A model around another one, with its name, identity, kinds and traits: cache, budget, ledger, interruption.

    A subclass adds `respond`. It closes what the other one's gives it, as `yield from` and `contextlib.closing` do.
    """

    def __init__(self, model: Model) -> None:
        """Wrap `model`."""
        self.model = model
        self.name = model.name
        self.identity = model.identity
        self.accepts = model.accepts
        self.traits = model.traits


MANY = 1_000_000_000
"""The length hint of requests whose end is not in sight."""


class Admission(Iterator[Request]):
    """Requests, and which of their tries may go out: here all of them, at any time. A budget admits fewer."""

    def __init__(self, source: Iterable[Request]) -> None:
        """Take the requests from `source`."""
        self._source = iter(source)

    def __next__(self) -> Request:
        return next(self._source)

    def __length_hint__(self) -> int:
        """Return how many there are still, if the source knows; MANY where it does not."""
        return length_hint(self._source, MANY)

    @property
    def ready(self) -> bool:
        """Whether next() need not be put off until a call under way has landed."""
        return True

    def failed(self, request: Request, usage: Usage | None) -> None:
        """Take note of a try that went out and has no answer; called for every such try.

        `usage` is what the server has counted for it all the same: None where it has certainly done no work, a Usage
        without counts where that is unknown.
        """

    def again(self, request: Request) -> bool:
        """Return whether a request whose last try has failed may go out again. Raises BudgetReached if it never may."""
        return True


def as_text(messages: Transcript) -> str:
    """Return a conversation as one text, for models without turns: replies follow their question after a space."""
    text = ""
    for message in messages:
        if message.role == "assistant":
            text += f" {message.content}"
        else:
            text += f"\n\n{message.content}" if text else message.content
    return text
