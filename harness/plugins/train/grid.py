"""A sweep over settings of a recipe, such as Appendix A's grid: the best point is chosen on dev, never on test."""

from __future__ import annotations

import sys

from harness.cli.multirun import Multirun
from harness.errors import ConfigError, HarnessError
from harness.plugins.train.make import Made, make
from harness.runtime import console
from harness.settings import plain


def grid(multirun: Multirun) -> int:
    """Make a checkpoint of each combination, one after the other; return the exit code, 1 where one has failed.

    Those that are there already are not made again. Prints all points, the best one on dev last.
    """
    if multirun.launcher is not None:
        raise ConfigError(
            "hydra/launcher=: points of a grid are made one after the other; start several commands instead."
        )
    values: dict[str, set[str]] = {}
    for job in multirun.jobs:
        for name, value in job.settings().items():
            values.setdefault(name, set()).add(value)
    swept = {name for name, several in values.items() if len(several) > 1}
    made: list[tuple[str, Made]] = []
    for job in multirun.jobs:
        point = " ".join(f"{name}={value}" for name, value in job.settings().items() if name in swept)
        print(f"[{job.number + 1}/{len(multirun.jobs)}] {point}", file=sys.stderr)
        try:
            with multirun.as_running(multirun.compose(job.overrides, job.number)) as config:
                made.append((point, make(plain(config))))
        except HarnessError as error:  # the other points are made all the same
            console.complain(error)
    # The best one last; max takes the first of equals.
    for point, checkpoint in sorted(made, key=lambda pair: pair[1].score):
        print(f"{100 * checkpoint.score:6.2f}  {point}  {checkpoint.folder}")
    if made:
        best_point, best = max(made, key=lambda pair: pair[1].score)
        print("\n".join([f"best on dev: {best_point}", *best.lines]))
    return 0 if len(made) == len(multirun.jobs) else 1
