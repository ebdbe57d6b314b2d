"""A server of OpenAI's fine-tuning API in a process of its own, after its reference, and as strict.

It refuses what the reference (https://developers.openai.com/api/reference, fine-tuning) forbids: a file is sent as a
form with purpose=fine-tune; a job names a model, a file that is there, known parameters, a suffix of at most 64
characters and at most 16 short pairs of metadata. What is wrong with rows is found later: the job fails.

A job goes on with each look at it. `POST /control` sets faults, each with how often it happens, and the states that a
job goes through; `GET /seen` tells what there is. Both are no part of the API.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # as a program of its own, too

from support.server import Account, Call, Reply, as_program, http

KNOWN = {"model", "training_file", "validation_file", "suffix", "seed", "method", "metadata", "integrations"}
HYPERPARAMETERS = {"n_epochs", "batch_size", "learning_rate_multiplier"}
STATES = ("queued", "running", "succeeded")


def refused(status: int, message: str, code: str | None = None, **headers: str) -> bytes:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return http({"error": error}, status, headers)


@dataclass
class Job:
    """One job, and how often it has been looked at."""

    id: str
    body: dict[str, Any]
    states: list[str]
    made: int
    error: dict[str, Any] | None = None
    looks: int = 0

    @property
    def status(self) -> str:
        return self.states[min(self.looks, len(self.states) - 1)]

    def json(self) -> dict[str, Any]:
        done = self.status == "succeeded"
        chosen = self.body["method"]["supervised"]["hyperparameters"]
        used = {name: 2 if value == "auto" else value for name, value in chosen.items()}
        model = f"ft:{self.body['model']}:org:{self.body.get('suffix') or ''}:{self.id[-6:]}"
        return {
            "id": self.id, "object": "fine_tuning.job", "created_at": self.made, "model": self.body["model"],
            "error": self.error if self.status == "failed" else None, "status": self.status,
            "fine_tuned_model": model if done else None, "finished_at": self.made + 60 if done else None,
            "estimated_finish": self.made + 600 if self.status == "running" else None,
            "hyperparameters": used, "method": {"type": "supervised", "supervised": {"hyperparameters": used}},
            "organization_id": "org-1", "result_files": [], "seed": self.body["seed"], "integrations": [],
            "trained_tokens": 12_345 if done else None, "training_file": self.body["training_file"],
            "validation_file": self.body.get("validation_file"), "metadata": self.body.get("metadata"),
        }  # fmt: skip


@dataclass
class Service(Account):
    """The account: files, jobs, and the faults that are set."""

    faults: Counter[str] = field(default_factory=Counter)
    states: list[str] = field(default_factory=lambda: list(STATES))
    error: dict[str, Any] | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    strange: int = 0
    """Jobs of others that the account lists before and after ours."""

    def happens(self, fault: str) -> bool:
        """Take one of a fault, if there are any left."""
        happens = self.faults[fault] > 0
        self.faults[fault] -= happens
        return happens

    def upload(self, call: Call) -> Reply:
        self.calls["upload"] += 1
        if not call.header("content-type").startswith("multipart/form-data"):
            return refused(415, "files are sent as multipart/form-data")
        form = call.form()
        if form.get("purpose") != "fine-tune" or set(form) != {"file", "purpose"}:
            return refused(400, f"Invalid form: {sorted(form)}, purpose {form.get('purpose')}")
        filename, content = form["file"]
        if not filename.endswith(".jsonl"):
            return refused(400, "only .jsonl files")
        if self.happens("500 on upload"):
            return refused(500, "The server had an error while processing your request.")
        name = f"file-{len(self.files) + 1:04}"
        self.files[name] = content
        return http(self.file(name, "pending" if self.faults["pending file"] else "processed"))

    def file(self, name: str, status: str) -> dict[str, Any]:
        size = len(self.files[name])
        return {"id": name, "object": "file", "bytes": size, "created_at": int(time.time()), "filename": "train.jsonl",
                "purpose": "fine-tune", "status": status}  # fmt: skip

    def look_at_file(self, call: Call) -> Reply:
        if (name := call.named["id"]) not in self.files:
            return refused(404, f"No such File object: {name}")
        return http(self.file(name, "pending" if self.happens("pending file") else "processed"))

    def create(self, call: Call) -> Reply:
        self.calls["create"] += 1
        body = call.json()
        if why := self.wrong(body):
            return refused(400, why)
        if self.faults["pending file"]:
            return refused(400, "the training file is still being looked through")
        if self.happens("429 on create"):
            return refused(429, "Rate limit reached", "rate_limit_exceeded", **{"Retry-After": "0.05"})
        if self.happens("lost before create"):
            return None
        job = self.new(body)
        if self.happens("lost after create"):
            call.abort()
        if self.happens("500 after create"):
            return refused(500, "The server had an error while processing your request.")
        return http(job.json())

    def new(self, body: dict[str, Any]) -> Job:
        job = Job(f"ftjob-{len(self.jobs) + 1:06}", body, list(self.states), int(time.time()), self.error)
        self.jobs[job.id] = job
        if why := self.wrong_rows(self.files[body["training_file"]]):
            job.states, job.error = ["validating_files", "failed"], {"code": "invalid_training_file", "message": why}
        return job

    def wrong(self, body: dict[str, Any]) -> str | None:
        """Return what is wrong with the order of a job."""
        if unknown := set(body) - KNOWN:
            return f"Unknown parameter: {sorted(unknown)}"
        for name in ("training_file", *(["validation_file"] if "validation_file" in body else [])):
            if body.get(name) not in self.files:
                return f"No such File object: {body.get(name)}"
        if len(body.get("suffix") or "") > 64 or not isinstance(body["seed"], int):
            return "Invalid suffix or seed"
        chosen = body["method"]["supervised"]["hyperparameters"]
        if body["method"]["type"] != "supervised" or set(chosen) - HYPERPARAMETERS:
            return f"Invalid method: {body['method']}"
        metadata = body.get("metadata") or {}
        if len(metadata) > 16 or any(
            len(k) > 64 or not isinstance(v, str) or len(v) > 512 for k, v in metadata.items()
        ):
            return "Invalid metadata"
        if not str(body["model"]).startswith("gpt-4.1"):
            return f"Model {body['model']} is not available for fine-tuning or does not exist."
        return None

    def wrong_rows(self, content: bytes) -> str:
        rows = [json.loads(line) for line in content.splitlines()]
        if len(rows) < 10:
            return f"Training file has {len(rows)} example(s), but must have at least 10 examples"
        for number, row in enumerate(rows, start=1):
            turns = row.get("messages")
            if set(row) != {"messages"} or turns[-1]["role"] != "assistant" or turns[-1].get("weight") == 0:
                return f"row {number} is no conversation that ends with the assistant"
            if any(turn["role"] not in ("system", "user", "assistant") or not turn["content"] for turn in turns):
                return f"row {number} has a turn of nobody, or without words"
        return ""

    def look(self, call: Call) -> Reply:
        if (job := self.jobs.get(call.named["id"])) is None:
            return refused(404, "No fine-tuning job with that id")
        for status in (429, 500):
            if self.happens(f"{status} on look"):
                return refused(status, "try again", **{"Retry-After": "0.02"})
        content = job.json()
        job.looks += 1
        return http(content)

    def list(self, call: Call) -> Reply:
        self.calls["list"] += 1
        strange = [
            Job(f"ftjob-x{k:05}", {"model": "gpt-4.1", "training_file": "file-x", "seed": 1, "metadata": None,
                                   "method": {"supervised": {"hyperparameters": {}}}}, ["failed"], int(time.time()))
            for k in range(self.strange)
        ]  # fmt: skip
        jobs = [*strange, *reversed(self.jobs.values())]
        return self.page(call, [job.json() for job in jobs])

    @staticmethod
    def page(call: Call, rows: list[dict[str, Any]]) -> Reply:
        """Return a page of a list, the latest first."""
        if unknown := set(call.query) - {"limit", "after"}:
            return refused(400, f"Unknown parameter: {sorted(unknown)}")
        limit = int(call.query.get("limit", "20"))
        if not 1 <= limit <= 100:
            return refused(400, "'limit' is from 1 to 100")
        if after := call.query.get("after"):
            rows = rows[next(k for k, row in enumerate(rows) if row["id"] == after) + 1 :]
        return http({"object": "list", "data": rows[:limit], "has_more": len(rows) > limit})

    def chat(self, call: Call) -> Reply:
        body = call.json()
        known = {job.json()["fine_tuned_model"] for job in self.jobs.values()}
        if body["model"] not in known:
            return refused(404, f"The model {body['model']} does not exist", "model_not_found")
        message = {"role": "assistant", "content": "Yes"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
        return http({"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": body["model"],
                                  "choices": [choice], "usage": usage})  # fmt: skip

    def control(self, settings: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]
        for name, value in settings.items():
            setattr(self, name, Counter(value) if name == "faults" else value)

    def seen(self) -> dict[str, Any]:
        files = {name: content.decode() for name, content in self.files.items()}
        jobs = [job.json() | {"body": job.body} for job in self.jobs.values()]
        return {"files": files, "jobs": jobs, "calls": self.calls}

    def unknown(self, call: Call) -> Reply:
        given = call.header("authorization")
        if "/v1/" in call.path and not re.fullmatch(r"Bearer sk-\S+", given):
            return refused(401, f"Incorrect API key provided: {given}", "invalid_api_key")
        return None

    def routes(self) -> list[tuple[str, str, Account.Handler]]:
        jobs = "/v1/fine_tuning/jobs"
        return [
            ("POST", "/v1/files", self.upload), ("GET", "/v1/files/{id}", self.look_at_file),
            ("POST", jobs, self.create), ("GET", jobs, self.list), ("GET", f"{jobs}/{{id}}", self.look),
            ("POST", "/v1/chat/completions", self.chat),
        ]  # fmt: skip


if __name__ == "__main__":
    as_program(Service())
