"""harness finetune recipe=…: a checkpoint, or a model at a server, that is evaluated like any other."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harness.cli import hydra_app
from harness.errors import ConfigError, HarnessError
from harness.runtime import console, signals

if TYPE_CHECKING:
    from harness.cli.multirun import Multirun


def job(config: Any) -> int:
    """Train a checkpoint, or have a server do it, as one config says; return the exit code."""
    from harness.plugins.train.recipe import leads
    from harness.runtime.secrets import refuse_config
    from harness.settings import plain

    settings = plain(config)
    refuse_config(settings)
    if _is_hosted(settings):
        from harness.plugins.train.hosted_job import make_hosted

        signals.say_instead("interrupted: nothing was sent.")
        lines = make_hosted(settings)
    else:
        from harness.plugins.train.make import make

        lines = make(settings).lines
    if leads() and lines:
        print("\n".join(lines))
    return 0


def _is_hosted(settings: Mapping[str, Any]) -> bool:
    from harness.plugins.train.hosted import HostedRecipe
    from harness.settings import class_of

    target = class_of(str(settings["recipe"].get("_target_")), "recipe")
    return isinstance(target, type) and issubclass(target, HostedRecipe)


def grid(multirun: Multirun) -> int:
    """Train a checkpoint for each combination, such as Appendix A's grid, one by one; return the exit code.

    Finished checkpoints are kept. Prints all points, the best one on dev, never on test, last.
    """
    from harness.plugins.train.make import FinishedCheckpoint, make
    from harness.settings import plain

    if multirun.launcher is not None:
        raise ConfigError(
            "hydra/launcher=: points of a grid are made one after the other; start several commands instead."
        )
    values: dict[str, set[str]] = {}
    for job in multirun.jobs:
        for name, value in job.settings().items():
            values.setdefault(name, set()).add(value)
    swept = {name for name, several in values.items() if len(several) > 1}
    finished: list[tuple[str, FinishedCheckpoint]] = []
    for job in multirun.jobs:
        point = " ".join(f"{name}={value}" for name, value in job.settings().items() if name in swept)
        print(f"[{job.number + 1}/{len(multirun.jobs)}] {point}", file=sys.stderr)
        try:
            with multirun.as_running(multirun.compose(job.overrides, job.number)) as config:
                finished.append((point, make(plain(config))))
        except HarnessError as error:  # the other points are still trained
            console.complain(error)
    # The best one last; max takes the first of equals.
    for point, checkpoint in sorted(finished, key=lambda pair: pair[1].score):
        print(f"{100 * checkpoint.score:6.2f}  {point}  {checkpoint.folder}")
    if finished:
        best_point, best = max(finished, key=lambda pair: pair[1].score)
        print("\n".join([f"best on dev: {best_point}", *best.lines]))
    return 0 if len(finished) == len(multirun.jobs) else 1


_FINETUNE = """\
A checkpoint trained on a task's train split, which model=nli or model=causal_lm evaluates like any other
(docs/finetuning.md)

  harness finetune recipe=roberta_large_mnli                        a row of Table 5a
  harness finetune recipe=nli recipe.path=FOLDER                    any encoder; recipe=causal_lm: any decoder
  harness finetune recipe=llama2_7b recipe.lora.r=16                low-rank adapters, merged at the end
  harness finetune recipe=decoder_8b recipe.path=NAME               adapters beside a base in 4 bits (QLoRA)
  harness finetune recipe=bert_base task.perturbation=permutation   other names of the variables in each pass
  harness finetune recipe=openai task.limit=1000                    over an API: what it costs; submit=true does it
  harness finetune -m recipe=roberta_large recipe.learning_rate=2e-6,5e-6,1e-5 recipe.dropout=0,0.1
                                              a grid: the best point is chosen on dev
"""

_FINETUNE_REST = (
    "The settings of a job at a server: harness finetune --help recipe=openai. The task's: harness --help task=NAME."
)


def help_text() -> str:
    """Return the help: examples, the command's settings, the recipes and the settings of one."""
    from harness.cli.help_text import group_text, settings_text
    from harness.config_files import CONFIGS, listed, root_file

    recipe = settings_text("recipe", listed(CONFIGS, "recipe")["nli"], "recipe.")
    return "\n".join(
        [_FINETUNE, settings_text("finetune", root_file("finetune")), group_text("recipe"), recipe, _FINETUNE_REST]
    )


def main() -> None:
    signals.at_once(signals.sentence("the last checkpoint of the training is kept"))
    signals.leave(hydra_app.launch(job, "finetune", grid))


if __name__ == "__main__":
    main()
