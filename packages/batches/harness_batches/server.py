"""Calls for files, batches and jobs rather than answers: one at a time, tried again while they may pass."""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, Any, TypeVar

from harness.errors import ConfigError, Interrupted, RunStopped
from harness.models.api.anthropic import Messages
from harness.models.api.azure import tokens
from harness.models.api.endpoint import Endpoint
from harness.models.api.families import on_this_machine
from harness.models.api.faults import RefusedError
from harness.models.api.replies import CallError, LateError, LostError, one_line
from harness.runtime.secrets import SECRET, mask_keys
from harness.runtime.signals import STOP

T = TypeVar("T")
MOST_BYTES, _PIECE = 16 << 20, 1 << 20
"""The largest reply other than a file, and what is read at once."""
_LONGEST_PAUSE = 30.0
"""Seconds between two tries of a call, unless the server asks for another number."""
_FRESH = frozenset({404})
"""Statuses that servers return for some seconds for a file, a batch or a job that is new."""


class EndpointServer:
    """The server of an endpoint, for files and what is made of them. Its key goes to no other address."""

    transport: Any = None
    """What carries the calls instead of the network, in tests."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Prepare a client of the endpoint's SDK, which connects with the first call."""
        self.endpoint = endpoint
        self.address = endpoint.base_url.rstrip("/")

    @cached_property
    def _sdk(self) -> Any:
        import httpx2  # takes longer than a call, and a run without files needs none of it
        from openai import OpenAI

        api: Any = OpenAI
        if isinstance(self.endpoint, Messages):
            try:
                from anthropic import Anthropic as api  # noqa: N813
            except ImportError:
                raise ConfigError("Anthropic's batches need its SDK: pip install -e '.[anthropic]'.") from None
        seconds = self.endpoint.timeout
        http = httpx2.Client(
            timeout=httpx2.Timeout(seconds, connect=min(30.0, seconds)),
            follow_redirects=False,
            trust_env=not on_this_machine(self.address),
            event_hooks={"response": [self._refuse]},
            transport=self.transport,
        )
        key: Any = self.endpoint.key
        if not key:  # Azure with Entra tokens: check_key has let it pass
            from azure import identity

            key = tokens(identity)
        return api(api_key=key, base_url=self.address, max_retries=0, http_client=http)

    def _refuse(self, response: Any) -> None:
        """Raise RefusedError for a reply that is none, by the first of its words: the SDK would read all of them."""
        if response.is_success:
            return
        try:
            text = self._hidden(next(response.iter_bytes(_PIECE), b""))
        except Exception:  # the connection broke before the words came; the status is enough
            text = ""
        raise RefusedError(response.status_code, text, response.headers)

    def close(self) -> None:
        if "_sdk" in self.__dict__:
            self._sdk.close()

    def json(self, method: str, path: str, body: Mapping[str, Any] | None = None, *, fresh: bool = False) -> Any:
        """Return the JSON of a reply. `fresh`: the server may not find what is asked for yet, as it is new.

        Raises RunStopped if it fails for good.
        """
        return self.again(lambda: self.once(method, path, body), fresh=fresh)

    def once(self, method: str, path: str, body: Mapping[str, Any] | None = None, **parts: Any) -> Any:
        """Return the JSON of a reply after a single try. Raises RefusedError, LostError or LateError."""
        with self._stream(method, path, body=body, **parts) as response:
            pieces, size = [], 0
            for piece in response.iter_bytes(_PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > MOST_BYTES:
                    raise LostError(f"the reply to {method} {path} is too large", connected=True)
        try:
            return self.loads(b"".join(pieces))
        except (ValueError, RecursionError):
            raise LostError(f"the reply to {method} {path} is not JSON", connected=True) from None

    def upload(self, path: str, file: IO[bytes], name: str, fields: Mapping[str, str]) -> Any:
        """Send a file as a form; return the JSON of the reply. Raises RunStopped."""

        def send() -> Any:
            file.seek(0)
            parts = {"files": [("file", (name, file, "application/jsonl"))], "kind": "multipart/form-data"}
            return self.once("POST", path, dict(fields), **parts)

        return self.again(send)

    def download(self, path: str, folder: Path | None = None) -> IO[bytes]:
        """Download a file into a temporary one, which has no name, in `folder`. Raises RunStopped."""
        return self.again(lambda: self.fetch(path, folder), fresh=True)

    def fetch(self, path: str, folder: Path | None = None) -> IO[bytes]:
        """Download a file by a single try. Raises RefusedError, LostError or LateError."""
        file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        try:
            with self._stream("GET", path) as response:
                for piece in response.iter_bytes(_PIECE):
                    file.write(piece)
        except BaseException:
            file.close()
            raise
        file.seek(0)
        return file

    def loads(self, content: bytes) -> Any:
        """Parse JSON, with the key hidden: some servers repeat it. Raises ValueError and RecursionError."""
        return json.loads(self._hidden(content))

    def _hidden(self, content: bytes) -> str:
        text, key = content.decode("utf-8", "replace"), self.endpoint.key
        return text.replace(key, "[the key]") if len(key) >= SECRET else text

    @contextmanager
    def _stream(self, method: str, path: str, kind: str = "", **parts: Any) -> Iterator[Any]:
        """Hand out a reply that is read piece by piece. Raises RefusedError, LostError or LateError."""
        import httpx2
        from openai import Stream

        options = {"headers": {"Content-Type": kind}} if kind else {}
        sent = {name: part for name, part in parts.items() if part is not None}
        send = self._sdk.get if method == "GET" else self._sdk.post
        try:
            response = send(
                f"{self.address}{path}",
                cast_to=httpx2.Response,
                options=options,
                stream=True,
                stream_cls=Stream,
                **sent,
            )
            with closing(response):
                yield response
        except Exception as error:
            cause = error if isinstance(error, RefusedError) else error.__cause__ or error
            if isinstance(cause, RefusedError):
                raise cause from None
            if not type(cause).__module__.startswith(("httpx2", "httpcore2")):
                raise
            raise _lost(cause) from None

    def again(self, action: Callable[[], T], *, fresh: bool = False) -> T:
        """Return the result of an action, tried again while its errors may pass. Raises RunStopped, Interrupted."""
        waited, attempt = 0.0, 0
        while True:
            attempt += 1
            try:
                return action()
            except CallError as error:
                pause = self.pause(error, attempt)
                if not passes(error, fresh=fresh) or attempt >= self.endpoint.attempts:
                    raise self.stopped(error) from None
                if waited + pause > self.endpoint.max_wait:
                    raise self.stopped(error) from None
            waited += pause
            rest(pause)

    def pause(self, error: CallError, attempt: int) -> float:
        """Return the seconds to wait after a failed try: what the server asks for, else more with each try."""
        return error.wait or min(0.5 * 2.0 ** min(attempt - 1, 30), _LONGEST_PAUSE) * random.uniform(0.6, 1.0)

    def stopped(self, error: CallError) -> RunStopped:
        """Return the end of the run for a call that has failed for good."""
        gone = isinstance(error, RefusedError) and error.status == 404
        lost = "; `harness batches forget DIGEST` gives up what is lost there" * gone
        return RunStopped(
            f"{self.address} fails on its files or batches ({error.in_words()}): what is under way there stays, and "
            f"the same command goes on from there{lost}."
        )


def _lost(error: BaseException) -> CallError:
    import httpx2 as http

    words = one_line(mask_keys(f"{type(error).__name__}: {error}"))
    if isinstance(error, http.TimeoutException) and not isinstance(error, http.ConnectTimeout):
        return LateError(words)
    return LostError(words, connected=not isinstance(error, http.ConnectError | http.ConnectTimeout))


def passes(error: CallError, *, fresh: bool = False) -> bool:
    new = fresh and isinstance(error, RefusedError) and error.status in _FRESH
    return new or error.scope in ("moment", "busy")


def rest(seconds: float) -> None:
    """Wait. Raises Interrupted if the user ends the run."""
    until = time.monotonic() + seconds
    while (remaining := until - time.monotonic()) > 0:
        if STOP.requested:
            raise Interrupted("interrupted while a server was waited for.")
        time.sleep(min(remaining, 0.2))


def object_of(reply: Any) -> dict[str, Any]:
    """Check that a reply is an object. Raises RunStopped."""
    if isinstance(reply, dict):
        return reply
    raise RunStopped(
        f"the server answers {one_line(json.dumps(reply))[:80]} where a file, a batch or a job was asked for."
    )
