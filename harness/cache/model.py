"""A model that asks another one only what the store does not know.

The key is the digest of (schema version, the model's identity, the request). What the key was made of is
stored beside the answer, so that a miss can be explained; the words of a message are stored once, by content.
A response is stored before it is handed out. Failures are not stored. A file that cannot be read or written
is an error: an answer that was not really stored would be paid for twice.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from harness.cache.asking import Asking
from harness.cache.schema import UNREADABLE, key_of
from harness.cache.store import Store
from harness.codec import canonical, digest, response_from_json, response_json, short, words
from harness.errors import StoreError
from harness.protocols import Model, Outcome, Outcomes, Wrapper
from harness.runtime import signals
from harness.settings import CacheMode
from harness.types import JSON, Failure, Request, Response

PATIENCE = 600.0
"""Seconds without a new answer of the other processes after which what they have claimed is asked here as well."""
_MOST_DIFFERENCES = 3
"""How many differences are named; beyond that the two have little in common."""
_TIES = 200
"""How many equally near requests are compared word by word."""
_AROUND = 30
"""Characters shown on either side of where two texts part."""


class CachedModel(Wrapper):
    """A model that asks another one only what the store does not know."""

    def __init__(
        self,
        model: Model,
        store: Store,
        *,
        mode: CacheMode = "on",
        task: str = "",
        say: Callable[[str], None] = lambda _: None,
        patience: float = PATIENCE,
    ) -> None:
        """Wrap `model`; answers go to and come from `store`, as `mode` allows. `task` is noted beside new answers.

        In mode frozen the first miss raises StoreError; in mode refresh what was stored before this moment counts as
        missing, and is replaced. `say` shows a line on stderr.
        """
        super().__init__(model)
        self.store = store
        self.say = say
        self.mode = mode
        self.patience = patience
        self.since = time.time() if mode == "refresh" else 0.0
        self._task = task
        self._identity = canonical(self.identity)

    def key(self, request: Request) -> str:
        return key_of(self._identity, short(request))

    @property
    def interrupted(self) -> str:
        """The message where Ctrl-C ends the wait for other processes."""
        if self.mode == "refresh":
            return "interrupted: every answer so far is stored; cache=on asks for the rest only."
        return signals.sentence("every answer so far is stored")

    def peek(self, request: Request) -> Response | None:
        """Return the stored answer if there is one that counts; ask nothing."""
        return self.store.get(self.key(request), since=self.since)

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Yield stored answers as they are found, others as they land; each is stored before it is handed out."""
        replaced = self.store.replaced
        try:
            yield from Asking(self, requests).outcomes()
        finally:
            if count := self.store.replaced - replaced:
                answers = f"{count:,} stored answer{'s' * (count > 1)}"
                self.say(f"{answers} in {self.store.path} could not be read as stored: asked again and replaced")

    def keep(self, outcomes: Sequence[tuple[str, Request, Response | Failure]]) -> list[Outcome]:
        """Store the responses that landed together, with their keys; return the outcomes to hand out.

        Where another process was sooner that is its answer. A response of which nothing could be stored is a failure.
        """
        sound = [(key, request, _storable_outcome(outcome)) for key, request, outcome in outcomes]
        answers = [(key, request, outcome) for key, request, outcome in sound if isinstance(outcome, Response)]
        self.store.claims.release([key for key, _, outcome in sound if isinstance(outcome, Failure)])
        sooner: dict[str, Response] = {}
        if answers:
            sooner = self.store.put(self.identity, answers, name=self.name, task=self._task, replace=self.since > 0)
        return [(request, sooner.get(key, outcome)) for key, request, outcome in sound]

    def missing(self, request: Request) -> StoreError:
        """Return what mode frozen raises where an answer is not there."""
        if self.store.damaged(key := self.key(request)):
            return StoreError(
                f"cache=frozen, and an answer of {self.name} in {self.store.path} cannot be read as stored ({key}): "
                "with cache=on it is asked for again and replaced."
            )
        return StoreError(
            f"cache=frozen, and {self.store.path} does not hold every answer of {self.name}: "
            f"{explain(self.store, self.identity, request)}. With cache=on it is asked for."
        )


def _storable_outcome(outcome: Response | Failure) -> Response | Failure:
    """Return an outcome as the store would return it; a failure where it could not be stored."""
    if isinstance(outcome, Failure):
        return outcome
    try:
        if outcome.logprobs is not None:
            canonical(dict(outcome.logprobs))  # no NaN
        return response_from_json(response_json(outcome), cached=outcome.cached)
    except (ValueError, TypeError, AttributeError) as error:
        return Failure("invalid_reply", f"the model's response cannot be stored: {error}")


