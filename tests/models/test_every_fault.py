"""Every kind of fault on the wire: no crash, nothing lost, nothing asked twice, nothing early, nothing mistaken.

Of twenty items three always meet the fault, six meet it once or twice and then no more, eleven never do. What may come
of each is said by the kind (tests/support/wire_faults/).
"""

from __future__ import annotations

import asyncio
import resource
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
from support.clocks import Skipping
from support.fault_server import Faults, InThread, answer
from support.outcomes import each
from support.thinned import few
from support.wire_faults import KINDS
from support.wire_faults.kind import Kind

from harness.errors import RunStopped
from harness.models.api.openai import Chat, Completions
from harness.types import ChatRequest, Failure, Message, Response

PROMPTS = tuple(f"Does {k} cause {k + 1}?" for k in range(20))
ALWAYS, ONCE, TWICE = (9, 13, 17), (1, 4, 10, 15), (6, 12)
"""Where the fault strikes, by number. The first call is answered, as on any server that has ever worked."""
PATIENCE = 600.0
"""model.timeout where time is virtual."""
HANGS = 30.0
"""model.timeout elsewhere: a call that takes so long hangs, and nothing here may."""
ATTEMPTS = 4


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hostile-0123456789")


@dataclass
class Outcome:
    """The outcomes of the twenty items."""

    items: list[tuple[str, Response | Failure]] = field(default_factory=list)
    error: BaseException | None = None


def planned(kind: Kind, prompts: tuple[str, ...]) -> Faults:
    if kind.accept:
        return Faults(kind=kind.name, every=4, latency=0.0)
    often = {prompts[k]: ATTEMPTS for k in ALWAYS if k < len(prompts)}
    often |= {prompts[k]: 1 for k in ONCE if k < len(prompts)}
    often |= {prompts[k]: min(2, kind.in_a_row) for k in TWICE if k < len(prompts)}
    return Faults(kind=kind.name, first=often, latency=0.0)


def asked(kind: Kind, server: InThread, prompts: tuple[str, ...], endpoint: type = Chat, **settings) -> Outcome:
    model = endpoint(
        **{
            "name": "m",
            "model": "m",
            "base_url": server.url,
            "attempts": ATTEMPTS,
            "timeout": HANGS,
            "max_wait": kind.max_wait,
            **settings,
        }
    )
    outcome = Outcome()
    try:
        for request, got in each(model.respond(ChatRequest((Message("user", p),), max_tokens=4) for p in prompts)):
            outcome.items.append((request.messages[-1].content, got))
    except BaseException as error:  # MemoryError and KeyboardInterrupt are crashes, too
        outcome.error = error
    return outcome


def problems(kind: Kind, server: InThread, outcome: Outcome, prompts: tuple[str, ...]) -> Iterator[str]:
    """Yield everything that is wrong with them."""
    if outcome.error is not None and not isinstance(outcome.error, RunStopped):
        yield f"crashed: {type(outcome.error).__name__}: {str(outcome.error)[:200]}"
    elif outcome.error is not None and "stops" not in kind.ends:
        yield f"stopped the run: {outcome.error}"
    elif outcome.error is None and kind.ends == ("stops",):
        yield "did not stop the run"
    handed_out = Counter(prompt for prompt, _ in outcome.items)
    if set(handed_out.values()) - {1}:
        yield f"handed out twice: {handed_out}"
    if outcome.error is None and set(handed_out) != set(prompts):
        yield f"never handed out: {set(prompts) - set(handed_out)}"
    for prompt, got in outcome.items:
        if why := wrong(kind, server.faults.first.get(prompt, 0), prompt, got):
            yield f"{prompt} ({server.faults.first.get(prompt, 0)} faults): {why}"
    got_answers = {prompt for prompt, got in outcome.items if isinstance(got, Response)}
    if lost := {prompt for prompt, count in server.answered.items() if count} - got_answers:
        yield f"answered in full, and lost: {lost}"
    if again := {prompt: count for prompt, count in server.answered.items() if count > 1}:
        yield f"asked again though answered: {again}"
    most = 1 if set(kind.ends) <= {"item", "stops"} else tries(kind)
    if often := {
        p: n for p, n in server.requests.items() if n > most and (p in server.faults.first or n > tries(kind))
    }:
        yield f"asked too often: {often}"
    if server.early:
        yield f"{server.early} retries earlier than told"
    if server.followed:
        yield f"{server.followed} requests to another place"


def tries(kind: Kind) -> int:
    """Return how often a call is made at most: a limit ends none by its tries while others are answered."""
    return ATTEMPTS + kind.name.startswith("429")


