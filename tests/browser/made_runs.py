"""Real runs of every kind that the page shows: python tests/browser/made_runs.py FOLDER makes them to look at.

Two models behind a local server that reason at length, are paid for, and now and then say what cannot be read, are
refused, or reply with markup; baselines, the reasoner and an algorithm; one run that was cut short, one with several
replies to each item, one of a model whose name is markup and which is refused everything, and one that has lost its
records.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from support.openai_server import Reply, Server, chat_reply, error
from support.page_help import run

from harness.causal.learned_graph import Pattern
from harness.run import leave
from harness.runtime.progress import Progress
from harness.storage.configuration import folder_of, of_algorithm
from harness.storage.manifest import Manifest, TracedItems, provenance
from harness.storage.run_folder import Folder
from harness.tasks.causalbench import Causality
from harness.tasks.causalbench.networks import load

HOSTILE = (
    "<script>window.owned = true</script><img src=x onerror='window.owned = true'> No",
    "</script><script>window.owned = true</script><!-- Yes -->",
    "[click](javascript:window.owned=true) &lt;b&gt; \u202eesrever\u202c \u2028 \x07 No " + "W" * 5000,
    "<iframe srcdoc='<script>parent.owned = true</script>'></iframe> <style>*{display:none}</style> Yes",
)
OWNED = "<img src=x onerror='window.owned=true'>"
"""The name of a model."""
SKILL = {"careful": 0.85, "hasty": 0.6}
OPENINGS = ("Let us see.", "First, the premise.", "I go through the statements.", "Consider the graph.")
TURNS = (
    "{a} and {b} stay dependent whatever is given, so there is an edge between them.",
    "Given {b}, {a} becomes independent, which speaks for a chain or a fork.",
    "A collider at {b} would open the path once we condition on it.",
    "The direction between {a} and {b} cannot be told from these statements alone.",
    "Every graph of the class has the same skeleton, so {a} next to {b} is settled.",
    "There may be a common cause of {a} and {b}.",
)


def answer(body: dict[str, Any]) -> Reply:
    """A reply that depends on model and words alone."""
    question = body["messages"][-1]["content"]
    draw = random.Random(hashlib.sha256(f"{body['model']} {question}".encode()).digest())
    lot = draw.random()
    if lot < 0.01 or body["model"] == "refused":
        return error(400, "The prompt was filtered.", "content_filter")
    if lot < 0.05:
        return chat_reply(draw.choice(HOSTILE))
    if lot < 0.08:
        return chat_reply("It depends on what is meant by a cause here.")
    names = re.findall(r"\b[A-Z]\b", question) or ["X", "Y"]
    words = " ".join(
        draw.choice(TURNS).format(a=draw.choice(names), b=draw.choice(names)) for _ in range(draw.randint(3, 9))
    )
    verdict = "No" if draw.random() < SKILL.get(body["model"], 0.5) else "Yes"
    text = f"{draw.choice(OPENINGS)} {words}\n\nAnswer: {verdict}."
    if lot > 0.9:  # the words that decide stand at the beginning, or between signs of emphasis
        text = f"{verdict}. I know: {words} Nobody else would." if lot > 0.95 else f"{words}\n**Answer:**  *{verdict}*."
    reply = chat_reply(text)
    tokens = len(words.split()) * (2 if body["model"] == "careful" else 1)
    return reply | {"usage": {"prompt_tokens": 300, "completion_tokens": tokens, "total_tokens": 300 + tokens}}


def make(folder: Path, limit: int | None = 200) -> Path:
    """Leaves the runs below the folder; `limit` items of Corr2Cause each. The folder."""
    os.environ.setdefault("OPENAI_API_KEY", "unused")
    server = Server(lambda path, body, number: answer(body))
    try:
        _corr2cause(folder, server, f"task.limit={limit or 'null'}")
        _causalbench(folder, server)
    finally:
        server.close()
    return folder


def _corr2cause(folder: Path, server: Server, limit: str) -> None:
    for perturbation in ("none", "paraphrase", "refactorization", "permutation"):
        for name in SKILL if perturbation != "permutation" else ["careful"]:
            run(folder, *_api(server, name), "prompt=cot", limit, f"task.perturbation={perturbation}")
    run(folder, *_api(server, "careful"), "prompt=cot", "task.limit=6", "samples=3", "model.temperature=0.7")
    run(folder, *_api(server, "refused"), f'model.name="{OWNED}"', "prompt=cot", "task.limit=6")
    for model in ("always_no", "hypothesis_only", "random_uniform", "reasoner"):
        run(folder, f"model={model}", limit)
    stopped = Server(lambda path, body, number: answer(body) if number < 20 else error(401, "The key is not valid."))
    try:
        run(folder, *_api(stopped, "stopped"), "prompt=cot", limit)
    finally:
        stopped.close()


def _causalbench(folder: Path, server: Server) -> None:
    networks = "task.networks=[asia,cancer]"
    for settings in (_api(server, "hasty"), ["model=random_uniform"], ["model=always_yes"]):
        run(folder, *settings, "task=causalbench/causality", "task.method=2", networks)
    run(folder, "model=column_order", "task=causalbench/causality", "task.format=data", "task.networks=[asia]")
    run(folder, "model=random_uniform", "task=causalbench/skeleton", networks)
    run(folder, "model=always_yes", "task=causalbench/causality", "task.method=1", "task.networks=[alarm]")
    next(folder.rglob("networks=alarm/**/records.jsonl")).unlink()
    _learned(folder)


def _learned(folder: Path) -> None:
    """Leave the run of an algorithm that learns the true graphs but for one node's causes."""
    task = Causality("causalbench/causality", ("closed",), networks=("asia", "cancer"), method=2)
    algorithm = SimpleNamespace(name="hc", identity={"kind": "hill climbing"})
    place, configuration = of_algorithm(task, algorithm, 500, 0)
    manifest = Manifest(run=place, configuration=configuration, role="algorithm", **provenance({}))
    items, there = TracedItems(task.items()), Folder(path=folder_of(str(folder), place), manifest=manifest)
    answered = task.learned(items, lambda network: Pattern.of((*load(network).dag[:-1], 0)))
    leave(task, items, answered, there, Progress("hc"))


def _api(server: Server, name: str) -> list[str]:
    price = ["model.price.input=2.5", "model.price.output=10"]
    return ["model=openai", f"model.model={name}", f"model.name=org/{name}", f"model.base_url={server.url}", *price]


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200)