def explain(store: Store, identity: Mapping[str, JSON], request: Request) -> str:
    """Return half a sentence on why the answer is missing. It reads the whole cache, which a failed run can afford."""
    request_json = short(request)
    models = "SELECT identity FROM identities WHERE digest IN (SELECT DISTINCT identity FROM answers"
    if found := [*dict.fromkeys(store.query(f"{models} WHERE request = ?)", request_json))]:
        elsewhere = [_read(text) for (text,) in found]
        return f"the same request is stored for a model that is set otherwise ({_nearest(elsewhere, identity)})"
    stored = store.query("SELECT request FROM answers WHERE identity = ?", digest(identity))
    if nearest := _nearest_requests(stored, request_json):
        return f"of this model the nearest request that is stored has {_words(store, nearest, request)}"
    identities = [_read(text) for (text,) in dict.fromkeys(store.query(f"{models})"))]
    if not identities:
        return "it is empty"
    return (
        f"nothing is stored for this model; the nearest one is set otherwise ({_nearest(identities, identity)}), "
        "and has not been asked these words either"
    )


def differences(there: Any, now: Any) -> list[str]:
    """Return the settings in which two JSON values differ, by their dotted names."""
    a, b = dict(_leaves(there)), dict(_leaves(now))
    names = [name for name in {**a, **b} if name not in a or name not in b or a[name] != b[name]]
    return [f"{name}: {_value_text(a, name)} there, {_value_text(b, name)} now" for name in names]


def _nearest(identities: list[Any], identity: Mapping[str, JSON]) -> str:
    # By way of JSON: a tuple of ours is a list there.
    return _few(min((differences(there, json.loads(canonical(identity))) for there in identities), key=len))


def _few(differences: list[str]) -> str:
    more = f"; and {len(differences) - _MOST_DIFFERENCES} more" if len(differences) > _MOST_DIFFERENCES else ""
    return "; ".join(differences[:_MOST_DIFFERENCES]) + more


def _nearest_requests(stored: Iterator[tuple[Any, ...]], request_json: str) -> list[Any]:
    """Return the stored requests that differ in the fewest places; other words are nearer than other settings."""
    leaves = dict(_leaves(json.loads(request_json)))
    nearest: list[Any] = []
    least = 0
    for (text,) in stored:
        there = dict(_leaves(_read(text)))
        differ = [n for n in {**there, **leaves} if n not in there or n not in leaves or there[n] != leaves[n]]
        distance = sum(1 if name.endswith("sha256") else 2 for name in differ)
        if not nearest or distance < least:
            least, nearest = distance, []
        if distance == least and len(nearest) < _TIES:
            nearest.append(_read(text))
    return nearest


def _words(store: Store, nearest: list[Any], request: Request) -> str:
    """Return how the nearest requests differ from this one: settings by name, words by where they part."""
    now = json.loads(short(request))
    texts = dict(zip(_digests(now).values(), words(request), strict=True))
    partings: list[tuple[int, str]] = []
    for there in nearest:
        mine, theirs = _digests(now), _digests(there)
        name = next((name for name in mine if name in theirs and mine[name] != theirs[name]), None)
        if name is not None:
            text = store.text(theirs[name]) if store.has_text(theirs[name]) else ""
            partings.append(_parting(text, texts[mine[name]]))
    settings = [difference for difference in differences(nearest[0], now) if "sha256: " not in difference]
    if not partings:
        return f"other settings ({_few(settings)})"
    return "; ".join([f"other words ({max(partings)[1]})", *settings[:_MOST_DIFFERENCES]])


def _digests(request: Any) -> dict[str, str]:
    return {name: text for name, text in _leaves(request) if name.endswith("sha256")}


def _parting(there: str, now: str) -> tuple[int, str]:
    """Return how many characters two texts share at their beginning, and a phrase on what comes after."""
    at = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(there, now, strict=False)))
    after = f"after {json.dumps(there[max(0, at - _AROUND) : at], ensure_ascii=False)}: " if at else ""
    excerpts = [json.dumps(text[at : at + _AROUND], ensure_ascii=False) for text in (there, now)]
    return at, f"{after}{excerpts[0]} there, {excerpts[1]} now"


def _read(text: Any) -> Any:
    """Return a stored JSON value; None, which is near nothing, where it cannot be read."""
    try:
        return json.loads(text)
    except UNREADABLE:
        return None


def _leaves(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    children: Any = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    if not children:
        yield at, value
    for name, child in children:
        yield from _leaves(child, f"{at}.{name}" if at else str(name))


def _value_text(values: Mapping[str, Any], name: str) -> str:
    return json.dumps(values[name], ensure_ascii=False) if name in values else "nothing"
