"""harness finetune recipe=…: a checkpoint that is evaluated like any other; with -m one for each point of a grid."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from harness.cli import hydra_app
from harness.errors import HarnessError
from harness.runtime import console, signals

if TYPE_CHECKING:
    from harness.cli.launcher import Multirun

_HELP = """\
A checkpoint trained on a task's train split, which model=nli or model=causal_lm evaluates like any other

  harness finetune recipe=roberta_large_mnli                        a row of Table 5a
  harness finetune recipe=nli recipe.path=FOLDER                    any encoder; recipe=causal_lm: any decoder
  harness finetune recipe=llama2_7b recipe.lora.r=16                low-rank adapters, merged at the end
  harness finetune recipe=bert_base task.perturbation=permutation   other names of the variables in each pass
  harness finetune -m recipe=roberta_large recipe.learning_rate=2e-6,5e-6,1e-5
                                              a grid: the best point is chosen on dev
"""


def job(config: Any) -> int:
    """Train a checkpoint as one config says; return the exit code."""
    from harness_train.make import make

    print("\n".join(make(config).lines))
    return 0


def grid(multirun: Multirun) -> int:
    """Train a checkpoint for each combination, such as Appendix A's grid, and keep it; return the exit code.

    Prints all points, the best one on dev, never on test, last.
    """
    from harness_train.make import FinishedCheckpoint, make

    finished: list[tuple[str, FinishedCheckpoint]] = []
    for job in multirun.jobs:
        point = " ".join(f"{name}={value}" for name, value in job.settings().items())
        print(f"[{job.number + 1}/{len(multirun.jobs)}] {point}", file=sys.stderr)
        try:
            finished.append((point, make(hydra_app.composed_job(multirun, job))))
        except HarnessError as error:  # the other points are still trained
            console.complain(error)
    for point, checkpoint in sorted(finished, key=lambda pair: pair[1].f1):
        print(f"{100 * checkpoint.f1:6.2f}  {point}  {checkpoint.folder}")
    if finished:
        best_point, best = max(finished, key=lambda pair: pair[1].f1)
        print("\n".join([f"best on dev: {best_point}", *best.lines]))
    return 0 if len(finished) == len(multirun.jobs) else 1


def help_text() -> str:
    """Return the help: examples, the command's settings, the recipes and the settings of one."""
    from harness.cli.help_text import group_text, settings_text
    from harness.config_files import CONFIGS, listed, root_file

    recipe = settings_text("recipe=nli", listed(CONFIGS, "recipe")["nli"])
    return "\n".join([_HELP, settings_text("finetune", root_file("finetune")), group_text("recipe"), recipe])


def main() -> None:
    signals.at_once(signals.sentence("the last checkpoint of the training is kept"))
    signals.leave(hydra_app.launch(job, "finetune", grid))
