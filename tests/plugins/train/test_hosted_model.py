"""Money as an invariant: stories of fine-tuning jobs at servers whose behaviour is drawn, choice by choice.

A story is one command, killed once at a call and started over and over by a user who does what its words say: who looks
through the account and names the job with submit=, or asks for another where there is none. Whatever was drawn, one job
at most is made, and each command ends: with the model, or with words for what it waits for.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from json import loads
from pathlib import Path
from typing import Any

import httpx2
import pytest

from harness.cli import hydra_app, own_configs
from harness.errors import RunStopped
from harness.models.api import server as server_module
from harness.plugins.train import hosted, hosted_job
from harness.settings import plain

CHOICES: dict[str, tuple[Any, ...]] = {
    "upload": ("sound", "{}", "hang-up", 500, "checked"),
    # The reply to the making, which has taken place unless it says "not made".
    "create": ("sound", "{}", "id null", "id empty", "id a number", "id too long", "wrapped", "error inside", "a list",
               "202 without id", "hang-up", "page", "cut", 302, 400, 401, 402, 403, 404, 408, 409, 413, 425, 429, 499,
               500, 502, 503, "not made: hang-up", "not made: 429", "not made: 500", "not made: 404"),
    "creations": (1, 2),  # so many of them are odd
    "list": ("sound", "without metadata", "without file", "without both", "{}", "page", "a list", 403, 404, 500,
             "endless", "without ids"),
    "others": (0, 3, 130),  # jobs of somebody else
    "look": ("sound", "{}", "page", 404, 429, 500, "of another id"),  # so many times over
    "times": (1, 2, 100),
    "states": ("queued running succeeded", "succeeded", "running done", "warming finished", "running", "strange",
               "running paused running succeeded", "canceled", "failed"),
    "model": ("sound", "later", "never"),
    "killed": (None, *range(9)),
    "moment": ("before", "after"),
}  # fmt: skip
LONG = "x" * 2000
STARTS = 8


class Killed(BaseException):
    """What stands for kill -9."""


@dataclass
class DrawnServer:
    choice: dict[str, Any]
    files: int = 0
    jobs: list[dict[str, Any]] = field(default_factory=list)
    """The truth: each of them is billed."""
    creations: int = 0
    looks: int = 0
    calls: int = 0

    def handle(self, request: httpx2.Request) -> httpx2.Response:
        number, self.calls = self.calls, self.calls + 1
        if number == self.choice["killed"] and self.choice["moment"] == "before":
            raise Killed
        response = self.answer(request)
        if number == self.choice["killed"]:
            raise Killed
        return response

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        path, post = request.url.path.removeprefix("/v1"), request.method == "POST"
        if path.startswith("/files"):
            return self.file() if post else json({"id": path.split("/")[2], "status": "processed"})
        if post:
            return self.create(request)
        if path == hosted_job.JOBS:
            return self.list(request.url.params.get("after"))
        return self.look(path.rpartition("/")[2])

    def file(self) -> httpx2.Response:
        how = self.choice["upload"] if not self.files else "sound"
        self.files += 1
        if how == "hang-up":
            raise httpx2.ReadError("reset")
        if how == 500:
            return refused(500)
        return json(
            {} if how == "{}" else {"id": f"file-{self.files}", "status": "pending" if how == "checked" else ""}
        )

    def create(self, request: httpx2.Request) -> httpx2.Response:
        how = self.choice["create"] if self.creations < self.choice["creations"] else "sound"
        self.creations += 1
        if isinstance(how, str) and how.startswith("not made"):
            if "hang-up" in how:
                raise httpx2.ReadError("reset")
            return refused(int(how[-3:]))
        order = loads(request.read())
        job = {"id": f"ftjob-{len(self.jobs)}", "training_file": order["training_file"], "metadata": order["metadata"]}
        self.jobs.append(job)
        job = {**job, "status": "validating_files"}
        odd = {"{}": {}, "id null": job | {"id": None}, "id empty": job | {"id": ""}, "202 without id": {},
               "id a number": job | {"id": 7}, "id too long": job | {"id": LONG}, "wrapped": {"data": job},
               "error inside": {"id": "req-1", "error": {"message": "overloaded"}}, "a list": [job]}  # fmt: skip
        if how in odd:
            return httpx2.Response(202 if how == "202 without id" else 200, json=odd[how])
        if how == "hang-up":
            raise httpx2.ReadError("reset")
        if how in ("page", "cut"):
            return httpx2.Response(200, content=b"<html>" if how == "page" else b'{"id": "ftj')
        return refused(how) if isinstance(how, int) else json(job)

    def list(self, after: str | None) -> httpx2.Response:
        how = self.choice["list"]
        if isinstance(how, int):
            return refused(how)
        if how in ("{}", "page"):
            return httpx2.Response(200, content=b"{}" if how == "{}" else b"<html>")
        others = [{"id": f"other-{k}", "training_file": f"theirs-{k}"} for k in range(self.choice["others"])]
        rows = [dict(job) for job in [*others, *self.jobs]]
        for row in rows:
            for name in ("metadata",) * (how in ("without metadata", "without both")):
                row.pop(name, None)
            for name in ("training_file",) * (how in ("without file", "without both")):
                row.pop(name, None)
            if how == "without ids":
                row["id"] = None
        start = next((k + 1 for k, row in enumerate(rows) if after and row["id"] == after), 0)
        page = rows[start : start + 100]
        more = how == "endless" or start + 100 < len(rows)
        return json(page if how == "a list" else {"data": page, "has_more": more})

    def look(self, id: str) -> httpx2.Response:
        job = next((job for job in self.jobs if job["id"] == id), None)
        if job is None:
            return refused(404)
        self.looks += 1
        how = self.choice["look"] if self.looks <= self.choice["times"] else "sound"
        if isinstance(how, int):
            return refused(how)
        if how in ("{}", "page"):
            return httpx2.Response(200, content=b"{}" if how == "{}" else b"<html>")
        states = self.choice["states"].split()
        states += ["running"] * 200 + ["succeeded"] if states == ["running"] else []
        state = states[min(self.looks, len(states)) - 1]
        done = state == states[-1] and state not in ("running", "strange", "canceled", "failed")
        named = done and {"sound": True, "later": self.looks > len(states) + 3, "never": False}[self.choice["model"]]
        job = {**job, "status": state, "fine_tuned_model": "ft:x" if named else None}
        return json(job | {"id": "ftjob-77"} if how == "of another id" else job)


def json(content: Any) -> httpx2.Response:
    return httpx2.Response(200, json=content)


def refused(status: int) -> httpx2.Response:
    headers = {"Retry-After": "0.01"} if status == 429 else {}
    return httpx2.Response(status, json={"error": {"message": "it is refused"}}, headers=headers)


WORDS = (
    r"same command|is not known|recipe\.job=\d+ makes|check |refuses|ask again later|without an id|cannot use|answers"
)


def story(tuning: hosted.Tuning, choice: dict[str, Any], folder: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Start the command until it has the model or waits for what does not come; return its end in a word."""
    server, waited = DrawnServer(choice), 0.0

    def rest(seconds: float) -> None:
        nonlocal waited
        waited += seconds
        assert waited < 30 * 86400, "a command waits without end"

    monkeypatch.setattr(httpx2, "Client", partial(httpx2.Client, transport=httpx2.MockTransport(server.handle)))
    monkeypatch.setattr(server_module, "rest", rest)
    monkeypatch.setattr(hosted_job, "rest", rest)
    monkeypatch.setattr(hosted_job, "MOST_UNKNOWN", 30)
    submit: bool | str = True
    end = "waits"
    for _ in range(STARTS):
        order = replace(tuning, settings=replace(tuning.settings, out=folder, submit=submit))
        try:
            hosted_job.carry_out(order, [], {})
            end = "complete"
            break
        except Killed:
            continue
        except RunStopped as reason:
            said = str(reason)
            assert re.search(WORDS, said), said
        finally:
            assert len(server.jobs) <= 1, f"{len(server.jobs)} jobs were made"
        if "is not known" in said:
            if not server.jobs:  # the user has looked: another one is made by another recipe.job
                return "asks, and there is none"
            assert f"for one of the file {server.jobs[0]['training_file']} " in said
            submit = server.jobs[0]["id"]
        if "has failed" in said or "was cancelled" in said:
            return "failed"
    return end


