"""A batch server in this process whose behaviour is drawn, choice by choice: it knows what was billed and delivered.

Each choice (CHOICES) is independent of the others. A story is one command, started over and over as a user would, and
killed once at a call; its clock is the test's. What has to hold whatever was drawn:

- no request is billed twice, unless the user has said `forget`;
- no answer that a file has brought is lost;
- each command ends, complete or with words for what it waits for;
- with a server that has come to its senses, and `forget` where it is offered, the command is complete.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from harness_batches import exchange
from harness_batches import model as model_module
from harness_batches import server as server_module
from harness_batches.journal import Journal
from harness_batches.model import Batched
from support.server import Call, LocalServer, http

from harness.cache.model import CachedModel
from harness.cache.store import Store
from harness.errors import RunStopped
from harness.models.api.anthropic import Messages
from harness.models.api.openai import Chat
from harness.types import ChatRequest, Message, Response

CHOICES: dict[str, tuple[Any, ...]] = {
    "form": ("openai", "anthropic"),
    # The reply to the making, which has taken place unless it says "not made".
    "create": ("sound", "{}", "id null", "id too long", "error inside", "a list", "hang-up", "page", "cut", 302, 400,
               401, 404, 409, 429, 500, 503, "not made: hang-up", "not made: 429", "not made: 500", "not made: 400"),
    "creations": (1, 2),  # so many of them are odd
    "list": ("sound", "late", "late", "without metadata", "without file", "without both", "{}", "page", "403",
             "in reverse", "endless", "ids too long"),
    "others": (0, 1, 120),  # batches of somebody else
    "states": ("in_progress completed", "completed", "in_progress validating in_progress completed",
               "expired", "cancelled", "failed"),
    "files": ("sound", "third look", "never"),
    "output": ("sound", "empty", "page", "cut", "404", "502", "403"),  # the file, so many times over
    "times": (1, 2, 100),
    "lines": ("sound", "twice", "reversed", "one missing", "foreign"),
    "errors": ("sound", "404", "403", "page", "empty"),
    "counts": ("sound", "none", "zero", "total only"),
    "failing": (0, 1, 3),  # requests that come to nothing and are not billed
    "clock": (0, 7200, -7200, 90000, -90000),
    "wait": (True, False),
    "size": (2, 5),
    "killed": (None, *range(14)),
    "moment": ("before", "after"),
}  # fmt: skip
REQUESTS = [ChatRequest((Message("user", f"Question {k}?"),), max_tokens=8) for k in range(5)]
STARTS = 8
LONG = "x" * 2000
DAY = 86400.0


class Killed(BaseException):
    """What stands for kill -9: nothing is caught, and only what is on disk remains."""


@dataclass
class Made:
    """A batch at the server."""

    id: str
    names: list[str]
    mark: str | None
    file: str | None
    created: float
    answered: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    looks: int = 0
    missed: int = 0
    """How often it was missing in the list."""


@dataclass
class DrawnServer:
    """The server: `choice` is what it does, `billed` and `delivered` the truth."""

    choice: dict[str, Any]
    billed: Counter[str] = field(default_factory=Counter)
    delivered: set[str] = field(default_factory=set)
    files: dict[str, bytes] = field(default_factory=dict)
    batches: list[Made] = field(default_factory=list)
    reads: Counter[str] = field(default_factory=Counter)
    creations: int = 0
    calls: int = 0
    now: float = 0.0
    """Seconds that the commands have waited."""
    sane: bool = False
    """Whether it now does all that it should."""
    queue: float = float("inf")
    """Requests of one batch at most."""
    live: int = 0
    """Calls that were answered at once."""

    def __getitem__(self, name: str) -> Any:
        usual = name not in ("form", "clock", "others", "size", "wait", "counts", "lines")
        return CHOICES[name][0] if self.sane and usual and name != "failing" else self.choice[name]

    def time(self) -> float:
        return time.time() + self.now

    def rest(self, seconds: float) -> None:
        self.now += seconds
        assert self.now < 60 * DAY, "a command waits without end"

    def handle(self, request: httpx2.Request) -> httpx2.Response:
        number, self.calls = self.calls, self.calls + 1
        dies = number == self.choice["killed"]
        if dies and self.choice["moment"] == "before":
            raise Killed
        response = self.answer(request, request.read())
        if dies:
            raise Killed
        return response

    def answer(self, request: httpx2.Request, body: bytes) -> httpx2.Response:
        path = request.url.path.removeprefix("/v1")
        if path.endswith("/chat/completions"):
            self.live += 1
            return httpx2.Response(200, json=reply())
        if path.startswith("/files") and request.method == "POST":
            name = f"file-{len(self.files)}"
            self.files[name] = body
            return httpx2.Response(200, json={"id": name})
        if path.startswith("/files/"):
            return self.content(path.split("/")[2])
        if request.method == "POST":
            return self.create(body)
        known = {batch.id: batch for batch in self.batches}
        parts = path.removeprefix("/messages").split("/")
        if len(parts) < 3:
            return self.list(dict(request.url.params))
        if parts[2] not in known:
            return httpx2.Response(404, json={"error": {"message": "no such batch"}})
        batch = known[parts[2]]
        return self.content(f"out {batch.id}") if parts[-1] == "results" else self.look(batch)

    # Making

    def create(self, body: bytes) -> httpx2.Response:
        how = self["create"] if self.creations < self["creations"] else "sound"
        self.creations += 1
        if isinstance(how, str) and how.startswith("not made"):
            if "hang-up" in how:
                raise httpx2.ReadError("reset")
            return refused(int(how[-3:]))
        order = json.loads(body)
        if "requests" in order:
            lines, file = order["requests"], None
        else:
            file = order["input_file_id"]
            lines = [json.loads(line) for line in re.findall(rb'\{"custom_id".*\}', self.files[file])]
        names = [line["custom_id"] for line in lines]
        mark = (order.get("metadata") or {}).get("harness")
        batch = Made(f"batch-{len(self.batches)}", names, mark, file, self.time() + self["clock"])
        self.batches.append(batch)
        fails = self["states"] == "failed" or len(names) > self.queue
        for k, name in enumerate(names):
            undone = fails or k < self["failing"] or (self["states"] in ("expired", "cancelled") and k % 2)
            (batch.failed if undone else batch.answered).append(name)
            self.billed[name] += not undone
        reply = self.described(batch, whole=False)
        odd = {"{}": {}, "id null": reply | {"id": None}, "id too long": reply | {"id": LONG},
               "error inside": {"id": "req-1", "error": {"message": "overloaded"}}, "a list": [reply]}  # fmt: skip
        if how in odd:
            return httpx2.Response(200, json=odd[how])
        if how == "hang-up":
            raise httpx2.ReadError("reset")
        if how in ("page", "cut"):
            return httpx2.Response(200, content=b"<html>" if how == "page" else json.dumps(reply).encode()[:30])
        return refused(how) if isinstance(how, int) else httpx2.Response(200, json=reply)

    # Telling

    def list(self, query: dict[str, str]) -> httpx2.Response:
        how = self["list"]
        if how in ("{}", "page"):
            return httpx2.Response(200, content=b"{}" if how == "{}" else b"<html>")
        if how == "403":
            return refused(403)
        rows = []
        for batch in self.batches:
            batch.missed += how == "late"
            if how != "late" or batch.missed > 2:
                rows.append(self.described(batch, whole=False))
        for k in range(self["others"]):
            made = self.time() + self["clock"] - 3 * DAY
            other = Made(f"other-{k}", ["theirs"] * 2, "theirs" if k % 2 else None, f"theirs-{k}", made)
            rows.append(self.described(other, whole=False) | {"status": "completed", "processing_status": "ended"})
        rows.sort(key=lambda row: str(row["created_at"]), reverse=how != "in reverse")
        for row in rows:
            for name in ("metadata",) * (how in ("without metadata", "without both")):
                row.pop(name, None)
            for name in ("input_file_id",) * (how in ("without file", "without both")):
                row.pop(name, None)
            if how == "ids too long":
                row["id"] += LONG
        after = query.get("after", query.get("after_id"))
        start = next((k + 1 for k, row in enumerate(rows) if str(row["id"]) == after), 0)
        page = rows[start : start + 100]
        return httpx2.Response(200, json={"data": page, "has_more": how == "endless" or start + 100 < len(rows)})

    def look(self, batch: Made) -> httpx2.Response:
        batch.looks += 1
        return httpx2.Response(200, json=self.described(batch, whole=True))

    def described(self, batch: Made, *, whole: bool) -> dict[str, Any]:
        states = self["states"].split()
        state = "validating" if not batch.looks else states[min(batch.looks, len(states)) - 1]
        if len(batch.names) > self.queue:
            error = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached for m"}
            failed = {"id": batch.id, "status": "failed", "errors": {"data": [error]}}
            return failed | {"metadata": {"harness": batch.mark}}
        ended = state == states[-1] != "in_progress"
        later = {"sound": 1, "third look": 3, "never": 10**9}.get(self["files"], 1)
        ready = ended and batch.looks >= later and (state != "failed" or self.sane)
        done = ended or batch.looks > len(states)
        counts = {"total": len(batch.names), "completed": len(batch.answered) * done}
        counts |= {"failed": len(batch.failed) * done}
        odd = {"none": {}, "zero": dict.fromkeys(counts, 0), "total only": {"total": counts["total"]}}
        counts = odd.get(self["counts"], counts)
        made = {"id": batch.id, "created_at": int(batch.created)}
        if self["form"] == "anthropic":
            state = {"validating": "in_progress", "completed": "ended", "expired": "ended",
                     "cancelled": "ended", "failed": "ended"}.get(state, state)  # fmt: skip
            if self["counts"] == "sound":
                counts = {"succeeded": len(batch.answered) * done, "errored": len(batch.failed) * done,
                          "processing": len(batch.names) * (not done)}  # fmt: skip
            url = f"https://x/{batch.id}" if ready or (ended and batch.looks >= later) else None
            return made | {"processing_status": state, "request_counts": counts, "results_url": url,
                           "created_at": datetime.fromtimestamp(int(batch.created), UTC).isoformat()}  # fmt: skip
        made |= {"status": state, "request_counts": counts, "input_file_id": batch.file}
        made |= {"metadata": {"harness": batch.mark}}
        if ready:
            made["output_file_id"] = f"out {batch.id}" if batch.answered else None
            made["error_file_id"] = f"err {batch.id}" if batch.failed else None
        return made

    def lines(self, batch: Made, *, whole: bool) -> list[dict[str, Any]]:
        """Return the lines of the output; with `whole`, those of the errors, too."""
        rows = [{"custom_id": name, "response": {"status_code": 200, "body": reply()}} for name in batch.answered]
        rows = rows[1:] if self["lines"] == "one missing" else rows
        failed = [{"custom_id": name, "response": {"status_code": 500, "body": {"error": {"message": "it failed"}}}}
                  for name in batch.failed]  # fmt: skip
        rows += failed if whole else []
        if self["form"] == "anthropic":
            rows = [as_result(row) for row in rows]
        rows += rows if self["lines"] == "twice" else []
        rows += [rows[0] | {"custom_id": "of-nobody"}] if self["lines"] == "foreign" and rows else []
        return rows[::-1] if self["lines"] == "reversed" else rows

    def content(self, name: str) -> httpx2.Response:
        kind, id = name.split()
        batch = next(batch for batch in self.batches if batch.id == id)
        self.reads[name] += 1
        odd = self["output"] if kind == "out" and self.reads[name] <= self["times"] else "sound"
        odd = self["errors"] if kind == "err" else odd
        if odd in ("404", "403", "502"):
            return refused(int(odd))
        if odd in ("empty", "page"):
            return httpx2.Response(200, content=b"" if odd == "empty" else b"<html>\n<p>Busy</p>\n</html>\n")
        if kind == "err":
            rows = [{"custom_id": n, "response": None, "error": {"code": "x", "message": "no"}} for n in batch.failed]
            return httpx2.Response(200, content="".join(json.dumps(row) + "\n" for row in rows).encode())
        rows = self.lines(batch, whole=self["form"] == "anthropic")
        content = "".join(json.dumps(row) + "\n" for row in rows).encode()
        if odd == "cut":
            content = content[: len(content) // 2]
        else:
            self.delivered.update(row["custom_id"] for row in rows if row["custom_id"] in batch.answered)
        return httpx2.Response(200, content=content)


def refused(status: int) -> httpx2.Response:
    headers = {"Retry-After": "0.01"} if status == 429 else {}
    return httpx2.Response(status, json={"error": {"message": "it is refused"}}, headers=headers)


def reply() -> dict[str, Any]:
    usage = {"prompt_tokens": 4, "completion_tokens": 1}
    choice = {"index": 0, "message": {"role": "assistant", "content": "Yes"}, "finish_reason": "stop"}
    return {"id": "c", "model": "m", "choices": [choice], "usage": usage}


def as_result(row: dict[str, Any]) -> dict[str, Any]:
    """Return a line as Anthropic writes it."""
    if row["response"]["status_code"] != 200:
        error = {"type": "error", "error": {"type": "api_error", "message": "it failed"}}
        return {"custom_id": row["custom_id"], "result": {"type": "errored", "error": error}}
    message = {"type": "message", "model": "m", "content": [{"type": "text", "text": "Yes"}], "stop_reason": "end_turn",
               "usage": {"input_tokens": 4, "output_tokens": 1}}  # fmt: skip
    return {"custom_id": row["custom_id"], "result": {"type": "succeeded", "message": message}}


def draw(random: random.Random, *, quiet: float) -> dict[str, Any]:
    """Draw a behaviour; each choice is the usual one with the probability `quiet`."""
    return {
        name: options[0] if name != "form" and random.random() < quiet else random.choice(options)
        for name, options in CHOICES.items()
    }


def use(server: DrawnServer, monkeypatch: pytest.MonkeyPatch) -> Chat:
    """Have all calls of files and batches answered by the server, in its time; return a model that asks it."""
    transport = httpx2.MockTransport(server.handle)
    monkeypatch.setattr(httpx2.AsyncClient, "_transport_for_url", lambda *_: transport)
    for module in (server_module, exchange, model_module):
        monkeypatch.setattr(module, "rest", server.rest)
    monkeypatch.setattr(model_module, "time", SimpleNamespace(time=server.time))
    batch = {"wait": server["wait"], "size": server["size"]}
    api = Messages if server["form"] == "anthropic" else Chat
    where = {"base_url": "http://127.0.0.1:9/v1", "api_key_env": None, "attempts": 3}
    return api(name="m", model="m", seed=None, batch=batch, **where)


def story(choice: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Start the command until it is complete or the user is at their wits' end; check what must hold."""
    server = DrawnServer(choice)
    endpoint = use(server, monkeypatch)
    path = folder / "answers.sqlite"
    tally: Counter[str] = Counter()

    def command() -> str | None:
        """Carry out the command; return why it has stopped, "" if complete, None if it was killed."""
        tally["starts"] += 1
        with closing(Store(path)) as store:
            batched = Batched(endpoint, store, CachedModel(endpoint, store).key)
            outcomes: list[Any] = []
            try:
                for landed in CachedModel(batched, store).respond(REQUESTS):
                    outcomes += landed
            except RunStopped as reason:
                return str(reason)
            except Killed:
                return None
            whole = sum(isinstance(outcome, Response) for _, outcome in outcomes)
            return "" if whole == len(REQUESTS) else "some calls failed in a way that may pass: the same command"

    def check() -> None:
        assert all(count <= 1 for count in server.billed.values()), f"billed twice: {server.billed}"
        with closing(Store(path)) as store:
            stored = {key for (key,) in store.query("SELECT key FROM answers")}
        # Forms without a mark read results to see whose a batch is, before they are collected.
        if said == "" or (said is not None and choice["form"] == "openai"):
            assert server.delivered <= stored, f"lost: {server.delivered - stored}"

    def commands() -> str | None:
        """Start the command until it is complete, often enough for what passes; return what the last one said."""
        nonlocal said
        for _ in range(STARTS):
            said = command()
            if not server.sane:
                check()
            if said == "":
                break
            assert server.sane or said is None or re.search("same command|check |set model|refuses", said), said
        return said

    said: str | None = None
    tally["complete" if commands() == "" else "waits"] += 1
    if said != "":
        server.sane = True
        if commands():  # the user gives up what the server has lost
            tally["forgotten"] += 1
            server.billed.clear()
            with closing(Store(path)) as store:
                journal = Journal(store)
                for batch in journal.batches():
                    journal.drop(batch.digest)
            server.choice |= {"failing": 0, "counts": "sound", "lines": "sound"}
            commands()
        assert said == "", f"never complete: {said}"
        check()
    return tally


class OverHTTP(LocalServer):
    """A drawn server at an address, for runs in other processes."""

    def __init__(self, **choice: Any) -> None:
        usual = {name: options[0] for name, options in CHOICES.items()}
        self.drawn = DrawnServer(usual | choice)
        self.begin()

    async def answer(self, call: Call) -> bytes:
        path = call.head.split(b" ", 2)[1].decode()  # with its query
        response = self.drawn.handle(httpx2.Request(call.method, f"http://x{path}", content=call.body))
        return http(response.content, response.status_code)
