"""Calls that are no answers, for files, batches and jobs: one at a time, tried again while they may pass."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import IO, Any, TypeVar

from harness.errors import Interrupted, RunStopped
from harness.models.api.bodies import Secret
from harness.models.api.endpoint import Endpoint
from harness.models.api.families import first_address, on_this_machine
from harness.models.api.faults import RefusedError, asked_pause, growing_pause, in_words, may_pass, status
from harness.models.api.replies import LostError, one_line
from harness.runtime.signals import STOP

T = TypeVar("T")
MOST_BYTES = 16 << 20
"""Of a reply that is no file."""
_PIECE = 1 << 20
_LONGEST_PAUSE = 30.0
"""Seconds between two tries of a call, where the server asks for no other number."""
_FRESH = frozenset({404})
"""What servers say for some seconds of a file, a batch or a job that they have just made."""


class EndpointServer:
    """The server of an endpoint, asked for files and what is made of them. No other address is sent its key."""

    subject = "files or jobs"
    """What it is asked for, in messages."""
    lost = ""
    """What helps where it does not know what was made there."""

    def __init__(self, endpoint: Endpoint, headers: Mapping[str, str]) -> None:
        """Prepare; the connection is made with the first call. `headers` say whose calls they are."""
        self.endpoint, self._headers = endpoint, headers
        self.address = first_address(endpoint.base_url).rstrip("/")
        """The first, where the endpoint has several: what is made is known to one account."""
        self._secret = Secret(endpoint.key)

    @cached_property
    def _http(self) -> Any:
        import httpx2  # the OpenAI SDK's own

        return httpx2.Client(
            headers=self._headers,
            timeout=httpx2.Timeout(self.endpoint.timeout, connect=min(30.0, self.endpoint.timeout)),
            follow_redirects=False,
            trust_env=not on_this_machine(self.address),
        )

    def close(self) -> None:
        if "_http" in self.__dict__:
            self._http.close()

    def json(self, method: str, path: str, body: Mapping[str, Any] | None = None, *, fresh: bool = False) -> Any:
        """Return the JSON of a reply. `fresh`: what is asked about has just been made, and may not be found yet.

        Raises RunStopped where it fails for good.
        """
        return self.again(lambda: self.once(method, path, body), fresh=fresh)

    def once(self, method: str, path: str, body: Mapping[str, Any] | None = None, **parts: Any) -> Any:
        """Return the JSON of a reply to a single try. Raises RefusedError, LostError or TimeoutError."""
        content = {} if body is None else {"json": body}
        with self._stream(method, path, **content, **parts) as response:
            pieces, size = [], 0
            for piece in response.iter_bytes(_PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > MOST_BYTES:
                    raise LostError(
                        f"the reply to {method} {path} is larger than {MOST_BYTES >> 20} MB", connected=True
                    )
        try:
            return self._secret.loads(b"".join(pieces))
        except (ValueError, RecursionError):
            raise LostError(f"the reply to {method} {path} is not JSON", connected=True) from None

    def upload(self, path: str, file: IO[bytes], name: str, fields: Mapping[str, str]) -> Any:
        """Return the JSON of the reply to a file that is sent as a form. Raises RunStopped."""

        def send() -> Any:
            file.seek(0)
            return self.once("POST", path, files={"file": (name, file, "application/jsonl")}, data=dict(fields))

        return self.again(send)

    def download(self, path: str, folder: Path | None = None) -> IO[bytes]:
        """Return a file of the server, whole, as a file without a name in `folder`. Raises RunStopped."""
        return self.again(lambda: self.fetch(path, folder), fresh=True)

    def fetch(self, path: str, folder: Path | None = None) -> IO[bytes]:
        """Return a file of the server after a single try. Raises RefusedError, LostError or TimeoutError."""
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

    def loads(self, line: bytes) -> Any:
        """Return the JSON of a line, the key hidden in it. Raises ValueError and RecursionError."""
        return self._secret.loads(line)

    def _stream(self, method: str, path: str, **parts: Any) -> Any:
        return _Streamed(self._http, self._secret, method, f"{self.address}{path}", parts)

    def again(self, action: Callable[[], T], *, fresh: bool = False) -> T:
        """Return what an action returns, tried again while it may pass. Raises RunStopped, Interrupted."""
        waited, attempt = 0.0, 0
        while True:
            attempt += 1
            try:
                return action()
            except Exception as error:
                if not isinstance(error, RefusedError | LostError | TimeoutError):
                    raise
                pause = self.pause(error, attempt)
                if not passes(error, fresh=fresh) or attempt >= self.endpoint.attempts:
                    raise self.stopped(error) from None
                if waited + pause > self.endpoint.max_total_wait:
                    raise self.stopped(error) from None
            waited += pause
            rest(pause)

    def pause(self, error: Exception, attempt: int) -> float:
        """Return the seconds to wait after a failed try: what the server asks for, else what is usual."""
        return asked_pause(error) or growing_pause(attempt, min(_LONGEST_PAUSE, self.endpoint.max_wait))

    def stopped(self, error: Exception) -> RunStopped:
        """Return what a run stops with where a call of the protocol has failed for good."""
        return RunStopped(
            f"{self.address} fails on its {self.subject} ({in_words(error)}): what is under way there stays, and the "
            f"same command goes on from there{self.lost * (status(error) == 404)}."
        )


class _Streamed:
    """A reply whose body is read piece by piece; whatever the HTTP client raises becomes LostError or TimeoutError."""

    def __init__(self, http: Any, secret: Secret, method: str, url: str, parts: Mapping[str, Any]) -> None:
        self._secret = secret
        self._stream = http.stream(method, url, **parts)

    def __enter__(self) -> Any:
        try:
            response = self._stream.__enter__()
        except Exception as error:
            raise self._lost(error) from None
        if response.is_success:
            return response
        try:
            content = next(response.iter_bytes(_PIECE), b"")
        except Exception:  # the connection went with the words; the status alone says what is to be done
            content = b""
        self._stream.__exit__(None, None, None)
        raise self._refused(response, content)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._stream.__exit__(kind, error, trace)
        if isinstance(error, Exception) and type(error).__module__.startswith(("httpx", "httpcore")):
            raise self._lost(error) from None

    def _lost(self, error: Exception) -> Exception:
        import httpx2

        words = one_line(self._secret.hide(f"{type(error).__name__}: {error}"))
        if isinstance(error, httpx2.TimeoutException) and not isinstance(error, httpx2.ConnectTimeout):
            return TimeoutError(words)
        return LostError(words, connected=not isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout))

    def _refused(self, response: Any, content: bytes) -> RefusedError:
        return RefusedError(response.status_code, self._secret.body(content), response.headers)


def passes(error: BaseException, *, fresh: bool = False) -> bool:
    return may_pass(error) or (fresh and status(error) in _FRESH)


def rest(seconds: float) -> None:
    """Wait, unless the user ends the run. Raises Interrupted."""
    until = time.monotonic() + seconds
    while (remaining := until - time.monotonic()) > 0:
        if STOP.requested:
            raise Interrupted("interrupted while a server was waited for.")
        time.sleep(min(remaining, 0.2))


def object_of(reply: Any) -> dict[str, Any]:
    """Return a reply that has to be an object. Raises RunStopped."""
    if isinstance(reply, dict):
        return reply
    raise RunStopped(
        f"the server answers {one_line(json.dumps(reply))[:80]} where a file, a batch or a job was asked for."
    )
