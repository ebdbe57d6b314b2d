"""What the event loop leaves in a caller's hands when it is broken off."""

from __future__ import annotations

import asyncio
import signal

import pytest

from harness.models.concurrent import answer_all
from harness.models.pace import Pace
from harness.types import ChatRequest, Message, Response


def test_what_has_landed_is_handed_out_before_a_keyboard_interrupt():
    requests = [ChatRequest((Message("user", str(number)),), 1) for number in range(6)]
    closed = []

    async def call(request):
        number = int(request.messages[0].content)
        if number > 3:
            await asyncio.sleep(60)
        if number == 3:
            signal.raise_signal(signal.SIGINT)
        return Response(str(number))

    async def close():
        closed.append(True)

    landing = answer_all(requests, call, pace=Pace(8), stopping=asyncio.Event(), close=close)
    found = [next(landing)[1].text for _ in range(3)]
    with pytest.raises(KeyboardInterrupt):
        next(landing)
    assert sorted(found) == ["0", "1", "2"] and closed
