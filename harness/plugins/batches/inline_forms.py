"""Servers that take the requests of a batch in the call that makes it: OpenRouter's form, and Anthropic's.

Their batches carry no metadata: only the results, by the names of the requests, show whose a batch is. So if the reply
to a creation was lost and a batch of the same size is under way, the user is asked.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import IO, Any
from urllib.parse import quote, urlsplit

from harness.errors import RunStopped
from harness.models.api.dialects import OPENAI, anthropic
from harness.models.api.endpoint import Endpoint
from harness.models.api.openai import Chat
from harness.models.api.replies import LostError
from harness.models.api.server import EndpointServer, object_of
from harness.plugins.batches.forms import UNDER_WAY, Files, Mistral, Remote, Sought, Together, id_of
from harness.plugins.batches.lines import NestedResults, names_of
from harness.types import JSON

_IGNORED = frozenset((
    "n", "seed", "logprobs", "top_logprobs", "metadata", "response_format", "prediction", "presence_penalty",
    "frequency_penalty", "service_tier", "audio", "logit_bias", "store", "user", "modalities", "reasoning_effort",
    "stream",
))  # fmt: skip
"""Parameters that Anthropic's compatible endpoint ignores; the Messages form refuses most of them.
source: https://platform.claude.com/docs/en/cli-sdks-libraries/libraries/openai-sdk (2026-11-22)"""


class Inline(Files):
    """The part that both have in common."""

    uploads = False

    def check(self, endpoint: Endpoint) -> None:
        """Refuse a model that this form cannot ask. Raises RunStopped."""
        if not isinstance(endpoint, Chat):
            raise RunStopped(
                f"{endpoint.base_url} takes batches of chat completions only: use the chat form of the model, or ask "
                "without model.batch."
            )

    def order(self, endpoint: Endpoint, file: str, mark: str, path: str) -> dict[str, JSON]:
        return {}

    def create(self, server: EndpointServer, file: str, mark: str, path: str, lines: Callable[[], IO[bytes]]) -> Remote:
        """Create a batch from lines, in a single try. Raises as EndpointServer.once does."""
        order = json.dumps(self.order(server.endpoint, file, mark, path), allow_nan=False)[1:-1]
        with lines() as source, tempfile.TemporaryFile() as body:
            source.seek(0)
            body.write(b"{" + order.encode() + b"," * bool(order) + b'"requests":[')
            for place, line in enumerate(source):
                body.write(b"," * bool(place) + line.rstrip(b"\n"))
            body.write(b"]}")
            body.seek(0)
            json_type = {"Content-Type": "application/json"}
            return self.made(server.once("POST", self.batches, content=body, headers=json_type))

    def find(self, server: EndpointServer, sought: Sought) -> Remote | None:
        """Return the batch whose results name the sought requests; None if no batch may be the sought one.

        Raises RunStopped while a batch of the same size, not older, is under way or has no results yet: only the user
        can tell whose it is.
        """
        unsure: list[str] = []
        for listed in self.recent(server, sought):
            if listed.id in sought.known or listed.size not in (0, sought.size):
                continue
            if not listed.id:
                unsure.append("one without an id")
                continue
            remote = self.look(server, listed.id)
            names = self._names(server, remote) if remote.state == "ended" else iter(())
            if (first := next(names, None)) is not None:
                if sought.owns(first) or any(map(sought.owns, names)):
                    return replace(remote, id=listed.id)
            elif remote.state != "failed":
                unsure.append(listed.id)
        if not unsure:
            return None
        raise RunStopped(
            f"{server.endpoint.base_url} did not confirm a batch of {sought.size:,} requests, keeps no mark of ours, "
            f"and has one as large under way ({', '.join(unsure[:3])}). When that has ended, the same command knows by "
            f"its results whose it is. If you know that it is not yours, {sought.way_out}."
        )

    def _names(self, server: EndpointServer, remote: Remote) -> Iterator[str]:
        for file in remote.files:
            with server.download(self.content(file)) as results:
                yield from names_of(self.rows(file, results), server.loads)


