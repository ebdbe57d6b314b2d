"""A server's event loop in a thread of its own, for tests that are no coroutines."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any


class LoopThread:
    """Runs a coroutine in its loop, and all that this begins until it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.SelectorEventLoop()  # a test may have put another kind in the place of new_event_loop
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def result(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(120)

    def close(self) -> None:
        async def end() -> None:
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
            await asyncio.sleep(0)

        self.result(end())
        self._loop.call_soon_threadsafe(self._loop.stop)
