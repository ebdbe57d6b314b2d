"""A server of OpenAI's fine-tuning API in a process of its own, after its reference, and as strict.

It refuses what the reference (https://developers.openai.com/api/reference, fine-tuning) forbids: a file is sent as a
form with purpose=fine-tune; a job names a model, a file that is there, known parameters, a suffix of at most 64
characters and at most 16 short pairs of metadata. What is wrong with rows is found later: the job fails.

A job goes on with each look at it. `POST /control` sets faults, each with how often it happens, and the states that a
job goes through; `GET /seen` tells what there is. Both are no part of the API.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

KNOWN = {"model", "training_file", "validation_file", "suffix", "seed", "method", "metadata", "integrations"}
HYPERPARAMETERS = {"n_epochs", "batch_size", "learning_rate_multiplier"}
STATES = ("queued", "running", "succeeded")


def refused(status: int, message: str, code: str | None = None, **headers: str) -> web.Response:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return web.json_response({"error": error}, status=status, headers=headers)


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
class Service:
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

    async def upload(self, request: web.Request) -> web.Response:
        self.calls["upload"] += 1
        if not request.content_type.startswith("multipart/form-data"):
            return refused(415, "files are sent as multipart/form-data")
        form = await request.post()
        part: Any = form.get("file")
        if form.get("purpose") != "fine-tune" or set(form) != {"file", "purpose"}:
            return refused(400, f"Invalid form: {sorted(form)}, purpose {form.get('purpose')}")
        if not part.filename.endswith(".jsonl"):
            return refused(400, "only .jsonl files")
        if self.happens("500 on upload"):
            return refused(500, "The server had an error while processing your request.")
        name = f"file-{len(self.files) + 1:04}"
        self.files[name] = part.file.read()
        return web.json_response(self.file(name, "pending" if self.faults["pending file"] else "processed"))

    def file(self, name: str, status: str) -> dict[str, Any]:
        size = len(self.files[name])
        return {"id": name, "object": "file", "bytes": size, "created_at": int(time.time()), "filename": "train.jsonl",
                "purpose": "fine-tune", "status": status}  # fmt: skip

    async def look_at_file(self, request: web.Request) -> web.Response:
        if (name := request.match_info["id"]) not in self.files:
            return refused(404, f"No such File object: {name}")
        return web.json_response(self.file(name, "pending" if self.happens("pending file") else "processed"))

    async def create(self, request: web.Request) -> web.Response:
        self.calls["create"] += 1
        body = await request.json()
        if why := self.wrong(body):
            return refused(400, why)
        if self.faults["pending file"]:
            return refused(400, "the training file is still being looked through")
        if self.happens("429 on create"):
            return refused(429, "Rate limit reached", "rate_limit_exceeded", **{"Retry-After": "0.05"})
        if self.happens("lost before create"):
            request.transport.abort()  # type: ignore[union-attr]
            return web.Response()
        job = self.new(body)
        if self.happens("lost after create"):
            request.transport.abort()  # type: ignore[union-attr]
        if self.happens("500 after create"):
            return refused(500, "The server had an error while processing your request.")
        return web.json_response(job.json())

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

    async def look(self, request: web.Request) -> web.Response:
        if (job := self.jobs.get(request.match_info["id"])) is None:
            return refused(404, "No fine-tuning job with that id")
        for status in (429, 500):
            if self.happens(f"{status} on look"):
                return refused(status, "try again", **{"Retry-After": "0.02"})
        content = job.json()
        job.looks += 1
        return web.json_response(content)

    async def list(self, request: web.Request) -> web.Response:
        self.calls["list"] += 1
        strange = [
            Job(f"ftjob-x{k:05}", {"model": "gpt-4.1", "training_file": "file-x", "seed": 1, "metadata": None,
                                   "method": {"supervised": {"hyperparameters": {}}}}, ["failed"], int(time.time()))
            for k in range(self.strange)
        ]  # fmt: skip
        jobs = [*strange, *reversed(self.jobs.values())]
        return self.page(request, [job.json() for job in jobs])

    @staticmethod
    def page(request: web.Request, rows: list[dict[str, Any]]) -> web.Response:
        """Return a page of a list, the latest first."""
        if unknown := set(request.query) - {"limit", "after"}:
            return refused(400, f"Unknown parameter: {sorted(unknown)}")
        limit = int(request.query.get("limit", "20"))
        if not 1 <= limit <= 100:
            return refused(400, "'limit' is from 1 to 100")
        if after := request.query.get("after"):
            rows = rows[next(k for k, row in enumerate(rows) if row["id"] == after) + 1 :]
        return web.json_response({"object": "list", "data": rows[:limit], "has_more": len(rows) > limit})

    async def chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        known = {job.json()["fine_tuned_model"] for job in self.jobs.values()}
        if body["model"] not in known:
            return refused(404, f"The model {body['model']} does not exist", "model_not_found")
        message = {"role": "assistant", "content": "Yes"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
        return web.json_response({"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": body["model"],
                                  "choices": [choice], "usage": usage})  # fmt: skip

    async def control(self, request: web.Request) -> web.Response:
        settings = await request.json()
        self.__init__()  # type: ignore[misc]
        for name, value in settings.items():
            setattr(self, name, Counter(value) if name == "faults" else value)
        return web.json_response({})

    async def tell(self, request: web.Request) -> web.Response:
        files = {name: content.decode() for name, content in self.files.items()}
        jobs = [job.json() | {"body": job.body} for job in self.jobs.values()]
        return web.json_response({"files": files, "jobs": jobs, "calls": self.calls})


@web.middleware
async def authorized(request: web.Request, handler: Any) -> web.StreamResponse:
    if "/v1/" in request.path and not re.fullmatch(r"Bearer sk-\S+", request.headers.get("Authorization", "")):
        return refused(401, f"Incorrect API key provided: {request.headers.get('Authorization')}", "invalid_api_key")
    return await handler(request)


async def main() -> None:
    """Serve on a free port, which is printed."""
    service = Service()
    app = web.Application(client_max_size=1 << 30, middlewares=[authorized])
    jobs = "/v1/fine_tuning/jobs"
    app.add_routes([
        web.post("/v1/files", service.upload), web.get("/v1/files/{id}", service.look_at_file),
        web.post(jobs, service.create), web.get(jobs, service.list), web.get(f"{jobs}/{{id}}", service.look),
        web.post("/v1/chat/completions", service.chat),
        web.post("/control", service.control), web.get("/seen", service.tell),
    ])  # fmt: skip
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(site._server.sockets[0].getsockname()[1], flush=True)  # type: ignore[union-attr]
    # Whoever started it holds the other end: it ends with them, however they end.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())
