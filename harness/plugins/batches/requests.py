"""The requests of a run written as lines of a batch, and the answers to such lines imported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from harness.cache import Store, open_store
from harness.cache.model import CachedModel
from harness.cache.schema import key_of
from harness.codec import canonical, request_digest
from harness.errors import ConfigError, DataError
from harness.models.api.endpoint import Endpoint
from harness.plugins.batches.drivers import Engine
from harness.plugins.batches.journal import Journal, Written, endpoint_from_settings, forget, settings_of
from harness.plugins.batches.lines import content_of, groups_of, line_of, outcome_of
from harness.plugins.batches.model import endpoint_of
from harness.plugins.batches.parts import Call, PartError, PartsOutlet, columns_of, is_folder, is_parquet, lines_in
from harness.prompting.fit import fitting
from harness.prompting.prompts import Prompt
from harness.protocols import Task
from harness.settings import Main
from harness.storage.atomic_write import atomic_file, check
from harness.tasks.check import parts_of
from harness.types import Failure, Message, Request, Response

_CHUNK = 500
"""Requests and lines that are noted at a time."""


@dataclass
class UnansweredRequests:
    """The requests of a run that have no answer in a cache, noted there as they are written out."""

    store: Store
    task: Task
    prompt: Prompt
    endpoint: Endpoint
    samples: int
    cached: CachedModel
    answered: int = 0
    """Distinct requests that the cache knows."""
    turns: int = 0
    """Missing requests that are turns before a question, whose words are not known before they are answered."""
    under_way: int = 0
    """Requests that are in a batch at the server already."""
    _openings: dict[tuple[tuple[str, ...], int], tuple[Message, ...] | Request] = field(default_factory=dict)

    @classmethod
    def of(cls, store: Store, settings: Main) -> UnansweredRequests:
        """Return the source of a run's settings. Raises ConfigError."""
        if settings.judge is not None:
            raise ConfigError("judge=: what a judge reads is known when the answers are there: leave it to the run.")
        task, model, prompt = parts_of(settings)
        endpoint = endpoint_of(model)
        return cls(store, task, prompt, endpoint, settings.samples, CachedModel(endpoint, store))

    def journaled(self) -> Iterator[tuple[str, Request]]:
        """Yield each missing request with its key, noted in the cache; those that are in a batch already are not."""
        journal = Journal(self.store)
        journal.make_tables()
        model, settings = settings_of(self.endpoint)
        journal.add_model(model, self.endpoint.name, settings)
        requests = self._missing()
        while chunk := [(self.cached.key(request), request) for request in islice(requests, _CHUNK)]:
            new = set(journal.write_out(model, self.task.name, chunk))
            self.under_way += len(chunk) - len(new)
            yield from ((key, request) for key, request in chunk if key in new)

    def _missing(self) -> Iterator[Request]:
        """Yield each distinct unanswered request whose words are already known."""
        digests: set[int] = set()
        kind = fitting(self.prompt, self.endpoint)
        for item in self.task.items():
            opening = self.prompt.opening(item.fields)
            for draw in range(self.samples):
                transcript = self._transcript(opening, draw)
                if isinstance(transcript, tuple):
                    request, is_turn = self.prompt.render(item.fields, transcript, kind, draw), False
                else:
                    request, is_turn = transcript, True
                name = int(request_digest(request)[:16], 16)
                if name in digests:
                    continue
                digests.add(name)
                if not is_turn and self.cached.peek(request) is not None:
                    self.answered += 1
                else:
                    self.turns += is_turn
                    yield request

    def _transcript(self, opening: tuple[str, ...], draw: int) -> tuple[Message, ...] | Request:
        """Return an opening with its replies; the request for the first turn that has none yet."""
        if len(self._openings) >= 256:  # items that share an opening come together
            self._openings.clear()
        if (opening, draw) not in self._openings:
            self._openings[opening, draw] = self._played(opening, draw)
        return self._openings[opening, draw]

    def _played(self, opening: tuple[str, ...], draw: int) -> tuple[Message, ...] | Request:
        turns: list[Message] = []
        for k, turn in enumerate(opening):
            if self.prompt.replies == "fixed":
                reply = self.prompt.words.opening_reply or ""
            else:
                request = self.prompt.turn(tuple(turns), opening, k, draw)
                if (response := self.cached.peek(request)) is None:
                    return request
                reply = response.text
            turns += [Message("user", turn), Message("assistant", reply)]
        return tuple(turns)


@dataclass
class Outlet:
    """Files of lines, none with more lines or bytes than the server takes."""

    out: str
    lines: int
    """At most in one file."""
    size: int
    """Bytes at most in one file."""
    files: list[tuple[str, int, int]] = field(default_factory=list)
    """The name of each file, its lines and its bytes."""

    def check(self) -> None:
        """Raise StoreError where the file cannot be written."""
        check(self.out)

    def write(self, calls: Iterable[Call]) -> None:
        """Write a line for each call; without any, no file. Raises ConfigError for a line beyond the limit."""
        lines = (line_of(*call) for call in calls)
        held = next(lines, None)
        while held is not None:
            name = self.out if not self.files else self._further(len(self.files) + 1)
            count = size = 0
            with atomic_file(name, "file") as file:
                while held is not None and (not count or (count < self.lines and size + len(held) < self.size)):
                    if len(held) >= self.size:
                        raise ConfigError(
                            f"a request takes {len(held) / 1e6:,.1f} MB, more than megabytes={self.size / 1e6:g}: "
                            "choose a prompt with less data."
                        )
                    file.write(f"{held}\n")
                    count, size = count + 1, size + len(held) + 1
                    held = next(lines, None)
            self.files.append((name, count, size))

    def _further(self, number: int) -> str:
        path = Path(self.out)
        return str(path.with_name(f"{path.stem}-{number}{path.suffix}"))


