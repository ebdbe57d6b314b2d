"""harness stories model=… n=100: natural stories for items of Corr2Cause, by a model, checked by rule.

A run like any other: cache, budget and resuming are those of `harness`. What it leaves besides is the file of stories.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from harness.cli import hydra_app
from harness.cli.key_value import exit_code
from harness.errors import ConfigError
from harness.runtime import console, signals

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from harness.storage.runs import Run

HELP = """\
A model writes natural stories for items of Corr2Cause's public test split, by the paper's query (Appendix B). Each is
read back by rule into variables, statements and a hypothesis, which have to be those of its item.

  harness stories model=gpt4o n=100                    writes stories.jsonl
  harness stories model=gpt4o n=100 out=mine.jsonl     elsewhere
  harness stories model=gpt4o dry_run=true             what would be asked, and for how much
  harness task=corr2cause/stories task.path=stories.jsonl model=gpt4o      asks a model about them

  n=                   how many items: a seeded sample; by default all 126 with two to four variables
  out=stories.jsonl    a line for each story that could be read: item, premise, hypothesis, explanation, the problems
                       that the check found, model, prompt
All else is as in `harness --help` (model=, budget.usd=, cache=, results=, task.num_nodes=, task.labels=, …).
"""
TASK = "corr2cause/writing"


def main() -> None:
    """Run the command."""
    signals.at_once(signals.sentence())
    words = sys.argv[1:]
    if {"-h", "--help"} & set(words):
        console.prepare_streams()
        signals.leave(exit_code(_help))
    out = next((word.removeprefix("out=") for word in reversed(words) if word.startswith("out=")), "stories.jsonl")
    if any(word.startswith("n=") and not word[2:].isdigit() for word in words):
        console.prepare_streams()
        console.complain("n= is the number of stories, such as n=20.")
        sys.exit(1)
    own = [f"task.limit={word.removeprefix('n=')}" if word.startswith("n=") else word for word in words]
    sys.argv[1:] = [f"task={TASK}", *(word for word in own if not word.startswith("out="))]
    signals.leave(hydra_app.launch(partial(job, out=out), "config"))


def _help() -> int:
    print(HELP, end="")
    return 0


def job(config: DictConfig, *, out: str) -> int:
    """Let a model write the stories, and keep those that can be read; return the exit code."""
    from harness.__main__ import run_one
    from harness.runtime.secrets import refuse_config
    from harness.settings import build, plain
    from harness.storage import runs
    from harness.storage.atomic_write import atomic_file, check

    refuse_config(plain(config))
    if config.task.get("name") != TASK:
        raise ConfigError(f"stories are written for task={TASK}: leave task= out (task.num_nodes= can stay).")
    check(out)
    folder = run_one(config, brief=False)
    if config.dry_run:
        return 0
    task = build(plain(config.task), "task")
    stories = list(_stories(task, runs.load(folder)))
    with atomic_file(out) as file:
        file.writelines(f"{json.dumps(story, ensure_ascii=False)}\n" for story in stories)
    if stories:
        print(", ".join(f"{name} {value}" for name, value in task.statistics(stories).items()))
    wrong = sum(bool(story["problems"]) for story in stories)
    print(
        f"{out}: {len(stories):,} stories; {wrong:,} of them have problems, which task=corr2cause/stories leaves out."
    )
    return 0


def _stories(task: Any, run: Run) -> Iterator[dict[str, object]]:
    """Yield a line for each story of a run, in the order of its records, with what wrote it."""
    configuration = run.configuration
    prompt = {"name": run.place["prompt"], "words": run.manifest.words}
    for story in task.written(run.records()):
        yield {**story, "model": configuration.get("model"), "prompt": prompt}


if __name__ == "__main__":
    main()