class OpenRouter(Inline):
    """OpenRouter's form: results stand in the description of a batch that has ended.

    Its stream parser takes `endpoint`, `model` and `provider` only before `requests`. A body has neither: they are the
    batch's. sources: https://openrouter.ai/docs/batch-quickstart, https://openrouter.ai/docs/guides/features/batch-api,
    https://openrouter.ai/docs/api/api-reference/batch/create-a-batch, …/list-batches, …/get-a-batch (2026-11-22)
    """

    most_requests = 5_000
    _provider = frozenset({"only", "allow_fallbacks"})

    def check(self, endpoint: Endpoint) -> None:
        """Refuse a model that this form cannot ask, and a choice of provider that it cannot make. Raises RunStopped."""
        super().check(endpoint)
        provider = endpoint.extra.get("provider") or {}
        if not isinstance(provider, Mapping) or (unknown := sorted(set(provider) - self._provider)):
            names = ", ".join(unknown) if isinstance(provider, Mapping) else provider
            raise RunStopped(
                f"{endpoint.base_url} takes provider.only and provider.allow_fallbacks in batches, and not {names}: "
                "pin the provider with '+model.extra.provider.only=[NAME]' alone, or ask without model.batch."
            )

    def line(self, key: str, path: str, body: Mapping[str, JSON]) -> str:
        rest = {name: value for name, value in body.items() if name not in ("model", "provider")}
        return json.dumps({"custom_id": key, "body": rest}, separators=(",", ":"), allow_nan=False)

    def order(self, endpoint: Endpoint, file: str, mark: str, path: str) -> dict[str, JSON]:
        order: dict[str, JSON] = {"endpoint": f"/v1{path}", "model": endpoint.model, "completion_window": "24h"}
        provider = endpoint.extra.get("provider")
        return order | ({"provider": dict(provider)} if provider else {})

    def look(self, server: EndpointServer, id: str, *, fresh: bool = False) -> Remote:
        """Return a batch. Raises RunStopped."""

        def attempt() -> Any:
            with server.fetch(f"{self.batches}/{quote(id, safe='')}") as file:
                document = NestedResults(file)
                for _ in document:
                    continue
            try:
                return server.loads(document.head)
            except (ValueError, RecursionError):
                raise LostError(f"the reply to GET {self.batches}/{id} is not JSON", connected=True) from None

        return self.remote(object_of(server.again(attempt, fresh=fresh)))

    def cancel(self, server: EndpointServer, id: str) -> Remote:
        raise RunStopped(f"{server.endpoint.base_url} has no way to end a batch: it ends by itself, within 24 h.")

    def remote(self, reply: Mapping[str, Any]) -> Remote:
        """Read a reply as OpenAI's; results may stand in it or in files."""
        within = (f"results {id_of(reply)}",) if reply.get("results") else ()
        plain = super().remote(reply)
        return replace(
            plain,
            state="ended" if within and plain.status not in UNDER_WAY else plain.state,
            files=(*within, *plain.files),
        )

    def content(self, file: str) -> str:
        if file.startswith("results "):
            return f"{self.batches}/{quote(file.removeprefix('results '), safe='')}"
        return super().content(file)

    def rows(self, name: str, file: IO[bytes]) -> Iterator[bytes | None]:
        return iter(NestedResults(file)) if name.startswith("results ") else super().rows(name, file)


class Anthropic(Inline):
    """Anthropic's Message Batches: messages instead of chat completions, and one file of results.

    sources: https://platform.claude.com/docs/en/build-with-claude/batch-processing,
    https://platform.claude.com/docs/en/api/messages/batches/create, …/list, …/retrieve, …/results (2026-11-22)
    """

    batches = "/messages/batches"
    most_requests = 100_000
    _compatible = True

    headers = staticmethod(anthropic.DIALECT.headers)

    def check(self, endpoint: Endpoint) -> None:
        """Refuse a model that this form cannot ask. Raises RunStopped."""
        super().check(endpoint)
        self._compatible = endpoint.speaks is OPENAI
        if endpoint.method == "rank":
            raise RunStopped(f"{endpoint.base_url} gives no log-probabilities: use model.method=generate.")

    def line(self, key: str, path: str, body: Mapping[str, JSON]) -> str:
        """Return the line of a request, as a message. Raises RunStopped for what that form does not have.

        A model that is asked live through the compatible endpoint gets what that makes of a call: what it ignores is
        left out.
        """
        if self._compatible:
            if "tools" in body or "functions" in body:
                raise RunStopped(
                    "a batch of Anthropic's takes tools in another form than a chat completion: set "
                    "model.constrain=null, or ask without model.batch."
                )
            body = {name: value for name, value in body.items() if name not in _IGNORED}
        _, params = anthropic.DIALECT.call(path, body)
        return json.dumps({"custom_id": key, "params": params}, separators=(",", ":"), allow_nan=False)

    def all(self, server: EndpointServer) -> Iterator[Remote]:
        return self.pages(server, "after_id")

    def remote(self, reply: Mapping[str, Any]) -> Remote:
        status, counts = str(reply.get("processing_status") or ""), reply.get("request_counts")
        numbers = {name: n for name, n in counts.items() if type(n) is int} if isinstance(counts, dict) else {}
        name, results = id_of(reply), bool(reply.get("results_url"))
        ended = status == "ended" or (results and status not in UNDER_WAY)
        return Remote(
            name,
            status,
            "ended" if ended else "under way",
            (name,) if ended and results else (),
            sum(numbers.values()) - numbers.get("processing", 0),
            "",
            "",
            "",
            _seconds(reply.get("created_at")),
            sum(numbers.values()),
            numbers.get("succeeded"),
        )

    def content(self, file: str) -> str:
        """Return the path of a batch's results: the documented one, for results_url might lead the key elsewhere."""
        return f"{self.batches}/{quote(file, safe='')}/results"


def _seconds(moment: Any) -> float | None:
    """Return seconds since 1970 for a moment in RFC 3339; None for anything else."""
    try:
        return datetime.fromisoformat(moment).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


_FORMS: dict[str, type[Files]] = {
    "openai": Files,
    "together": Together,
    "mistral": Mistral,
    "openrouter": OpenRouter,
    "anthropic": Anthropic,
}


def form_of(endpoint: Endpoint) -> Files:
    """Return the form of an endpoint's batches: the one set, else its dialect's, else its provider's.

    Raises RunStopped if the form is not supported, or cannot carry this model's requests.
    """
    set_to = endpoint.batch.dialect if endpoint.batch is not None else None
    name = set_to or endpoint.speaks.batches or endpoint.provider.batches
    if name not in _FORMS:
        host = urlsplit(endpoint.base_url).hostname
        raise RunStopped(
            f"{host} takes batches in a form of its own, which model.batch "
            "does not speak: ask it without, or write the requests for a web form (harness cache requests)."
        )
    form = _FORMS[name]()
    form.check(endpoint)
    return form
