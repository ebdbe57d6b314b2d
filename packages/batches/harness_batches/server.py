"""Calls for files, batches and jobs rather than answers: one at a time, tried again while they may pass."""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, Any, TypeVar

from harness.errors import Interrupted, RunStopped
from harness.models.api.endpoint import Endpoint
from harness.models.api.families import on_this_machine
from harness.models.api.faults import RefusedError, date_of, fault_of, in_words
from harness.models.api.replies import LostError, one_line
from harness.runtime.secrets import SECRET, mask_keys
from harness.runtime.signals import STOP

T = TypeVar("T")
MOST_BYTES, _PIECE = 16 << 20, 1 << 20
"""The largest reply other than a file, and what is read at once."""
_LONGEST_PAUSE = 30.0
"""Seconds between two tries of a call, unless the server asks for another number."""
_FRESH = frozenset({404})
"""Statuses that servers return for some seconds for a file, a batch or a job that is new."""


class BusyError(RunStopped):
    """A server that has refused a call for its rate (429) to the last try: nothing is lost by asking it later."""

    pause: float | None = None
    """The seconds to wait that it asks for; None if it asks for none."""


class EndpointServer:
    """The server of an endpoint, for files and what is made of them. Its key goes to no other address."""

    subject = "files or jobs"
    """What the calls are about, in messages."""
    lost = ""
    """Advice for messages on a file or job that the server does not know (404)."""

    def __init__(self, endpoint: Endpoint, headers: Mapping[str, str]) -> None:
        """Prepare a client, which connects with the first call. `headers` hold the key."""
        self.endpoint, self._headers = endpoint, headers
        self.address = endpoint.base_url.rstrip("/")
        self.ahead: float | None = None
        """Seconds by which the server's clock is ahead of this machine's, by its latest reply; None if it says none."""

    @cached_property
    def _http(self) -> Any:
        import httpx2 as http  # takes longer than a call, and a run without files needs none of it

        return http.Client(
            headers=self._headers,
            timeout=http.Timeout(self.endpoint.timeout, connect=min(30.0, self.endpoint.timeout)),
            follow_redirects=False,
            trust_env=not on_this_machine(self.address),
            event_hooks={"response": [self._note_clock]},
        )

    def _note_clock(self, response: Any) -> None:
        if (date := date_of(response.headers.get("date", ""))) is not None:
            self.ahead = date - time.time()

    def close(self) -> None:
        if "_http" in self.__dict__:
            self._http.close()

    def json(self, method: str, path: str, body: Mapping[str, Any] | None = None, *, fresh: bool = False) -> Any:
        """Return the JSON of a reply. `fresh`: the server may not find what is asked for yet, as it is new.

        Raises RunStopped if it fails for good.
        """
        return self.again(lambda: self.once(method, path, body), fresh=fresh)

    def once(self, method: str, path: str, body: Mapping[str, Any] | None = None, **parts: Any) -> Any:
        """Return the JSON of a reply after a single try. Raises RefusedError, LostError or TimeoutError."""
        content = {} if body is None else {"json": body}
        with self._stream(method, path, **content, **parts) as response:
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
            return self.once("POST", path, files={"file": (name, file, "application/jsonl")}, data=dict(fields))

        return self.again(send)

    def download(self, path: str, folder: Path | None = None) -> IO[bytes]:
        """Download a file into a temporary one, which has no name, in `folder`. Raises RunStopped."""
        return self.again(lambda: self.fetch(path, folder), fresh=True)

    def fetch(self, path: str, folder: Path | None = None) -> IO[bytes]:
        """Download a file by a single try. Raises RefusedError, LostError or TimeoutError."""
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
    def _stream(self, method: str, path: str, **parts: Any) -> Iterator[Any]:
        """Hand out a reply that is read piece by piece. Raises RefusedError, LostError or TimeoutError."""
        refused: RefusedError | None = None
        try:
            with self._http.stream(method, f"{self.address}{path}", **parts) as response:
                if response.is_success:
                    yield response
                    return
                refused = RefusedError(response.status_code, "", response.headers)
                text = self._hidden(next(response.iter_bytes(_PIECE), b""))
                refused = RefusedError(response.status_code, text, response.headers)
        except Exception as error:
            if not type(error).__module__.startswith(("httpx2", "httpcore2")):
                raise
            if refused is None:  # else the connection broke before the words came; the status is enough
                raise _lost(error) from None
        assert refused is not None
        raise refused

    def again(self, action: Callable[[], T], *, fresh: bool = False) -> T:
        """Return the result of an action, tried again while its errors may pass. Raises RunStopped, Interrupted."""
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
                if waited + pause > self.endpoint.max_wait:
                    raise self.stopped(error) from None
            waited += pause
            rest(pause)

    def pause(self, error: Exception, attempt: int) -> float:
        """Return the seconds to wait after a failed try: what the server asks for, else more with each try."""
        asked = error.wait if isinstance(error, RefusedError) else None
        return asked or min(0.5 * 2.0 ** min(attempt - 1, 30), _LONGEST_PAUSE) * random.uniform(0.6, 1.0)

    def stopped(self, error: Exception) -> RunStopped:
        """Return the end of the run for a call that has failed for good."""
        status = error.status if isinstance(error, RefusedError) else None
        stopped = (BusyError if status == 429 and passes(error) else RunStopped)(
            f"{self.address} fails on its {self.subject} ({in_words(error)}): what is under way there stays, and the "
            f"same command goes on from there{self.lost * (status == 404)}."
        )
        if isinstance(stopped, BusyError):
            stopped.pause = error.wait if isinstance(error, RefusedError) else None
        return stopped


def _lost(error: Exception) -> Exception:
    import httpx2 as http

    words = one_line(mask_keys(f"{type(error).__name__}: {error}"))
    if isinstance(error, http.TimeoutException) and not isinstance(error, http.ConnectTimeout):
        return TimeoutError(words)
    return LostError(words, connected=not isinstance(error, http.ConnectError | http.ConnectTimeout))


def passes(error: BaseException, *, fresh: bool = False) -> bool:
    fault = fault_of(error)
    may_pass = fault is not None and fault.fault == "moment"
    return may_pass or (fresh and isinstance(error, RefusedError) and error.status in _FRESH)


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
