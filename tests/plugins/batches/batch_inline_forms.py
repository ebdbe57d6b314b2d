"""The batch server's other two forms: OpenRouter's batches and Anthropic's Message Batches, after their documentation.

https://openrouter.ai/docs/batch-quickstart: `endpoint` and `model` stand before `requests`, which come last; a model in
a body is the batch's; only provider.only and provider.allow_fallbacks; at most 5,000 requests; 202; the list has no
results, the description of a batch that has ended has all; no cancelling; no metadata.
https://platform.claude.com/docs/en/api/messages/batches: x-api-key and anthropic-version, no bearer; parameters of the
Messages form and no others; states in_progress, canceling, ended; a result for each request; no metadata either.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from support.server import Account, Call, Reply, cut, http

TOP = ("endpoint", "model", "provider", "completion_window", "callback_url")
PARAMETERS = {"model", "messages", "max_tokens", "system", "temperature", "top_p", "top_k", "stop_sequences",
              "thinking", "metadata", "service_tier", "output_config"}  # fmt: skip


def refused(status: int, message: str, kind: str = "invalid_request_error") -> Reply:
    return http({"type": "error", "error": {"type": kind, "message": message}}, status=status)


def as_line(custom_id: str, body: dict[str, Any], endpoint: str) -> bytes:
    return json.dumps({"custom_id": custom_id, "method": "POST", "url": endpoint, "body": body}).encode()


class InlineForms:
    """The two forms, on the account of a Service: its faults, its bills."""

    def __init__(self, service: Any) -> None:
        self.service = service

    def routes(self) -> list[tuple[str, str, Account.Handler]]:
        router, claude = "/openrouter/v1/batches", "/anthropic/v1/messages/batches"
        return [
            ("POST", router, self.submit), ("GET", router, self.listed), ("GET", f"{router}/{{id}}", self.described),
            ("POST", claude, self.send), ("GET", claude, self.messages),
            ("GET", f"{claude}/{{id}}", self.message_batch),
            ("POST", f"{claude}/{{id}}/cancel", self.cancel), ("GET", f"{claude}/{{id}}/results", self.results),
        ]  # fmt: skip

    def made(self, call: Call, form: str, lines: list[bytes], order: dict[str, Any]) -> Any:
        """Make a batch of lines, as the other forms do, with what goes wrong at that moment."""
        service = self.service
        if service.happens("429 before a batch"):
            return http({"error": {"message": "slow"}}, 429, {"Retry-After": "0.05"})
        if service.happens("lost before a batch"):
            return None
        file = service.keep("inline", b"\n".join(lines))
        batch = service.new({"input_file_id": file, "endpoint": "/v1/chat/completions", "form": form} | order)
        if service.happens("lost reply to create"):
            call.abort()
        if service.happens("500 after a batch"):
            return refused(500, "Internal server error", "api_error")
        return batch

    @staticmethod
    def ended(batch: Any) -> bool:
        return batch.status in ("completed", "failed", "expired", "cancelled")

    def named(self, call: Call, form: str) -> Any:
        batch = self.service.batches.get(call.named["id"])
        return batch if batch is not None and batch.body.get("form") == form else None

    # OpenRouter

    def submit(self, call: Call) -> Reply:
        pairs = json.loads(call.body, object_pairs_hook=list)
        names = [name for name, _ in pairs]
        body = json.loads(call.body)
        if names[-1:] != ["requests"] or {"endpoint", "model"} - set(names[:-1]):
            return refused(400, "endpoint and model must appear before requests")
        if set(names[:-1]) - set(TOP) or body.get("completion_window", "24h") != "24h":
            return refused(400, f"unrecognized fields: {names}")
        if body["endpoint"] != "/v1/chat/completions":
            return refused(400, "unsupported endpoint")
        if set(body.get("provider") or {}) - {"only", "allow_fallbacks"}:
            return refused(400, "only provider.only and provider.allow_fallbacks are supported")
        if not 0 < len(body["requests"]) <= 5_000:
            return refused(413, "at most 5,000 requests")
        lines = []
        for row in body["requests"]:
            if set(row) != {"custom_id", "body"} or row["body"].get("model", body["model"]) != body["model"]:
                return refused(400, "each request has a custom_id and a body of the batch's model")
            if "provider" in row["body"] or not all(isinstance(m["content"], str) for m in row["body"]["messages"]):
                return refused(422, "text only, and the provider is the batch's")
            lines.append(as_line(row["custom_id"], row["body"] | {"model": body["model"]}, body["endpoint"]))
        batch = self.made(call, "openrouter", lines, {"model": body["model"], "order": names})
        return batch if batch is None or isinstance(batch, bytes) else http(self.object(batch), 202)

    def object(self, batch: Any, *, whole: bool = False) -> dict[str, Any]:
        """Return a batch as OpenRouter describes it."""
        ended = self.ended(batch)
        files = (self.service.files.get(name, b"") for name in (batch.output, batch.error) if name)
        rows = [json.loads(line) for file in files for line in file.splitlines()]
        counts = {"total": batch.lines, "completed": batch.completed, "failed": batch.failed}
        error = {"message": "; ".join(error["message"] for error in batch.errors)} if batch.errors else None
        return {"id": batch.id, "object": "batch", "endpoint": batch.body["endpoint"], "model": batch.body["model"],
                "completion_window": "24h", "status": batch.status, "created_at": batch.made, "finalized_at": None,
                "request_counts": counts, "usage": None, "error": error if batch.status == "failed" else None,
                "results": rows if whole and ended else None}  # fmt: skip

    def listed(self, call: Call) -> Reply:
        rows, more = self.page(call, "openrouter", "after", 100)
        data = [self.object(batch) for batch in rows]
        last = data[-1]["id"] if data else None
        return http({"object": "list", "data": data, "has_more": more, "first_id": None, "last_id": last})

    def page(self, call: Call, form: str, cursor: str, most: int) -> tuple[list[Any], bool]:
        assert set(call.query) <= {"limit", cursor}, call.query
        limit, after = int(call.query.get("limit", 20)), call.query.get(cursor)
        assert 1 <= limit <= most
        rows = [batch for batch in self.service.batches.values() if batch.body.get("form") == form]
        rows.sort(key=lambda batch: batch.id, reverse=True)
        if after:
            rows = rows[[batch.id for batch in rows].index(after) + 1 :]
        return rows[:limit], len(rows) > limit

    def described(self, call: Call) -> Reply:
        if (batch := self.named(call, "openrouter")) is None:
            return refused(404, "batch not found")
        if self.service.happens("503 on a look"):
            return refused(503, "overloaded")
        if batch.output or batch.error:
            if self.service.happens("502 on files"):
                return http("<html>Bad Gateway</html>", 502, Content_Type="text/html")
            if self.service.happens("cut files"):
                return cut(json.dumps(self.object(batch, whole=True)).encode())
        self.service.advance(batch)
        return http(self.object(batch, whole=True))

    # Anthropic

    def send(self, call: Call) -> Reply:
        body = call.json()
        if set(body) != {"requests"} or not 1 <= len(body["requests"]) <= 100_000:
            return refused(400, "requests: List should have at least 1 item")
        lines = []
        for row in body["requests"]:
            params = row["params"]
            turns = params.get("messages")
            if set(row) != {"custom_id", "params"} or not 1 <= len(row["custom_id"]) <= 64:
                return refused(400, "requests.0.custom_id: String should match pattern")
            if unknown := set(params) - PARAMETERS:
                return refused(400, f"requests.0.params.{sorted(unknown)}: Extra inputs are not permitted")
            if not isinstance(params.get("max_tokens"), int) or params["max_tokens"] < 1 or not turns:
                return refused(400, "requests.0.params.max_tokens: Input should be greater than or equal to 1")
            if any(turn["role"] not in ("user", "assistant") for turn in turns):
                return refused(400, 'requests.0.params.messages: use the top-level "system" parameter')
            if not 0 <= params.get("temperature", 1) <= 1 or not all(map(str.strip, params.get("stop_sequences", ()))):
                return refused(400, "requests.0.params: temperature from 0 to 1, stop_sequences without blanks")
            lines.append(as_line(row["custom_id"], params, "/v1/chat/completions"))
        batch = self.made(call, "anthropic", lines, {})
        return batch if batch is None or isinstance(batch, bytes) else http(self.message_object(batch))

    def message_object(self, batch: Any) -> dict[str, Any]:
        """Return a batch as Anthropic describes it."""
        ended = self.ended(batch)
        counts = {"processing": 0, "succeeded": batch.completed, "errored": batch.failed, "canceled": 0, "expired": 0}
        counts["errored"] = batch.lines - batch.completed
        counts = counts if ended else dict.fromkeys(counts, 0) | {"processing": batch.lines}
        state = "ended" if ended else "canceling" if batch.status == "cancelling" else "in_progress"
        moment = datetime.fromtimestamp(batch.made, UTC).isoformat().replace("+00:00", "Z")
        url = f"https://elsewhere.example.com/v1/messages/batches/{batch.id}/results"
        return {"id": batch.id, "type": "message_batch", "processing_status": state, "request_counts": counts,
                "created_at": moment, "ended_at": None, "expires_at": moment, "archived_at": None,
                "cancel_initiated_at": None, "results_url": url if ended else None}  # fmt: skip

    def messages(self, call: Call) -> Reply:
        rows, more = self.page(call, "anthropic", "after_id", 1000)
        data = [self.message_object(batch) for batch in rows]
        last = data[-1]["id"] if data else None
        return http({"data": data, "has_more": more, "first_id": None, "last_id": last})

    def message_batch(self, call: Call) -> Reply:
        if (batch := self.named(call, "anthropic")) is None:
            return refused(404, "batch not found", "not_found_error")
        if self.service.happens("503 on a look"):
            return refused(529, "Overloaded", "overloaded_error")
        self.service.advance(batch)
        return http(self.message_object(batch))

    def cancel(self, call: Call) -> Reply:
        if (batch := self.named(call, "anthropic")) is None:
            return refused(404, "batch not found", "not_found_error")
        batch.status = "cancelling"
        return http(self.message_object(batch))

    def results(self, call: Call) -> Reply:
        if (batch := self.named(call, "anthropic")) is None or not self.ended(batch):
            return refused(404, "no results", "not_found_error")
        if self.service.happens("502 on files"):
            return http("<html>Bad Gateway</html>", 502, Content_Type="text/html")
        files = (self.service.files[name] for name in (batch.output, batch.error) if name)
        rows = [as_result(json.loads(line)) for file in files for line in file.splitlines()]
        content = "".join(json.dumps(row) + "\n" for row in rows).encode()
        if self.service.happens("cut files"):
            return cut(content)
        return http(content, Content_Type="application/x-jsonl")


def as_result(row: dict[str, Any]) -> dict[str, Any]:
    """Return a line of OpenAI's output as one of Anthropic's results."""
    response, error = row["response"], row["error"]
    if response is None:
        kind = "expired" if error["code"] == "batch_expired" else "canceled"
        return {"custom_id": row["custom_id"], "result": {"type": kind}}
    if response["status_code"] != 200:
        inner = {"type": "api_error", "message": "Internal server error"}
        error = {"type": "error", "error": inner, "request_id": "req"}
        return {"custom_id": row["custom_id"], "result": {"type": "errored", "error": error}}
    body = response["body"]
    text, usage = body["choices"][0]["message"]["content"], body["usage"]
    blocks = [
        {"type": "redacted_thinking", "data": "…"},
        {"type": "text", "text": text[:1]},
        {"type": "text", "text": text[1:]},
    ]
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": blocks,
               "stop_reason": "end_turn", "stop_sequence": None,
               "usage": {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"],
                         "cache_read_input_tokens": None, "cache_creation_input_tokens": None}}  # fmt: skip
    return {"custom_id": row["custom_id"], "result": {"type": "succeeded", "message": message}}
