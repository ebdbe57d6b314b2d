"""How Hydra carries out -m: all combinations are handed on together, and none is begun by Hydra itself.

Hydra's own sweeper would compose every job twice and leave a folder for a sweep that cannot run; its own launcher
begins the first job before it looks at the last.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf

from harness.cli.setting_lines import choice_of
from harness.config_files import CONFIGS, listed, prompt_files
from harness.engine import Engine, engine, without_plugin
from harness.errors import ConfigError, unknown

_PLUGINS = "hydra_plugins.harness"  # Hydra accepts plugins of `hydra_plugins` alone


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
    """A sweep, as given on the command line: what all jobs share of Hydra's own, where it leaves its files.

    The engine starts the jobs; None: this process, one after the other. A glob of prompts leaves out what does not fit.
    """

    jobs: tuple[Job, ...]
    config_name: str
    hydra_overrides: list[str]
    folder: Path
    engine: Engine | None
    glob_of_prompts: bool


class Combinations(Sweeper):
    """Every combination of the command's settings, of which Hydra itself has seen a part, handed on at once."""

    __module__ = _PLUGINS

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.config, self._settings = config, cast(Any, task_function).swept
        self.launcher = Plugins.instance().instantiate_launcher(hydra_context, task_function, config)

    def sweep(self, arguments: list[str]) -> Any:
        assert self.config is not None and self.launcher is not None
        prompts = prompt_files(choice_of("task", self.config.hydra.job.config_name, self._settings))
        names = SimpleNamespace(  # which a glob takes: those of a group, or of the task's prompts
            get_group_options=lambda group, **_: list(prompts if group == "prompt" else listed(CONFIGS, group))
        )
        overrides = OverridesParser.create(cast(Any, names)).parse_overrides(self._settings)
        values = {override.get_key_element(): _values(override) for override in overrides}
        return self.launcher.launch(list(product(*values.values())), initial_job_idx=0)


class Together(Launcher):
    """Hands all jobs to the command, which prepares each of them before the first is begun."""

    __module__ = _PLUGINS

    def __init__(self, engine: str = "", **settings: Any) -> None:
        """`engine` is the name of what starts the jobs, with its settings; "" for this process."""
        self._engine, self._settings = engine, settings

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self._command, self._hydra = cast(Any, task_function), config.hydra

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        jobs = tuple(Job(initial_job_idx + k, tuple(overrides)) for k, overrides in enumerate(job_overrides))
        settings = OmegaConf.to_container(OmegaConf.create(self._settings), resolve=True)
        chosen = engine(self._engine, "hydra.launcher", **cast(Any, settings)) if self._engine else None
        name, own = str(self._hydra.job.config_name), list(self._hydra.overrides.hydra)
        of_prompts = any(word.startswith("prompt=glob(") for word in sys.argv)
        self._command.carry_out(Multirun(jobs, name, own, Path(self._hydra.sweep.dir), chosen, of_prompts))
        return []


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


for _kind, _plugin in (("sweeper", Combinations), ("launcher", Together)):
    _node = {"_target_": f"{_PLUGINS}.{_plugin.__name__}"}
    ConfigStore.instance().store("harness", _node, group=f"hydra/{_kind}", provider="harness")


def of_a_sweep(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of -m that Hydra is to see, with the sweeper and the launcher of this project.

    Settings of a part (model.seed=) are none of them: Hydra composes a sweep's own config without the swept choices.
    Raises ConfigError for plugins of others, which begin jobs before all are known to run.
    """
    settings = {key: value for key, equals, value in (word.partition("=") for word in arguments) if equals}
    if (sweeper := settings.get("hydra/sweeper", "basic")) != "basic":
        raise ConfigError(
            f"hydra/sweeper={sweeper} asks for results before all jobs are known: name the values of a sweep, as "
            "model.temperature=0,1 or choice(…), range(…), glob(…)."
        )
    if (launcher := settings.get("hydra/launcher")) and launcher not in (there := listed(CONFIGS, "hydra/launcher")):
        raise ConfigError(unknown("hydra/launcher", launcher, there) if there else without_plugin("hydra/launcher="))
    own = [f"hydra/{kind}=harness" for kind in ("sweeper", "launcher") if f"hydra/{kind}" not in settings]
    seen = [word for word in arguments if is_hydras(word) or "." not in word.partition("=")[0]]
    return [*sorted(seen, key=lambda word: word[:1] != "-"), *own]  # Hydra takes no flag between settings


def is_hydras(argument: str) -> bool:
    """Return whether an argument is a flag or a setting of Hydra's own."""
    return argument.startswith("-") or argument.lstrip("+~").startswith("hydra")
