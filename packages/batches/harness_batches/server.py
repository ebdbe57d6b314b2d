"""Calls for files and batches by the SDK of an endpoint: one at a time, tried again while they may pass."""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from functools import cached_property
from pathlib import Path
from typing import IO, Any, TypeVar

from tenacity import Retrying, retry_if_exception

from harness.errors import Interrupted, RunStopped
from harness.models.api.endpoint import Endpoint
from harness.models.api.faults import RefusedError
from harness.models.api.replies import CallError, LostError, one_line
from harness.runtime.secrets import SECRET
from harness.runtime.signals import STOP

T = TypeVar("T")
Call = Callable[[Any], Awaitable[Any]]
"""A call of the SDK's client, by one of its methods with_raw_response."""


class EndpointServer:
    """The server of an endpoint, asked by the client of its live calls. Its key goes to no other address."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint, self.address = endpoint, endpoint.base_url.rstrip("/")

    @cached_property
    def _client(self) -> tuple[asyncio.AbstractEventLoop, Any, Any]:
        from harness.models.api.client import HttpClient  # takes longer than a call

        http = HttpClient(self.address, self.endpoint.timeout)
        return asyncio.new_event_loop(), http, self.endpoint.sdk(http)

    def close(self) -> None:
        if "_client" in self.__dict__:
            loop, http, _ = self._client
            loop.run_until_complete(http.aclose())
            loop.close()

    def json(self, call: Call, *, fresh: bool = False) -> dict[str, Any]:
        """Return the object of a reply. `fresh`: the server may not find what is asked for yet, as it is new.

        Raises RunStopped if it fails for good.
        """
        reply = self.again(lambda: self.once(call), fresh=fresh)
        if isinstance(reply, dict):
            return reply
        raise self.odd(reply)

    def odd(self, reply: Any) -> RunStopped:
        """Return the end of the run for a reply that is nothing that was asked for."""
        said = one_line(json.dumps(reply))[:80]
        return RunStopped(f"{self.address} answers {said} about files or batches: the same command looks again.")

    def once(self, call: Call) -> Any:
        """Return the JSON of a reply after a single try. Raises CallError."""

        async def content(sdk: Any) -> bytes:
            return bytes((await call(sdk)).http_response.content)

        try:
            return self.loads(self.run(content))
        except (ValueError, RecursionError):
            raise LostError("the reply is not JSON", connected=True) from None

    def download(self, pieces: Callable[[Any], AsyncIterator[bytes]], folder: Path | None = None) -> IO[bytes]:
        """Download a file into a temporary one, which has no name, in `folder`. Raises RunStopped."""
        file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115

        async def write(sdk: Any) -> None:
            file.seek(0)
            file.truncate()
            async for piece in pieces(sdk):
                file.write(piece)

        try:
            self.again(lambda: self.run(write), fresh=True)
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

    def run(self, work: Callable[[Any], Coroutine[Any, Any, T]]) -> T:
        """Return the result of a single try. Raises CallError, which the SDK has as causes of its own."""
        import httpx2

        from harness.models.api.client import lost

        loop, _, sdk = self._client
        loop.run_until_complete(asyncio.sleep(0.01))  # to notice connections that the server has closed meanwhile
        try:
            return loop.run_until_complete(work(sdk))
        except Exception as error:
            response = getattr(error, "response", None)
            if isinstance(response, httpx2.Response):
                words = self._hidden(response.content)
                raise RefusedError(response.status_code, words, response.headers) from None
            if isinstance(error.__cause__, CallError):
                raise error.__cause__ from None
            raise (lost(error) if isinstance(error, httpx2.HTTPError) else error) from None

    def again(self, action: Callable[[], T], *, fresh: bool = False) -> T:
        """Return the result of an action, tried again while its errors may pass. Raises RunStopped, Interrupted."""
        retrying = Retrying(
            retry=retry_if_exception(lambda error: passes(error, fresh=fresh)),
            stop=lambda state: (
                state.attempt_number >= self.endpoint.attempts
                or state.idle_for + state.upcoming_sleep > self.endpoint.max_wait
            ),
            wait=lambda state: pause(state.outcome.exception() if state.outcome else None, state.attempt_number),
            sleep=lambda seconds: rest(seconds),
            reraise=True,
        )
        try:
            return retrying(action)
        except CallError as error:
            raise self.stopped(error) from None

    def stopped(self, error: CallError) -> RunStopped:
        """Return the end of the run for a call that has failed for good."""
        gone = isinstance(error, RefusedError) and error.status == 404
        lost = "; `harness batches forget DIGEST` gives up what is lost there" * gone
        return RunStopped(
            f"{self.address} fails on its files or batches ({error.in_words()}): what is under way there stays, and "
            f"the same command goes on from there{lost}."
        )


def pause(error: BaseException | None, attempt: int) -> float:
    """Return the seconds to wait after a failed try: what the server asks for, else up to half a minute."""
    asked = error.wait if isinstance(error, CallError) else None
    return asked or min(2.0 ** min(attempt - 2, 30), 30.0) * random.uniform(0.6, 1.0)


def passes(error: BaseException, *, fresh: bool = False) -> bool:
    """Test whether a call may succeed later. `fresh`: for some seconds servers do not find what is new."""
    if fresh and isinstance(error, RefusedError) and error.status == 404:
        return True
    return isinstance(error, CallError) and error.scope in ("moment", "busy")


def rest(seconds: float) -> None:
    """Wait. Raises Interrupted if the user ends the run."""
    until = time.monotonic() + seconds
    while (remaining := until - time.monotonic()) > 0:
        if STOP.requested:
            raise Interrupted("interrupted while a server was waited for.")
        time.sleep(min(remaining, 0.2))
