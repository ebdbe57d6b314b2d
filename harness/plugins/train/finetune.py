"""python -m harness.finetune recipe=…: a checkpoint, or a model at a server, that is evaluated like any other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harness.cli import hydra_app
from harness.runtime import signals

if TYPE_CHECKING:
    from harness.cli.multirun import Multirun


def job(config: Any) -> int:
    """Make what one config describes: a checkpoint, or a job at a server; return the exit code."""
    from harness.plugins.train.processes import leads
    from harness.runtime.secrets import refuse_config
    from harness.settings import plain

    settings = plain(config)
    refuse_config(settings)
    lines = _at_a_server(settings) if _is_hosted(settings) else _here(settings)
    if leads() and lines:
        print("\n".join(lines))
    return 0


def sweep(multirun: Multirun) -> int:
    """Make a checkpoint of each combination, and tell the one that is best on dev; return the exit code."""
    from harness.plugins.train.grid import grid

    return grid(multirun)


def _is_hosted(settings: Mapping[str, Any]) -> bool:
    from harness.plugins.train.hosted import HostedRecipe
    from harness.settings import class_of

    target = class_of(str(settings["recipe"].get("_target_")), "recipe")
    return isinstance(target, type) and issubclass(target, HostedRecipe)


def _at_a_server(settings: Mapping[str, Any]) -> list[str]:
    from harness.plugins.train.hosted import make_hosted

    signals.say_instead("interrupted: nothing was sent.")
    return make_hosted(settings)


def _here(settings: Mapping[str, Any]) -> list[str]:
    from harness.plugins.train.make import make

    return make(settings).lines


def main() -> None:
    """Run the command."""
    signals.at_once(signals.sentence("the last checkpoint of the training is kept"))
    signals.leave(hydra_app.launch(job, "finetune", sweep))


if __name__ == "__main__":
    main()
