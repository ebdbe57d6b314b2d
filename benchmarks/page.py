"""The page at many answers, in Chromium: from a key stroke or a choice to the painted list.

python benchmarks/page.py [--items 20000] [--rounds 5] [--runs FOLDER]

Two models behind a local server answer a sample of Corr2Cause's training split at length (minutes; --runs keeps them,
or takes those that are there). Their page is opened at one run, then with the second beside it. What is measured goes
from the event to the end of the next frame; `handler` is the page's own part. Nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests" / "browser")]
RESULTS = HERE / "results" / "page.json"
LIMIT = 100.0  # milliseconds
SEARCHES = ("c", "co", "col", "coll", "collider", "collider at", "zzz", "answer: yes", "")
CHOICES = (
    ("Relation", "parent"),
    ("Outcome", "wrong"),
    ("Number of variables", "6"),
    ("Relation", ""),
    ("Outcome", ""),
    ("Number of variables", ""),
)
STEP = """async ([what, name, value]) => {
  const select = what === "choice";
  const field = document.querySelector(select ? `select[name="${name}"]` : "input[type=search]");
  field.value = value;
  const start = performance.now();
  field.dispatchEvent(new Event(select ? "change" : "input"));
  const handled = performance.now();
  await new Promise((then) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = then;
    port2.postMessage(0);
  }));
  const painted = performance.now() - start;
  return { handler: handled - start, painted, left: document.querySelector(".answer-count").textContent };
}"""


def make(folder: Path, items: int) -> None:
    """Two runs of so many items."""
    import made_runs

    os.environ.setdefault("OPENAI_API_KEY", "unused")
    server = made_runs.Server(lambda path, body, number: made_runs.says(body))
    try:
        for model in made_runs.SKILL:
            made_runs._run(
                folder, *made_runs._api(server, model), "prompt=cot", "task.split=train", f"task.limit={items}"
            )
    finally:
        server.close()


def measure(page, address: str, rounds: int) -> list[dict]:
    page.goto("about:blank")
    page.goto(address)
    page.locator("[role=grid] tr[data-place]").first.wait_for()
    steps = [("search", "", text) for text in SEARCHES] + [("choice", *choice) for choice in CHOICES]
    found: dict[tuple[str, ...], list[dict]] = {step: [] for step in steps}
    for _ in range(rounds):
        for step in steps:
            found[step].append(page.evaluate(STEP, list(step)))
            time.sleep(0.05)
    return [
        {
            "step": f"{what} {name} {value!r}".replace("  ", " "),
            "left": told[0]["left"],
            **{part: [round(one[part], 1) for one in told] for part in ("handler", "painted")},
        }
        for (what, name, value), told in found.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=Path)
    given = parser.parse_args()
    from facts import page_data
    from playwright.sync_api import sync_playwright

    from harness.report.__main__ import main as report

    with tempfile.TemporaryDirectory() as scratch:
        runs = given.runs or Path(scratch) / "runs"
        if not runs.exists():
            make(runs, given.items)
        out = Path(scratch) / "report.html"
        report([str(runs), f"out={out}"])
        with sync_playwright() as player:
            path = os.environ.get("CHROMIUM") or shutil.which("chromium")
            browser = player.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(out.as_uri())
            page.locator("main h1").wait_for()
            runs_shown = page_data(out)["runs"]
            ids = [run["id"] for run in runs_shown]
            count = runs_shown[0]["answers"]["count"]
            address = f"{out.as_uri()}#/answers/{quote(ids[0], safe='')}"
            shown = {
                "one run": measure(page, address, given.rounds),
                "two runs": measure(page, f"{address}?vs={quote(ids[1], safe='')}", given.rounds),
            }
            version = browser.version
            browser.close()
        size = out.stat().st_size
    found = {
        "answers": count,
        "page_bytes": size,
        "chromium": version,
        "processor": platform.processor(),
        "cores": os.cpu_count(),
    }
    for name, steps in shown.items():
        for part in ("handler", "painted"):
            every = [one for step in steps for one in step[part]]
            slowest = max(steps, key=lambda step: statistics.median(step[part]))
            told = {
                "median": round(statistics.median(every), 1),
                "slowest step": slowest["step"],
                "its median": round(statistics.median(slowest[part]), 1),
                "worst": max(every),
            }
            found[f"{name}, {part}"] = told
            print(f"{name}, {part}: {told} (limit {LIMIT:.0f} ms)")
    RESULTS.write_text(json.dumps(found | {"milliseconds": shown}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
