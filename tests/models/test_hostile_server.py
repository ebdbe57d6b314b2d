"""Hostile replies through the whole command: read, budget, cache, ledger, records, scores, result, and once more.

Every second question of a run gets a reply with a fault of its own. Then the server is mended, and the same command has
to complete with what was stored; a third time it asks nothing and finds the same. Where a run breaks, the kinds that
break it are searched for and named.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from support import whole_command
from support.fault_server import Faults, InThread, answer
from support.mutations import mutated
from support.thinned import few
from support.whole_command import CommandRun
from support.wire_faults import KINDS
from support.wire_faults.kind import Exchange, Kind, sound_reply

PROMPT = "Does 1 cause 2?"


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hostile-0123456789")


class Assigning(InThread):
    """Gives each second new prompt the next of its kinds, for ever."""

    def __init__(self, kinds: Sequence[Kind]) -> None:
        self.assigned: dict[str, Kind | None] = {}
        self._remaining = iter(kinds)
        self.mended = False
        super().__init__(Faults(latency=0.0))

    async def reply(self, prompt, reader, writer, *, completions=False) -> bool:
        self.requests[prompt] += 1
        if prompt not in self.assigned:
            self.assigned[prompt] = next(self._remaining, None) if len(self.assigned) % 2 else None
        if (kind := self.assigned[prompt]) is not None and not self.mended:
            return await self._meet(kind, prompt, reader, writer, completions)
        return await self._old(None, prompt, reader, writer, completions)


def complaints(kinds: Sequence[Kind], folder: Path, model: str) -> list[str]:
    """Return what is wrong with a run that meets these kinds, and with the same command after that."""
    server, limit = Assigning(kinds), 2 * len(kinds) + 1
    folder.mkdir()
    try:
        first = whole_command.run(folder, server.url, limit, model=model)
        server.mended, requests = True, dict(server.requests)
        mended = whole_command.run(folder, server.url, limit, model=model)
        asked_again = {p for p, count in server.requests.items() if count > requests.get(p, 0)}
        calls = server.requests.total()
        stored = whole_command.run(folder, server.url, limit, model=model)
        runs = {"": first, "mended: ": mended, "from the cache: ": stored}
        crashed = [f"{when}crashed: {one_line(run.crash)}" for when, run in runs.items() if run.crash is not None]
        if crashed:
            return crashed
        sentences = [*of_first(server, first, limit), *of_mended(server, first, mended, asked_again)]
        if server.requests.total() != calls:
            sentences.append(f"{server.requests.total() - calls} calls in a run that the cache has all answers for")
        if stored.result != mended.result or stored.words != mended.words:
            sentences.append("a run from the cache comes to another result")
        return sentences
    finally:
        server.close()


def one_line(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"


def of_first(server: Assigning, run: CommandRun, limit: int) -> Iterator[str]:
    if missing := limit - len(run.words) - len(run.failures):
        yield f"{missing} items have no record ({run.sentence})"
    for prompt, kind in server.assigned.items():
        words = run.words.get(prompt)
        if kind is None and (words or "").strip() != answer(prompt):
            yield f"the answer to a sound reply is lost: {words!r}, {run.failures.get(prompt)}"
        elif words is not None and kind is not None and not {"answer", "reply"} & set(kind.ends):
            yield f"{kind.name}: an answer, where there was none: {words[:80]!r}"


def of_mended(server: Assigning, first: CommandRun, mended: CommandRun, asked_again: set[str]) -> Iterator[str]:
    if not mended.result.get("complete"):
        yield f"the mended server's run is not complete: {mended.sentence}"
    if again := asked_again & set(first.words):
        yield f"asked again though answered: {[server.assigned[p] and server.assigned[p].name for p in again]}"
    for prompt, words in first.words.items():
        if mended.words.get(prompt) != words:
            kind = server.assigned[prompt]
            yield f"{kind and kind.name}: {words!r} first, {mended.words.get(prompt)!r} from the cache"


def search(kinds: Sequence[Kind], folder: Path, model: str, depth: int = 0) -> list[str]:
    """Return the complaints, narrowed to the kinds that cause them."""
    if not (sentences := complaints(kinds, folder, model)) or len(kinds) == 1:
        return [f"{kinds[0].name}: {complaint}" for complaint in sentences]
    half = len(kinds) // 2
    parts = [search(part, folder / str(number), model) for number, part in enumerate((kinds[:half], kinds[half:]))]
    return [*parts[0], *parts[1]] or sentences


def batches(kinds: Sequence[Kind], size: int) -> list[Any]:
    return [pytest.param(kinds[at : at + size], id=f"{kinds[at].name} …") for at in range(0, len(kinds), size)]


def mutations(reply: dict[str, Any]) -> list[Kind]:
    """Return each mutation as a kind that may be an answer or that item's failure."""

    def writes(reply: Any) -> Callable[[Exchange], Any]:
        return lambda exchange: exchange.send(json.dumps(reply).encode())

    ends = ("passes", "item", "answer", "reply")
    return [Kind(name, "mutation", ends, writes(reply)) for name, reply in mutated(reply)]


CHAT, COMPLETIONS = (mutations(sound_reply(PROMPT, completions=old)) for old in (False, True))
HARMLESS = [kind for kind in KINDS.values() if kind.family in ("body", "protocol") and not kind.heavy]
HARMLESS = [kind for kind in HARMLESS if "stops" not in kind.ends]


@pytest.mark.parametrize("kinds", few(batches(HARMLESS, 24), 1))
def test_every_reply_through_the_whole_command(kinds, tmp_path):
    assert not (sentences := search(kinds, tmp_path / "run", "chat")), "\n".join(sentences)


@pytest.mark.parametrize("kinds", few(batches(CHAT, 150), 1))
def test_every_field_of_a_chat_reply(kinds, tmp_path):
    assert not (sentences := search(kinds, tmp_path / "run", "chat")), "\n".join(sentences)


@pytest.mark.slow
@pytest.mark.parametrize("kinds", few(batches(COMPLETIONS, 150), 1))
def test_every_field_of_a_completions_reply(kinds, tmp_path):
    assert not (sentences := search(kinds, tmp_path / "run", "completions")), "\n".join(sentences)


def test_there_are_enough():
    assert len(KINDS) > 600 and len(CHAT) + len(COMPLETIONS) > 1_200
