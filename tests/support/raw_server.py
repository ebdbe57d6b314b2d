"""A server that sends bytes: HTTP as malformed as a test wants it, real enough for a real client."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

Reply = bytes | tuple[bytes, ...] | None
"""Bytes after which the connection is kept; a tuple of bytes after which it is closed; None: it is reset."""


def chat(text: str = "No", **changes: Any) -> dict[str, Any]:
    """Return a good reply of chat completions."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "1",
        "object": "chat.completion",
        "model": "m-2026",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10},
        **changes,
    }


def http(body: object, status: int = 200, **headers: str) -> bytes:
    """Return a whole HTTP reply; a body that is neither bytes nor text becomes JSON."""
    content = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    fields = {"Content-Type": "application/json", "Content-Length": str(len(content))}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} Status\r\n{head}\r\n".encode("latin-1") + content


class RawServer:
    """`reply(words of the last message, how often they were asked)` decides what goes out."""

    def __init__(self, reply: Callable[[str, int], Reply], port: int = 0) -> None:
        """Listen at once; `port` 0 is any free one."""
        self.reply = reply
        self.asked: list[str] = []
        self.times: Counter[str] = Counter()
        self.heads: list[bytes] = []
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._server = self._run(asyncio.start_server(self._serve, "127.0.0.1", port, backlog=256))
        self.port = int(self._server.sockets[0].getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def close(self) -> None:
        """End all connections, as a killed process does."""

        async def end() -> None:
            self._server.close()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
            await asyncio.sleep(0)

        self._run(end())
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _run(self, doing: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result(120)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                lines = head.lower().split(b"\r\n")
                length = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
                body = json.loads(await reader.readexactly(length))
                words = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
                self.asked.append(words)
                self.times[words] += 1
                self.heads.append(head)
                sent = self.reply(words, self.times[words])
                if sent is None:
                    return writer.transport.abort()
                writer.write(sent if isinstance(sent, bytes) else b"".join(sent))
                await writer.drain()
                if isinstance(sent, tuple):
                    return None
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            return None
        finally:
            writer.close()
