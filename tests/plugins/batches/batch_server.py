"""A server of OpenAI's Files and Batch API in a process of its own, after its documentation, and as strict.

It refuses what the batch guide and the API reference (https://platform.openai.com/docs/guides/batch) forbid: a file is
sent as a form with purpose=batch; a batch names a known endpoint, a window of 24h and at most 16 short pairs of
metadata; a file has at most 50,000 lines and 200 MB, each with an own custom_id, POST, the batch's own endpoint and a
body without streaming, all of one model. What is wrong with lines is found later: the batch fails as a whole.

Together's and Mistral's forms of the same are spoken at their own paths, as their documentation has them; OpenRouter's
and Anthropic's are in batch_inline_forms.py.

A request counts as billed when it is worked on, which is when its batch has been validated. `POST /control` sets faults
and `GET /seen` tells what has been billed; both are no part of the API.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # as a program of its own, too

from batch_inline_forms import InlineForms
from support.server import Account, Call, Reply, as_program, cut, http

ENDPOINTS = ("/v1/responses", "/v1/chat/completions", "/v1/embeddings", "/v1/completions", "/v1/moderations")
MOST_LINES, MOST_BYTES = 50_000, 200_000_000
KNOWN = {"input_file_id", "endpoint", "completion_window", "metadata", "output_expires_after"}


def reply_to(body: dict[str, Any]) -> dict[str, Any]:
    """Return what the model says: by the words of the request alone, live and in a batch."""
    words = body["messages"][-1]["content"]
    message = {"role": "assistant", "content": "Yes" if len(words) % 3 else "No"}
    usage = {"prompt_tokens": len(words) // 4, "completion_tokens": 1, "total_tokens": len(words) // 4 + 1}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "served-2024",
        "choices": [choice],
        "usage": usage,
    }


def refused(status: int, message: str, code: str | None = None) -> Reply:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return http({"error": error}, status)


@dataclass
class Batch:
    """One batch, and how often it has been looked at: it goes on with each look."""

    id: str
    body: dict[str, Any]
    made: int
    status: str = "validating"
    errors: list[dict[str, Any]] = field(default_factory=list)
    output: str | None = None
    error: str | None = None
    lines: int = 0
    completed: int = 0
    failed: int = 0
    looks: int = 0
    results: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    ends_as: str = "completed"

    def together(self) -> dict[str, Any]:
        """Return the batch as Together describes it."""
        return {"id": self.id, "input_file_id": self.body["input_file_id"], "status": self.status.upper(),
                "endpoint": self.body["endpoint"], "created_at": "2026-01-01T00:00:00Z", "progress": 0,
                "output_file_id": self.output or "", "error_file_id": self.error or ""}  # fmt: skip

    def mistral(self) -> dict[str, Any]:
        """Return the batch as Mistral describes it."""
        names = {"validating": "QUEUED", "in_progress": "RUNNING", "completed": "SUCCESS"}
        names |= {"expired": "TIMEOUT_EXCEEDED", "cancelling": "CANCELLATION_REQUESTED"}
        return {"id": self.id, "object": "batch", "input_files": [self.body["input_file_id"]], "created_at": self.made,
                "status": names.get(self.status, self.status.upper()),
                "output_file": self.output, "error_file": self.error,
                "errors": [{"message": error["message"]} for error in self.errors], "metadata": self.body["metadata"],
                "total_requests": self.lines, "completed_requests": self.completed}  # fmt: skip

    def json(self) -> dict[str, Any]:
        counts = {"total": self.lines, "completed": self.completed, "failed": self.failed}
        return {
            "id": self.id, "object": "batch", "endpoint": self.body["endpoint"], "status": self.status,
            "errors": {"object": "list", "data": self.errors} if self.errors else None,
            "input_file_id": self.body["input_file_id"], "completion_window": "24h", "created_at": self.made,
            "expires_at": self.made + 86400, "output_file_id": self.output, "error_file_id": self.error,
            "request_counts": counts, "metadata": self.body.get("metadata"),
        }  # fmt: skip


@dataclass
class Service(Account):
    """The account: files, batches, what was billed, and the faults that are set."""

    faults: dict[str, float | list[bool]] = field(default_factory=dict)
    random: random.Random = field(default_factory=random.Random)
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, Batch] = field(default_factory=dict)
    billed: Counter[str] = field(default_factory=Counter)
    happened: Counter[str] = field(default_factory=Counter)
    tried: Counter[str] = field(default_factory=Counter)
    live: int = 0
    looks: int = 2
    """Looks at a batch from its making to its end."""
    pause: str | None = "0.01"
    """Seconds to wait that a refused look asks for."""
    tokens: float = float("inf")
    """Requests that may wait in the queue."""

    def happens(self, fault: str) -> bool:
        """Return whether a fault happens now: drawn by its share, or the next of a list."""
        share = self.faults.get(fault, 0.0)
        if isinstance(share, list):
            share = share.pop(0) if share else 0.0
        happens = self.random.random() < share
        self.happened[fault] += happens
        return happens

    # Files

    def upload(self, call: Call) -> Reply:
        if not call.header("content-type").startswith("multipart/form-data"):
            return refused(415, "files are sent as multipart/form-data")
        parts = call.form()
        together = call.path == "/together/v1/files/upload"
        if parts.get("purpose") != ("batch-api" if together else "batch"):
            return refused(400, "'purpose' must be one of 'batch', …", "invalid_value")
        if not isinstance(parts.get("file"), tuple):
            return refused(400, "'file' is a required property")
        name, content = parts["file"]
        if not name.endswith(".jsonl"):
            return refused(400, "Invalid file format for Batch API. Must be .jsonl")
        if len(content) > MOST_BYTES:
            return refused(413, "file is too large: 200 MB at most")
        file = self.keep("file", content)
        if self.happens("502 after an upload"):
            return refused(502, "bad gateway")
        return http(
            {"id": file, "object": "file", "bytes": len(content), "created_at": int(time.time()), "filename": name,
             "purpose": "batch", "status": "processed"}
        )  # fmt: skip

    def keep(self, kind: str, content: bytes) -> str:
        name = f"{kind}-{len(self.files) + 1:06}{self.random.randrange(16**6):06x}"
        self.files[name] = content
        return name

    def content(self, call: Call) -> Reply:
        name = call.named["id"]
        if name not in self.files:
            return refused(404, f"No such File object: {name}")
        if self.happens("502 on files"):
            return http("<html>Bad Gateway</html>", 502, Content_Type="text/html")
        if self.happens("404 on fresh files") and not self.tried[name]:
            self.tried[name] += 1
            return refused(404, f"No such File object: {name}")
        if self.happens("cut files"):
            return cut(self.files[name])
        return http(self.files[name], Content_Type="application/octet-stream")

    # Batches

    def create(self, call: Call) -> Reply:
        try:
            body = call.json()
        except ValueError:
            return refused(400, "We could not parse the JSON body of your request.")
        mistral = call.path == "/v1/batch/jobs"
        if mistral and isinstance(body, dict):
            hours = body.pop("timeout_hours", 24)
            if not isinstance(hours, int) or not 1 <= hours <= 168 or not body.get("model"):
                return refused(422, "timeout_hours is from 1 to 168, and a job has a model")
            model, (file,) = body.pop("model"), body.pop("input_files")
            body |= {"input_file_id": file, "completion_window": "24h"}
            lines = self.files.get(file, b"").splitlines()
            whole = [{**json.loads(line), "method": "POST", "url": body["endpoint"]} for line in lines]
            assert not any("model" in line["body"] for line in whole), "the model is the job's"
            whole = [line | {"body": line["body"] | {"model": model}} for line in whole]
            self.files[file] = "\n".join(map(json.dumps, whole)).encode()
        if (why := self.wrong(body)) is not None:
            return refused(400, why, "invalid_request_error")
        if body["input_file_id"] not in self.files or (
            self.happens("404 on fresh files") and not self.tried[body["input_file_id"]]
        ):
            self.tried[body["input_file_id"]] += 1
            return refused(404, f"No such File object: {body['input_file_id']}")
        if self.happens("lost before a batch"):
            return None
        if self.happens("429 before a batch"):
            return http({"error": {"message": "slow"}}, 429, {"Retry-After": "0.05"})
        batch = self.new(body)
        if self.happens("lost reply to create"):
            call.abort()
        if self.happens("500 after a batch"):
            return refused(500, "The server had an error while processing your request.")
        if call.path.startswith("/together"):
            return http({"job": batch.together(), "warning": ""}, 201)
        return http(batch.mistral() if mistral else batch.json())

    def new(self, body: dict[str, Any]) -> Batch:
        """Make a batch."""
        batch = Batch(f"batch_{len(self.batches) + 1:04}{self.random.randrange(16**6):06x}", body, int(time.time()))
        self.batches[batch.id] = batch
        self.validate(batch)
        return batch

    def wrong(self, body: Any) -> str | None:
        """Return what is wrong with the order of a batch."""
        if not isinstance(body, dict) or (unknown := set(body) - KNOWN):
            return f"Unknown parameter: {sorted(unknown) if isinstance(body, dict) else body}"
        if body.get("endpoint") not in ENDPOINTS:
            return f"Invalid value: '{body.get('endpoint')}'. Supported values are: {ENDPOINTS}"
        if body.get("completion_window") != "24h":
            return "Invalid value for 'completion_window': only '24h' is supported"
        if not isinstance(body.get("input_file_id"), str):
            return "Missing required parameter: 'input_file_id'"
        metadata = body.get("metadata") or {}
        if not isinstance(metadata, dict) or len(metadata) > 16:
            return "Invalid 'metadata': at most 16 pairs"
        for name, value in metadata.items():
            if len(name) > 64 or not isinstance(value, str) or len(value) > 512:
                return f"Invalid 'metadata.{name}'"
        return None

    def validate(self, batch: Batch) -> None:
        """Look through the lines, and work on them if all are right: this is what is billed."""
        lines = self.files[batch.body["input_file_id"]].splitlines()
        batch.lines = len(lines)
        batch.errors = list(self.wrong_lines(lines, batch.body["endpoint"]))[:10]
        waiting = sum(other.lines for other in self.batches.values() if other is not batch and self.open(other))
        queued = batch.body.get("form") != "anthropic"  # whose batches do not fail as a whole
        if queued and not batch.errors and waiting + len(lines) > self.tokens:
            words = (
                "Enqueued token limit reached for gpt-4. Please try again once some in_progress batches have finished."
            )
            batch.errors = [{"code": "token_limit_exceeded", "line": None, "message": words, "param": None}]
            self.happened["token_limit_exceeded"] += 1
        if batch.errors:
            batch.ends_as = "failed"
            return
        expires = self.happens("expired batches")
        batch.ends_as = "expired" if expires else "completed"
        for k, text in enumerate(lines):
            if not (expires and k >= len(lines) // 2):
                self.work(batch, json.loads(text))
            else:
                self.problem(batch, json.loads(text)["custom_id"], None, "batch_expired")

    def wrong_lines(self, lines: list[bytes], endpoint: str) -> Any:
        if not lines or len(lines) > MOST_LINES:
            yield {"code": "invalid_file", "line": None, "message": f"{len(lines)} lines", "param": None}
            return
        names: set[str] = set()
        models: set[str] = set()
        for number, text in enumerate(lines, start=1):
            why = ""
            try:
                line = json.loads(text)
                body, name = line["body"], line["custom_id"]
                why = "duplicate_custom_id" if name in names else why
                why = "invalid_custom_id" if not isinstance(name, str) or not 0 < len(name) <= 64 else why
                why = "invalid_method" if line["method"] != "POST" else why
                why = "mismatched_url" if line["url"] != endpoint else why
                why = "invalid_body" if not isinstance(body, dict) or body.get("stream") else why
                why = "unknown_field" if set(line) != {"custom_id", "method", "url", "body"} else why
                names.add(name)
                models.add(body["model"])
                why = "mixed_models" if len(models) > 1 else why
                assert body["messages"], "no messages"
            except (ValueError, KeyError, TypeError, AssertionError) as error:
                why = f"invalid_json_line ({error!r})"
            if why:
                yield {"code": why, "line": number, "message": f"line {number}: {why}", "param": None}

    @staticmethod
    def open(batch: Batch) -> bool:
        return batch.status in ("validating", "in_progress", "finalizing", "cancelling") and batch.ends_as != "failed"

    def work(self, batch: Batch, line: dict[str, Any]) -> None:
        """Answer one request, or come to grief over it."""
        name = line["custom_id"]
        if self.happens("missing lines"):
            return
        if self.happens("status 0"):
            self.problem(batch, name, 0, "")
            return
        if self.happens("lines that failed"):
            self.problem(batch, name, 500, "server_error")
            return
        self.billed[name] += 1
        batch.completed += 1
        response = {"status_code": 200, "request_id": f"req_{len(batch.results)}", "body": reply_to(line["body"])}
        answer = {"id": f"batch_req_{len(batch.results)}", "custom_id": name, "response": response, "error": None}
        batch.results.append(json.dumps(answer))
        if self.happens("duplicate lines"):
            batch.results.append(json.dumps(answer))

    def problem(self, batch: Batch, name: str, status: int | None, code: str) -> None:
        batch.failed += 1
        line: dict[str, Any] = {
            "id": f"batch_req_e{len(batch.problems)}",
            "custom_id": name,
            "response": None,
            "error": None,
        }
        if status is None:
            line["error"] = {
                "code": code,
                "message": "This request could not be executed before the completion window expired.",
            }
        else:
            body = {"error": {"message": "it went wrong", "type": code, "code": code}} if status else None
            line["response"] = {"status_code": status, "request_id": "", "body": body}
        batch.problems.append(json.dumps(line))

    def advance(self, batch: Batch) -> None:
        """Let time pass for a batch."""
        batch.looks += 1
        if not self.open(batch) and batch.status != "validating":
            return
        if batch.ends_as == "failed":
            batch.status = "failed"
        elif batch.looks < self.looks:
            batch.status = "in_progress" if batch.status == "validating" else batch.status
        elif batch.output is None and batch.error is None:
            batch.status = "cancelled" if batch.status == "cancelling" else batch.ends_as
            self.random.shuffle(batch.results)
            if batch.results:
                batch.output = self.keep("file-out", "".join(f"{line}\n" for line in batch.results).encode())
            if batch.problems:
                batch.error = self.keep("file-err", "".join(f"{line}\n" for line in batch.problems).encode())
            batch.results, batch.problems = [], []

    def look(self, call: Call) -> Reply:
        if (batch := self.batches.get(call.named["id"])) is None:
            return refused(404, "No batch found with that id")
        if self.happens("503 on a look"):
            return refused(503, "overloaded")
        if self.happens("429 on a look"):
            return http({"error": {"message": "slow"}}, 429, {"Retry-After": self.pause} if self.pause else {})
        self.advance(batch)
        if call.path.startswith("/together"):
            return http(batch.together())
        return http(batch.mistral() if call.path.startswith("/v1/batch/jobs") else batch.json())

    def cancel(self, call: Call) -> Reply:
        if (batch := self.batches.get(call.named["id"])) is None:
            return refused(404, "No batch found with that id")
        if not self.open(batch):
            return refused(409, f"Cannot cancel a batch with status '{batch.status}'.")
        batch.status = "cancelling"
        return http(batch.json())

    def list(self, call: Call) -> Reply:
        if unknown := set(call.query) - {"limit", "after"}:
            return refused(400, f"Unknown parameter: {sorted(unknown)}")
        limit = call.query.get("limit", "20")
        if not re.fullmatch("[0-9]+", limit) or not 1 <= int(limit) <= 100:
            return refused(400, "'limit' is from 1 to 100")
        rows = sorted(self.batches.values(), key=lambda batch: batch.id, reverse=True)
        if after := call.query.get("after"):
            places = [k for k, batch in enumerate(rows) if batch.id == after]
            if not places:
                return refused(404, f"No batch found with id '{after}'.")
            rows = rows[places[0] + 1 :]
        page = [batch.json() for batch in rows[: int(limit)]]
        return http({"object": "list", "data": page, "has_more": len(rows) > len(page)})

    def together(self, call: Call) -> Reply:
        """List batches as Together does: all of them, without metadata."""
        return http([batch.together() for batch in self.batches.values()])

    def jobs(self, call: Call) -> Reply:
        """List batches as Mistral does, page by page."""
        page, size = int(call.query.get("page", 0)), int(call.query.get("page_size", 100))
        rows = sorted(self.batches.values(), key=lambda batch: batch.id, reverse=True)
        data = [batch.mistral() for batch in rows[page * size : (page + 1) * size]]
        return http({"object": "list", "data": data, "total": len(rows)})

    def chat(self, call: Call) -> Reply:
        self.live += 1
        return http(reply_to(call.json()))

    def control(self, settings: dict[str, Any]) -> None:
        if settings.get("fresh"):
            self.__init__()  # type: ignore[misc]
        self.faults = settings.get("faults", self.faults)
        self.pause = settings.get("pause", self.pause)
        self.random.seed(settings.get("seed"))
        self.looks = settings.get("looks", self.looks)
        self.tokens = settings.get("tokens", self.tokens)

    def seen(self) -> dict[str, Any]:
        again = {name: count for name, count in self.billed.items() if count > 1}
        batches = [batch.json() for batch in self.batches.values()]
        return {"billed": len(self.billed), "again": again, "batches": batches, "files": len(self.files),
                "faults": self.happened, "live": self.live}  # fmt: skip

    def unknown(self, call: Call) -> Reply:
        known = re.fullmatch(r"Bearer sk-\S+", call.header("authorization")) is not None
        if call.path.startswith("/anthropic"):
            known = not known and call.header("x-api-key").startswith("sk-") and "anthropic-version" in call.headers
        if "/v1/" in call.path and not known:
            return refused(401, "You didn't provide an API key.", "invalid_api_key")
        return None

    def routes(self) -> list[tuple[str, str, Account.Handler]]:
        return [
            ("POST", "/v1/files", self.upload), ("GET", "/v1/files/{id}/content", self.content),
            ("POST", "/v1/batches", self.create), ("GET", "/v1/batches", self.list),
            ("GET", "/v1/batches/{id}", self.look), ("POST", "/v1/batches/{id}/cancel", self.cancel),
            ("POST", "/together/v1/files/upload", self.upload), ("POST", "/together/v1/batches", self.create),
            ("GET", "/together/v1/batches", self.together), ("GET", "/together/v1/batches/{id}", self.look),
            ("GET", "/together/v1/files/{id}/content", self.content), ("GET", "/v1/batch/jobs", self.jobs),
            ("POST", "/v1/batch/jobs", self.create), ("GET", "/v1/batch/jobs/{id}", self.look),
            ("POST", "/v1/batch/jobs/{id}/cancel", self.cancel), ("POST", "/v1/chat/completions", self.chat),
            *InlineForms(self).routes(),
        ]  # fmt: skip


if __name__ == "__main__":
    as_program(Service())