def wrong(kind: Kind, faults: int, prompt: str, got: Response | Failure) -> str:
    """Return what is wrong with the outcome of one item; "" if nothing is."""
    if isinstance(got, Failure):
        if not (isinstance(got.kind, str) and isinstance(got.detail, str) and got.kind.isidentifier()):
            return f"a failure without a name: {str(got)[:200]}"
        passing = faults >= ATTEMPTS and "passes" in kind.ends
        return "" if passing or (faults and "item" in kind.ends) else f"failed: {str(got)[:300]}"
    counts = [getattr(got.usage, name) for name in got.usage.__slots__]
    if not all(count is None or (type(count) is int and count >= 0) for count in counts):
        return f"tokens that cannot be: {str(got.usage)[:200]}"
    if not all(isinstance(text, str) for text in (got.text, got.finish_reason, got.served_model)):
        return f"a field that is no text: {str(got)[:300]}"
    if got.text.strip() != answer(prompt):
        return "" if faults and "reply" in kind.ends else f"not its answer: {got.text[:100]!r}"
    if faults >= tries(kind) and not {"answer", "reply"} & set(kind.ends):
        return "an answer, where there was none"
    return ""


def run(kind: Kind, prompts: tuple[str, ...] = PROMPTS, **settings) -> list[str]:
    server = InThread(planned(kind, prompts))
    try:
        outcome = asked(kind, server, prompts, **settings)
        met = server.kinds[kind.name]
        return [*problems(kind, server, outcome, prompts), *([] if met else ["the fault never came"])]
    finally:
        server.close()


def clean(found: list[str]) -> None:
    assert not found, "\n".join(found)


def named(chosen: list[Kind], keep: int | None = None) -> pytest.MarkDecorator:
    """Return the mark of a test of these kinds: all but a few are slow."""
    cases = [pytest.param(kind, id=kind.name) for kind in chosen]
    return pytest.mark.parametrize("kind", few(cases, len(cases) if keep is None else keep))


WAITS = [kind for kind in KINDS.values() if kind.max_wait > 1]
TIMED = [kind for kind in KINDS.values() if kind.timed]
QUICK = [kind for kind in KINDS.values() if not (kind.max_wait > 1 or kind.timed or kind.heavy)]


# Replies and statuses have hundreds of kinds; tests/models/test_hostile_server.py meets all replies in one command.
ON_THE_WIRE = [kind for kind in QUICK if kind.family in ("HTTP", "connection")]


@named(ON_THE_WIRE, keep=8)
def test_no_fault_on_the_wire_does_harm(kind):
    clean(run(kind))


@named([kind for kind in QUICK if kind not in ON_THE_WIRE], keep=6)
def test_no_other_fault_does_harm(kind):
    clean(run(kind))


@cache
def waited(quick: bool) -> dict[str, list[str]]:
    """Return the problems of kinds that wait a second, run at the same time: those of `make test`, or the others."""
    kinds = [kind for number, kind in enumerate(WAITS) if (number % 4 == 0) == quick]
    with ThreadPoolExecutor(len(kinds)) as pool:
        return dict(zip((kind.name for kind in kinds), pool.map(run, kinds), strict=True))


@named(WAITS, keep=len(WAITS) // 4)
def test_no_retry_comes_too_early(kind):
    clean(waited(WAITS.index(kind) % 4 == 0)[kind.name])


@named(TIMED, keep=5)
def test_what_takes_for_ever_is_ended(kind, monkeypatch):
    loop, prompts = Skipping(), PROMPTS[:10]
    server = InThread(planned(kind, prompts))
    monkeypatch.setattr(asyncio, "new_event_loop", lambda: loop)
    server.passes = lambda share: loop.skip(share * PATIENCE)
    try:
        outcome = asked(kind, server, prompts, timeout=PATIENCE, max_concurrency=1)
        clean([*problems(kind, server, outcome, prompts)])
        assert server.kinds[kind.name]
    finally:
        server.close()


@named([kind for kind in QUICK if kind.family in ("body", "protocol")])
@pytest.mark.slow
def test_no_fault_does_harm_to_completions(kind):
    clean(run(kind, endpoint=Completions))


@contextmanager
def room(size: int) -> Iterator[None]:
    """Limit memory to what is used now and `size` bytes more."""
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now + size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.slow
@named([kind for kind in KINDS.values() if kind.heavy])
def test_a_reply_has_a_greatest_size(kind):
    run(KINDS["gzip"])  # what is imported and begun now needs no room below
    with room(800 << 20):
        clean(run(kind, PROMPTS[:14], max_concurrency=1))
