"""Mixes of faults as they come in practice, one run each: lost, asked twice, too early, seconds."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.fault_server import PASSING
from support.server import Program
from torture_processes import Kill, start, stored

_EIGHT = (
    "429 Retry-After 1", "429 Retry-After 0.2", "429 Retry-After 0", "429 retry-after-ms 60",
    "429 Retry-After of a date in a second", "429 Retry-After of a past date", "429 Retry-After of words",
    "503 Retry-After 0.2",
)  # fmt: skip
_SEVENTEEN = (*(name for name in PASSING if name != "429 seconds"), "gzip garbage", "chunk size not hexadecimal",
              "closed in the head", "JSON with a trailing comma")  # fmt: skip
_RATES = [[0, 200], [2, 50], [8, 400]]


@dataclass(frozen=True)
class Mix:
    """What the server does, and further settings of the command."""

    faults: Mapping[str, Any]
    settings: tuple[str, ...] = ()
    items: int | None = 600
    """None: all 1,162."""
    forgiven: bool = field(default=False)
    """Some items fail by name, as they have to."""


MIXES: Mapping[str, Mix] = {
    "40% bare 429": Mix({"mix": {"429": 0.4}, "in_a_row": 10**6}, ("model.attempts=100",)),
    "40% bare 429 three in a row": Mix({"mix": {"429": 0.4}, "in_a_row": 3}),
    "eight forms of Retry-After": Mix({"mix": dict.fromkeys(_EIGHT, 0.06), "in_a_row": 3}),
    "eight forms and 10^9": Mix(
        {"mix": dict.fromkeys(_EIGHT, 0.06) | {"429 Retry-After of 10^9": 0.01}, "in_a_row": 3}, forgiven=True
    ),
    "200/s then 50/s then 400/s": Mix({"rates": _RATES}, items=None),
    "200/s then 50/s then 400/s with Retry-After": Mix({"rates": _RATES, "retry_after": "1"}, items=None),
    "200/s": Mix({"rates": [[0, 200]]}, items=None),
    "latency 50 ms then 5 s": Mix({"latency": 0.05, "latency_later": [0.5, 5.0]}),
    "503 first": Mix({"all_first": "503"}),
    "17 passing faults": Mix({"mix": dict.fromkeys(_SEVENTEEN, 0.03), "in_a_row": 3}),
    "429 above 10 in flight": Mix({"most_in_flight": 10, "latency": 0.05}),
    "waits resets and hangs": Mix(
        {"mix": {"429 Retry-After 1": 0.2, "reset before the reply": 0.1, "hangs before the reply": 0.01}},
        ("model.timeout=3",),
        forgiven=True,
    ),
    **{f"away {s} s": Mix({"away": [80, s], "latency": 0.05}) for s in (0.3, 1, 3, 8)},
}


@dataclass
class Row:
    """The outcome of one mix."""

    name: str
    items: int
    failed: int
    lost: int
    twice: int
    early: int
    seconds: float
    code: int | None
    sentence: str

    @property
    def sound(self) -> bool:
        """Whether nothing is against the promises."""
        completed = self.code == 0 or (MIXES[self.name].forgiven and "may pass" in self.sentence)
        return completed and not (self.lost or self.twice or self.early)


def measure(server: Program, name: str, model: list[str]) -> Row:
    """Run the command once under a mix."""
    mix = MIXES[name]
    limit = [] if mix.items is None else [f"task.limit={mix.items}"]
    arguments = [
        *model, f"model.base_url={server.root}/v1", "prompt=plain", "cache.path=answers.sqlite", *limit, *mix.settings,
    ]  # fmt: skip
    before = server.seen()
    server.set(**mix.faults)
    with tempfile.TemporaryDirectory() as place:
        (code,) = start(arguments, Path(place), [Kill()])
        now, texts = server.seen(), stored(Path(place) / "answers.sqlite")
        output = (Path(place) / "said.txt").read_text().strip().splitlines()
    answered = {p: n - before["answered"].get(p, 0) for p, n in now["answered"].items()}
    delivered = {p for p, n in answered.items() if n}
    first, last = now["times"]
    items = mix.items or 1162
    return Row(
        name=name,
        items=items,
        failed=items - len(texts),
        lost=len(delivered - set(texts)),
        twice=sum(n - 1 for n in answered.values() if n > 1),
        early=now["early"] - before["early"],
        seconds=last - first,
        code=code,
        sentence=output[-1] if code else "",
    )


def table(rows: list[Row]) -> str:
    """Return the mixes as a Markdown table."""
    head = (
        "| mix | items | failed by name | lost | asked twice | early | first to last request | |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n"
    )
    lines = (
        f"| {row.name} | {row.items:,} | {row.failed} | {row.lost} | {row.twice} | {row.early} | {row.seconds:.1f} s | "
        f"{row.sentence[:120]} |"
        for row in rows
    )
    return head + "\n".join(lines)
