"""A sweep (-m) as a command line gives it: a job for every combination of the values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, cast

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from harness.cli.arguments import SWEEP
from harness.cli.hydra_app import composed, read_config
from harness.cli.setting_lines import choice_of
from harness.config_files import CONFIGS, listed, prompt_files
from harness.engine import Engine, engine, without_plugin
from harness.errors import ConfigError, unknown


@dataclass(frozen=True)
class Job:
    """One combination of a sweep's choices."""

    number: int
    overrides: tuple[str, ...]
    """Settings as Hydra takes them."""

    def __str__(self) -> str:
        return " ".join(re.sub(r"\\([\\:=,(){}\[\] \t])", r"\1", override) for override in self.overrides)

    def settings(self) -> dict[str, str]:
        pairs = (override.partition("=") for override in self.overrides)
        return {name.lstrip("+~"): value for name, _, value in pairs}


@dataclass(frozen=True)
class Multirun:
    """A sweep, as given on the command line."""

    config_name: str
    hydra_overrides: tuple[str, ...]
    """Settings of Hydra's own, which hold for all jobs."""
    jobs: tuple[Job, ...]
    glob_of_prompts: bool
    """Whether a glob names the prompts, so that those which do not fit are left out."""

    def compose(self, job: Job) -> dict[str, Any]:
        """Return the config of a job. Raises ConfigError for one that does not compose."""
        return composed(self.config_name, [*self.hydra_overrides, *job.overrides], job.number)

    def place(self) -> tuple[Path, Engine | None]:
        """Return the folder that the sweep asks for, and what starts its jobs; None: this process, one by one."""

        def read(config: DictConfig) -> tuple[Path, Any]:
            return Path(config.hydra.sweep.dir), OmegaConf.to_container(config.hydra.launcher, resolve=True)

        folder, settings = read_config(self.config_name, [*self.hydra_overrides, *self.jobs[0].overrides], read)
        name = settings.pop("engine", None)
        return folder, engine(name, "hydra.launcher", **settings) if name else None


def multirun(config_name: str, arguments: Sequence[str]) -> Multirun:
    """Return the sweep of a command line. Raises ConfigError for a launcher or a sweeper that others bring.

    These begin jobs before all are known to run.
    """
    names = _Names(choice_of("task", config_name, arguments))
    words = [word for word in arguments if word not in SWEEP]
    overrides = OverridesParser.create(cast(Any, names)).parse_overrides(words)
    of_hydra = [each for each in overrides if each.get_key_element().lstrip("+~").startswith("hydra")]
    for each in of_hydra:
        value = each.get_value_element_as_str()
        if each.get_key_element() == "hydra/sweeper" and value != "basic":
            raise ConfigError(
                f"hydra/sweeper={value} asks for results before all jobs are known: name the values of a sweep, as "
                "model.temperature=0,1 or choice(…), range(…), glob(…)."
            )
        launchers = listed(CONFIGS, "hydra/launcher")
        if each.get_key_element() == "hydra/launcher" and value not in launchers:
            raise ConfigError(
                unknown("hydra/launcher", value, launchers) if launchers else without_plugin("hydra/launcher=")
            )
    values = {each.get_key_element(): _values(each) for each in overrides if each not in of_hydra}
    jobs = tuple(Job(number, settings) for number, settings in enumerate(product(*values.values())))
    of_prompts = any(word.startswith("prompt=glob(") for word in words)
    return Multirun(config_name, tuple(str(each.input_line) for each in of_hydra), jobs, of_prompts)


def _values(override: Override) -> list[str]:
    """Return the setting once for each value that it is swept over."""
    key = override.get_key_element()
    if not override.is_sweep_override():
        return [f"{key}={override.get_value_element_as_str()}"]
    if not override.is_discrete_sweep():
        raise ConfigError(
            f"{override.input_line}: a sweep takes the values one by one, or choice(…), range(…), glob(…)."
        )
    if not (values := list(override.sweep_string_iterator())):
        raise ConfigError(f"{override.input_line} takes no name of {key}: write them one by one. No job was begun.")
    return [f"{key}={value}" for value in values]


class _Names:
    """What Hydra's parser asks for the names that a glob takes: those of a group or of a task's prompts."""

    def __init__(self, task: str) -> None:
        self._task = task

    def get_group_options(self, group_name: str, **_: Any) -> list[str]:
        return list(prompt_files(self._task) if group_name == "prompt" else listed(CONFIGS, group_name))