def stories(tuning: hosted.Tuning, count: int, seed: int) -> Counter[str]:
    tally: Counter[str] = Counter()
    source = random.Random(seed)
    for number in range(count):
        quiet = source.choice([0.3, 0.7, 0.9])
        choice = {
            name: options[0] if source.random() < quiet else source.choice(options) for name, options in CHOICES.items()
        }
        with pytest.MonkeyPatch.context() as patch:
            try:
                tally[story(tuning, dict(choice), str(number), patch)] += 1
            except BaseException as error:
                odd = {name: value for name, value in choice.items() if value != CHOICES[name][0]}
                raise AssertionError(f"story {number} of seed {seed}: {odd}") from error
    return tally


@pytest.fixture
def tuning(key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hosted.Tuning:
    monkeypatch.chdir(tmp_path)
    own_configs.register()
    small = ("task.num_nodes=[4]", "task.limit=20", "dev_limit=40", "recipe.base_url=http://127.0.0.1:9/v1")
    config = plain(hydra_app.without_hydra(hydra_app.composed("finetune", ["recipe=openai", "submit=true", *small])))
    order = hosted.tuning_of(hosted_job.validated(hosted.FinetuneSettings, config))
    assert order.mark  # computed once, for all stories
    return order


@pytest.mark.slow
def test_one_job_is_made_whatever_a_server_does(tuning):
    tally = stories(tuning, 60, 1)
    assert set(tally) >= {"complete", "waits", "asks, and there is none", "failed"}, tally


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_one_job_is_made_in_thousands_of_stories(tuning, seed):
    stories(tuning, 500, seed)
