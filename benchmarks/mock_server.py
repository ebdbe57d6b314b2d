"""A server that speaks the OpenAI protocol, for benchmarks: latency, faults, and a real rate limit.

python benchmarks/mock_server.py [--latency S] [--rate N] [--refuse SHARE] [--fail SHARE] [--workers N]

Raw asyncio, no framework: it has to sustain ten times what is measured against it. It prints its port; GET /stats
tells what it has seen.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time

REPLY = json.dumps(
    {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "mock-2026",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "No"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 450, "completion_tokens": 1, "total_tokens": 451},
    }
).encode()  # fmt: skip
REFUSED = (
    b'{"error": {"message": "Rate limit reached", "type": "requests", "param": null, "code": "rate_limit_exceeded"}}'
)
FAILED = b'{"error": {"message": "The server had an error", "type": "server_error", "param": null, "code": null}}'


def head(status: str, body: bytes, more: str = "") -> bytes:
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    ).encode() + body


OK, TOO_MANY, ERROR = head("200 OK", REPLY), "429 Too Many Requests", head("500 Internal Server Error", FAILED)


class Mock:
    """What all connections share."""

    def __init__(self, settings: argparse.Namespace) -> None:
        self.settings = settings
        self.random = random.Random(settings.seed)
        self.answered = self.refused = self.failed = self.in_flight = self.most_in_flight = self.early = 0
        self.first = self.last = 0.0
        self.tokens, self.filled = float(settings.burst), time.monotonic()
        self.faults: dict[bytes, int] = {}  # in a row, by request
        self.told: dict[bytes, float] = {}  # when a request may come back

    def allowed(self) -> bool:
        """A token bucket: `rate` requests a second, `burst` at once."""
        if not self.settings.rate:
            return True
        now = time.monotonic()
        self.tokens = min(self.settings.burst, self.tokens + (now - self.filled) * self.settings.rate)
        self.filled = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True

    async def reply(self, body: bytes) -> bytes:
        now = time.monotonic()
        self.first = self.first or now
        self.early += now < self.told.pop(body, 0.0)
        if not self.allowed():
            self.refused += 1
            return head(TOO_MANY, REFUSED, "Retry-After: 1\r\n" if self.settings.retry_after else "")
        draw = self.random.random() if self.settings.refuse or self.settings.fail else 1.0
        if draw < self.settings.refuse + self.settings.fail and self.faults.get(body, 0) < 3:
            self.faults[body] = self.faults.get(body, 0) + 1
            if draw < self.settings.refuse:
                self.refused += 1
                self.told[body] = now + 1
                return head(TOO_MANY, REFUSED, "Retry-After: 1\r\n")
            self.failed += 1
            return ERROR
        self.faults.pop(body, None)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        if self.settings.latency:
            await asyncio.sleep(self.settings.latency)
        self.in_flight -= 1
        self.answered += 1
        self.last = time.monotonic()
        return OK

    def stats(self) -> bytes:
        names = ("answered", "refused", "failed", "most_in_flight", "early")
        return json.dumps({n: getattr(self, n) for n in names} | {"seconds": self.last - self.first}).encode()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                header = await reader.readuntil(b"\r\n\r\n")
                if header.startswith(b"GET"):
                    writer.write(head("200 OK", self.stats()))
                    continue
                at = header.lower().index(b"content-length:") + 15
                body = await reader.readexactly(int(header[at : header.index(b"\r", at)]))
                writer.write(await self.reply(body))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--rate", type=float, default=0)
    parser.add_argument("--burst", type=float, default=10)
    parser.add_argument("--retry-after", action="store_true")
    parser.add_argument("--refuse", type=float, default=0)
    parser.add_argument("--fail", type=float, default=0)
    parser.add_argument("--seed", type=int, default=0)
    server = await asyncio.start_server(Mock(parser.parse_args()).serve, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit()