@dataclass
class Intake:
    """Lines of output on their way into a cache, and what has become of them."""

    store: Store
    new: int = 0
    known: int = 0
    """Answered before, by another line or another call: the first answer stays."""
    failures: Counter[str] = field(default_factory=Counter)
    """By kind; none of them is stored."""
    set_apart: int = 0
    """With an answer to nothing that was written out here."""
    unreadable: int = 0
    damaged: list[str] = field(default_factory=list)
    """What is wrong with files that could not be read to their end."""
    _endpoints: dict[str, Endpoint] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._journal = Journal(self.store)
        self._journal.make_tables()

    def files(self, paths: Iterable[Path]) -> Iterator[int]:
        """Take in output files, of one that is damaged what comes before; yield the number of lines done."""
        done = 0
        for path in paths:
            try:
                for lines in groups_of(lines_in(path)):
                    self._take(lines, str(path))
                    done += len(lines)
                    yield done
            except PartError as error:
                self.damaged.append(str(error))

    def strays(self) -> None:
        """Take in what was set apart before and has been asked for since."""
        while rows := list(islice(self._journal.strays(), _CHUNK)):
            self._take([line.encode() for _, line in rows], "")
            self._journal.take_back(key for key, _ in rows)

    def _take(self, lines: Sequence[bytes | None], path: str) -> None:
        answers: dict[str, tuple[Written, Request, Response]] = {}
        strays: list[tuple[str, str]] = []
        for line in lines:
            content = None if line is None else content_of(line)
            if line is None or content is None:
                self.unreadable += 1
                continue
            key = content["custom_id"]
            written = None if key in answers else self._journal.written(key)
            if written is None and (key in answers or self._journal.stored(key)):
                self.known += 1
            elif written is None:
                strays.append((key, line.decode(errors="replace")))
            else:
                request, endpoint = self._request_of(key, written)
                outcome = outcome_of(content, endpoint, request)
                if isinstance(outcome, Failure):
                    self.failures[outcome.kind] += 1
                else:
                    answers[key] = written, request, outcome
        self._store(answers)
        if strays:
            self.set_apart += len(strays)
            self._journal.set_apart(strays, path)

    def _request_of(self, key: str, written: Written) -> tuple[Request, Endpoint]:
        """Return the request that a key means, and whose it is. Raises DataError where they do not make that key."""
        if written.model not in self._endpoints:
            models = self._journal.models()
            self._endpoints[written.model] = endpoint_from_settings(models.get(written.model, ("", "{}"))[1])
        endpoint = self._endpoints[written.model]
        try:
            request = self._journal.request(written)
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"what {key} asked for cannot be read ({error}): give model=… and task=… too.") from None
        if key_of(canonical(endpoint.identity), written.request) != key:
            raise DataError(
                f"the settings noted beside {key} do not make that key: was it written by another version of harness? "
                "Give model=… and task=… too."
            )
        return request, endpoint

    def _store(self, answers: dict[str, tuple[Written, Request, Response]]) -> None:
        groups: dict[tuple[str, str], list[tuple[str, Request, Response]]] = {}
        for key, (written, request, response) in answers.items():
            groups.setdefault((written.model, written.task), []).append((key, request, response))
        for (model, task), rows in groups.items():
            endpoint = self._endpoints[model]
            self.store.put(endpoint.identity, rows, name=endpoint.name, task=task)
            self.new += len(rows)
        with self.store.transaction() as db:
            forget(db, answers)


def is_output(path: Path) -> bool:
    """Return whether a file holds answers of a batch. Raises DataError if it holds the requests instead."""
    content: dict[str, Any] | None
    if parquet := is_parquet(path):
        content = dict.fromkeys(columns_of(path))
    elif (line := next(lines_in(path), None)) is None or (content := content_of(line)) is None or "schema" in content:
        return False
    if "response" not in content and "error" not in content and "body" in content:
        raise DataError(
            f"{path} holds requests, not answers: give the file that vLLM's run-batch (-o) or the server's batch wrote."
        )
    if parquet and not {"custom_id", "response"} <= content.keys():
        raise DataError(f"{path} has the columns {', '.join(content)}: answers have custom_id and response.")
    return True


def outlet_for(out: str, lines: int, megabytes: float, engine: Engine | None = None) -> Outlet | PartsOutlet:
    """Return where requests are written: files of lines, or a folder of parts with the driver of an engine.

    Raises ConfigError for a driver beside a file: it reads a folder.
    """
    size = int(megabytes * 1e6)
    if is_folder(out):
        return PartsOutlet(out, lines, size, engine)
    if engine is not None:
        raise ConfigError(f"driver={engine} has a folder of requests answered: give {out}/, with the slash.")
    return Outlet(out, lines, size) if out != "-" else Outlet(out, 1 << 62, 1 << 62)


def write(cache: Path, settings: Main, outlet: Outlet | PartsOutlet) -> UnansweredRequests:
    """Write the missing requests of a run as lines of batches or rows of parts; return what was counted."""
    with closing(open_store(cache)) as store:
        source = UnansweredRequests.of(store, settings)
        if isinstance(outlet, PartsOutlet):
            outlet.model = source.endpoint.model
        outlet.write((key, *source.endpoint.call(request)) for key, request in source.journaled())
    return source


def note(store: Store, settings: Main) -> None:
    """Journal the missing requests of a run without writing lines, so that answers to others' lines can be imported."""
    for _ in UnansweredRequests.of(store, settings).journaled():
        continue
