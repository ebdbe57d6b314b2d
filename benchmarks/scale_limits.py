"""Where each part of a run breaks, up to 10^9 items: straight lines from what an item costs on this machine.

python benchmarks/scale_limits.py            the table, results/scale_limits.json and docs/images/scale_limits.png
python benchmarks/scale_limits.py --measure  measures bytes and memory of an item first, into results/scale_bytes.json

Seconds of an item are those of results/scale_costs.json (benchmarks/scale.py --measure). A part breaks where it takes
longer than a day, or more than the memory or the disk of one machine; the limits are options. Lines, not
measurements: what was measured is said beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scale import COSTS

HERE = Path(__file__).resolve().parent
BYTES, RESULTS = HERE / "results" / "scale_bytes.json", HERE / "results" / "scale_limits.json"
FIGURE = HERE.parent / "docs" / "images" / "scale_limits.png"
SIZES = tuple(10**power for power in range(5, 10))
FEW, MANY = 5_000, 30_000


@dataclass(frozen=True)
class Part:
    """A part of a run, and what it takes of one thing that a machine has only so much of."""

    name: str
    resource: str
    unit: str
    start: float
    """What it takes without any item."""
    item: float
    """What each item adds."""
    limit: float

    def of(self, items: int) -> float:
        return self.start + self.item * items

    @property
    def breaks_at(self) -> int:
        """The items at which it takes more than there is."""
        return int((self.limit - self.start) / self.item)


def parts(costs: dict[str, float], sizes: dict[str, float], limits: argparse.Namespace) -> list[Part]:
    """Return the parts of a run from its first item to its scores. Processes work side by side, one writer does not."""
    workers, rate = limits.workers, limits.rate
    hours = {
        f"asking, {workers} workers of {rate:g} answers a second": max(1 / rate, costs["answer"]) / workers,
        f"every worker makes all items, {workers} workers": costs["generate"],
        "import, one writer": costs["store"],
        "last pass, one process": costs["generate"] + costs["score"],
        f"last pass over parts, {workers} processes": (costs["generate"] + costs["score"]) / workers,
    }
    in_time = [
        Part(name, "time", "h", costs["start"] / 3600, each / 3600, limits.hours) for name, each in hours.items()
    ]
    memory = Part(
        "memory of the last pass, each item a cluster", "memory", "GB",
        sizes["memory_start"] / 1e9, sizes["memory"] / 1e9, limits.memory,
    )  # fmt: skip
    files = {"cache, one file": sizes["cache"], "records, one file": sizes["records"]}
    return [*in_time, memory, *(Part(name, "disk", "GB", 0, each / 1e9, limits.disk) for name, each in files.items())]


def table(rows: Sequence[Part]) -> Iterator[str]:
    """Yield a table of what each part takes at each size, and where it breaks."""
    yield f"| part | limit | {' | '.join(f'{size:.0e}'.replace('e+0', '0^') for size in SIZES)} | breaks at |"
    yield f"| --- | --- |{' ---: |' * (len(SIZES) + 1)}"
    for part in sorted(rows, key=lambda part: part.breaks_at):
        cells = [f"{float(f'{part.of(size):.2g}'):,g} {part.unit}" for size in SIZES]
        yield f"| {part.name} | {part.limit:g} {part.unit} | {' | '.join(cells)} | {part.breaks_at:.1e} |"


def figure(rows: Sequence[Part], file: Path) -> None:
    """Draw what each part takes by items, time and bytes apart, with a ring where it breaks."""
    from matplotlib.figure import Figure

    from harness.plot.draw import COLOURS, GREY, WIDTHS, style

    panels = {"time": 0, "memory": 1, "disk": 1}
    with style():
        sheet = Figure(figsize=(WIDTHS["text"], 3.9), layout="constrained")
        axes = sheet.subplots(1, 2)
        for place, part in enumerate(rows):
            own = axes[panels[part.resource]]
            colour, marker = COLOURS[place % len(COLOURS)], "osD^vPX"[place % 7]
            own.plot(SIZES, [part.of(size) for size in SIZES], color=colour, marker=marker, label=part.name)
            own.axhline(part.limit, color=GREY, linewidth=0.5, linestyle=":")
            if part.breaks_at <= SIZES[-1]:
                own.plot(part.breaks_at, part.limit, marker="o", markersize=9, color=colour, markerfacecolor="none")
        hours, room = (0.001, 0.01, 0.1, 1, 10, 100), (0.1, 1, 10, 100, 1000)
        for own, name, ticks in zip(axes, ("hours", "GB of memory or disk"), (hours, room), strict=True):
            own.set(xscale="log", yscale="log", xlabel="items", ylabel=name)
            own.set_xticks(SIZES, ["100,000", "1 million", "10 million", "100 million", "1 billion"], rotation=30)
            own.set_yticks(ticks, [f"{tick:,g}" for tick in ticks])
            own.set_xticks([], minor=True)
            own.set_yticks([], minor=True)
            own.grid(color="#E6E6E6", linewidth=0.5)
        sheet.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=7)
        note = "rings: where a part takes more than its limit (dotted)"
        sheet.suptitle(note, color=GREY, fontsize=7, x=0.01, ha="left")
        sheet.savefig(file, dpi=200, metadata={"Software": None})


def measured() -> dict[str, Any]:
    """Return the bytes that an item takes in a cache and in records, and of memory where each item is a cluster."""
    sizes = {}
    with tempfile.TemporaryDirectory() as made:
        mock = subprocess.Popen(
            [sys.executable, str(HERE / "mock_server.py"), "--latency", "0.001"], stdout=subprocess.PIPE, text=True
        )
        try:
            assert mock.stdout is not None
            address = f"http://127.0.0.1:{mock.stdout.readline().strip()}/v1"
            for items in (FEW, MANY):
                folder = Path(made) / str(items)
                folder.mkdir()
                sizes[items] = _sizes(folder, address, items)
        finally:
            mock.terminate()
            mock.wait()
    few, many = sizes[FEW], sizes[MANY]
    slope = {name: (many[name] - few[name]) / (MANY - FEW) for name in few}
    start = few["memory"] - slope["memory"] * FEW
    return {
        "bytes": {**slope, "memory_start": start},
        "measured": {"items": [FEW, MANY], "python": sys.version.split()[0]},
    }


def _sizes(folder: Path, address: str, items: int) -> dict[str, int]:
    """Return the bytes of a run over short questions, each a cluster of its own, and of its last pass's memory."""
    questions = folder / "questions.jsonl"
    with questions.open("w", encoding="utf-8") as file:
        for number in range(items):
            row = {"id": str(number), "question": f"Does {number} cause {number + 1}? Yes or no.", "label": number % 2}
            file.write(json.dumps(row) + "\n")
    command = ["harness", "task=questions", f"task.path={questions}", "model=openai", "model.model=mock"]
    for _ in range(2):  # asked, then from its cache: the last pass
        variables = {**os.environ, "OPENAI_API_KEY": "none", "PYTHONPATH": str(HERE.parent)}
        process = subprocess.Popen(
            [sys.executable, "-m", *command, f"model.base_url={address}"], cwd=folder, env=variables,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        assert status == 0, command
    (records,) = folder.glob("results/**/records.jsonl*")
    cache = sum(file.stat().st_size for file in folder.glob(".cache/*"))
    return {"cache": cache, "records": records.stat().st_size, "memory": usage.ru_maxrss * 1024}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="measure the bytes of an item first")
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--rate", type=float, default=20.0, help="answers a second of each worker's server")
    parser.add_argument("--hours", type=float, default=24.0, help="for any part")
    parser.add_argument("--memory", type=float, default=64.0, help="GB of the machine that scores")
    parser.add_argument("--disk", type=float, default=1000.0, help="GB for one file")
    limits = parser.parse_args()
    if limits.measure:
        BYTES.write_text(json.dumps(measured(), indent=1) + "\n", encoding="utf-8")
    costs = json.loads(COSTS.read_text(encoding="utf-8"))["seconds"]
    sizes = json.loads(BYTES.read_text(encoding="utf-8"))["bytes"]
    rows = parts(costs, sizes, limits)
    print("\n".join(table(rows)))
    found = [{"part": part.name, "limit": part.limit, "unit": part.unit, "breaks_at": part.breaks_at} for part in rows]
    RESULTS.write_text(json.dumps({**vars(limits), "parts": found}, indent=1) + "\n", encoding="utf-8")
    figure(rows, FIGURE)


if __name__ == "__main__":
    main()
