"""Training and evaluating the small models that ship, beside a plain script on transformers' Trainer.

python benchmarks/training.py [--items 6400] [--runs 3] [--threads 1]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
SHIPPED = HERE.parent / "harness" / "data" / "models"


def training(items: int, runs: int, threads: int) -> dict[str, list[float]]:
    """Items a second: the harness's training of recipe=tiny, and a plain script on the same batches."""
    import torch

    from harness.plugins.train import loop
    from harness.plugins.train.learners import fit_counts
    from harness.runtime.progress import Progress

    torch.set_num_threads(threads)
    rates: dict[str, list[float]] = {"harness finetune": [], "a plain script on the Trainer": []}
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as name:
            learner, lessons, recipe = _lessons(items, Path(name))
            fit_counts(learner, lessons, recipe, Progress("count"))
            batches = list(_batches(lessons, recipe))
            file = Path(name, "batches.jsonl")
            file.write_text("".join(f"{json.dumps(batch)}\n" for batch in batches))
            count = sum(len(batch["label"]) for batch in batches)
            started = time.perf_counter()
            loop.train(learner, lessons, recipe, Path(name, "work"), Progress("train"), "float32")
            rates["harness finetune"].append(count / (time.perf_counter() - started))
            script = [sys.executable, str(HERE / "peers/trainer_script.py"), learner.path, str(file)]
            done = subprocess.run(
                [*script, str(recipe.learning_rate), str(threads)], check=True, capture_output=True, text=True
            )
            rates["a plain script on the Trainer"].append(count / float(done.stdout.split()[-1]))
    return rates


def _lessons(items: int, folder: Path):
    """The learner of recipe=tiny, one pass over so many items, with a base of its own; dev is all but left out."""
    from harness.cli import hydra_app, own_configs
    from harness.plugins.train.examples import Lessons, teaching_task
    from harness.plugins.train.make import learner_of
    from harness.plugins.train.scratch import make_base
    from harness.prompting.fit import choose_prompt, fitting
    from harness.settings import build, plain

    own_configs.register()
    settings = ("recipe=tiny", "recipe.epochs=1", "recipe.evaluations=1", f"task.limit={items}")
    config = plain(hydra_app.without_hydra(hydra_app.composed("finetune", settings)))
    recipe, task = build(config["recipe"], "recipe"), teaching_task(config["task"])
    learner = learner_of(recipe, "cpu", str(folder / "base"))
    prompt = choose_prompt(task, learner, None)
    lessons = Lessons(task, prompt, fitting(prompt, learner, task), recipe, dev_limit=24)
    make_base(recipe.scratch, lessons.texts(), recipe.seed, folder / "base")
    return learner, lessons, recipe


def _batches(lessons, recipe) -> Iterator[dict[str, list]]:
    from harness.plugins.train.examples import ByLength

    rows = lessons.epoch(0)
    order = list(ByLength(lessons.lengths, recipe.batch_size, recipe.seed))
    for k in range(0, len(order), recipe.batch_size):
        batch = [rows[place] for place in order[k : k + recipe.batch_size]]
        yield {
            "premise": [row.request.premise for row in batch],
            "hypothesis": [row.request.hypothesis for row in batch],
            "label": [row.label for row in batch],
        }


def evaluating(runs: int) -> dict[str, list[float]]:
    """Seconds of whole processes over the 1,162 items of the test split."""
    models = {"linear": "model=linear", "tiny, torch": "model=nli model.path=builtin:tiny model.dtype=float32"}
    seconds: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(runs):
        for name, words in models.items():
            with tempfile.TemporaryDirectory() as folder:
                command = [sys.executable, "-m", "harness", *words.split(), "cache=off"]
                started = time.perf_counter()
                subprocess.run(command, cwd=folder, check=True, capture_output=True)
                seconds[name].append(time.perf_counter() - started)
    return seconds


def to_ninety() -> Iterator[tuple[str, str]]:
    """Processor time until F1 on dev was 90, from the curves that ship."""
    for name in ("tiny", "tiny_renamed"):
        file = SHIPPED / name / "training.json"
        if not file.exists():
            continue
        made = json.loads(file.read_text())
        points = [point for point in made["curve"] if "eval_f1" in point]
        reached = [point["step"] for point in points if point["eval_f1"] >= 0.9]
        last = max(point["step"] for point in points)
        share = f"{made['processor_seconds'] * reached[0] / last:.0f}" if reached else "not reached"
        yield name, f"{share} of {made['processor_seconds']:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("items", 6400), ("runs", 3), ("threads", len(os.sched_getaffinity(0)))):
        parser.add_argument(f"--{name}", type=int, default=default)
    settings = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(settings.threads)
    rates, seconds = training(settings.items, settings.runs, settings.threads), evaluating(settings.runs)
    print("| training recipe=tiny, one pass | items a second |\n| --- | ---: |")
    for name, values in rates.items():
        print(f"| {name} | {statistics.median(values):.0f} |")
    print("\n| 1,162 items, whole process | seconds |\n| --- | ---: |")
    for name, values in seconds.items():
        print(f"| {name} | {statistics.median(values):.2f} |")
    print("\n| recipe | processor seconds to F1 90 on dev |\n| --- | ---: |")
    for name, text in to_ninety():
        print(f"| {name} | {text} |")
    results = {"items": settings.items, "threads": settings.threads, "items_a_second": rates, "seconds": seconds}
    (HERE / "results" / "training.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
