"""The jobs of a command line with -m: every combination of its choices, each composed by itself.

Hydra composes the sweep's own config without the swept settings, and so refuses one that only the swept choices have.
Here every job is composed before any begins, and the sweep's own config is that of the first job.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from hydra import initialize_config_dir
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.core.plugins import Plugins
from hydra.types import HydraContext, RunMode
from omegaconf import DictConfig, OmegaConf, open_dict

from harness.cli.own_configs import without_hydra
from harness.config_files import CONFIGS
from harness.engine import is_engine
from harness.errors import ConfigError, HarnessError
from harness.settings import build

_FLAGS = ("-m", "--multirun")
_MODE = "hydra.mode=MULTIRUN"
Explain = Callable[[Exception, Sequence[str]], str]
"""Returns the sentence for an error of Hydra's, given the settings that led to it."""


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
    jobs: tuple[Job, ...]
    hydra_overrides: tuple[str, ...]
    """Settings of Hydra's own, which hold for all jobs."""
    loader: ConfigLoader
    explain: Explain

    def compose(self, overrides: Sequence[str], number: int = 0) -> DictConfig:
        """Return the config of a job, Hydra's own part in it. Raises ConfigError for one that does not compose."""
        try:
            config = self.loader.load_configuration(
                self.config_name, [*self.hydra_overrides, *overrides], run_mode=RunMode.RUN
            )
        except HarnessError:
            raise
        except Exception as error:
            raise ConfigError(self.explain(error, [*self.hydra_overrides, *overrides])) from error
        with open_dict(config):
            config.hydra.job.num = config.hydra.job.id = number
        return config

    def give_place(self, config: DictConfig) -> None:
        """Put the folder of a composed job into its config, as Hydra's launchers do."""
        place = Path(str(config.hydra.sweep.dir), str(config.hydra.sweep.subdir))
        with open_dict(config):
            config.hydra.runtime.output_dir = str(place.absolute())

    @contextmanager
    def as_running(self, config: DictConfig) -> Iterator[DictConfig]:
        """Yield a composed config without Hydra's own part, which ${hydra:…} finds within the context."""
        before = HydraConfig.instance().cfg
        try:
            yield without_hydra(config.copy())
        finally:
            HydraConfig.instance().cfg = before

    @property
    def launcher(self) -> str | None:
        """The class of the launcher that hydra/launcher= chooses; None for Hydra's own, one job after the other."""
        target = str(self._config.hydra.launcher._target_)
        return None if target.endswith(".BasicLauncher") else target

    @property
    def is_spread(self) -> bool:
        """Whether the launcher may carry jobs to several machines."""
        section = self._config.hydra.launcher
        target = str(section._target_)
        return ("Slurm" in target or "Ray" in target) and section.get("cluster") != "local"

    def engine(self) -> Any:
        """Return the `harness.engine.Engine` that hydra/launcher= chooses; None for a launcher of Hydra's.

        Raises ConfigError for a setting that it has not.
        """
        config = self._config
        section = OmegaConf.to_container(config.hydra.launcher, resolve=True)
        assert isinstance(section, dict)
        if not is_engine(str(section["_target_"])):
            return None
        return build({str(name): value for name, value in section.items()}, "hydra.launcher")

    @property
    def folder(self) -> Path:
        return Path(self._config.hydra.sweep.dir)

    def within(self, folder: Path) -> Multirun:
        """Return the same sweep with another folder."""
        quoted = str(folder).replace("\\", "\\\\").replace("'", "\\'")
        others = tuple(o for o in self.hydra_overrides if not o.startswith("hydra.sweep.dir="))
        return replace(self, hydra_overrides=(*others, f"hydra.sweep.dir='{quoted}'"))

    def launch(self, task_function: Callable[[DictConfig], Any]) -> None:
        """Have Hydra's launcher carry out the jobs; where one raises an exception, the others go on."""
        # A launcher takes Hydra's callbacks, which have no public name: this is the one import of its private modules.
        from hydra._internal.callbacks import Callbacks

        config = self._config.copy()
        context = HydraContext(config_loader=self.loader, callbacks=Callbacks(config))
        launcher = Plugins.instance().instantiate_launcher(
            hydra_context=context, task_function=task_function, config=config
        )
        launcher.launch([list(job.overrides) for job in self.jobs], initial_job_idx=0)

    @cached_property
    def _config(self) -> DictConfig:
        config = self.compose(self.jobs[0].overrides)
        with open_dict(config):
            config.hydra.overrides.hydra = list(self.hydra_overrides)
        return config


def is_sweep(arguments: Sequence[str]) -> bool:
    """Test whether a command line asks for a sweep. Raises ConfigError for flags that do not go with -m."""
    if not {*_FLAGS, _MODE} & set(arguments):
        return False
    others = [argument for argument in arguments if argument.startswith("-") and argument not in _FLAGS]
    if any(flag.startswith(("--cfg", "-c", "--info", "-i", "--shell", "-sc", "--hydra")) for flag in others):
        return False
    if others:
        raise ConfigError(f"{others[0]} does not go together with -m: a sweep takes settings, name=value.")
    return True


@contextmanager
def multirun(config_name: str, arguments: Sequence[str], explain: Explain) -> Iterator[Multirun]:
    """Yield the sweep that a command line asks for. Raises ConfigError for one that cannot be read."""
    settings = [argument for argument in arguments if argument not in (*_FLAGS, _MODE)]
    with initialize_config_dir(str(CONFIGS), version_base="1.3", job_name="harness"):
        hydra = GlobalHydra.instance().hydra
        assert hydra is not None
        try:
            overrides = OverridesParser.create(config_loader=hydra.config_loader).parse_overrides(settings)
            own = [override.input_line for override in overrides if override.is_hydra_override()]
            swept = {o.get_key_element(): _values(o) for o in overrides if not o.is_hydra_override()}
        except Exception as error:
            raise ConfigError(explain(error, arguments)) from error
        jobs = tuple(Job(number, overrides) for number, overrides in enumerate(product(*swept.values())))
        yield Multirun(config_name, jobs, (*filter(None, own), _MODE), hydra.config_loader, explain)


def _values(override: Override) -> list[str]:
    """Return the setting once for each value that it is swept over."""
    key = override.get_key_element()
    if not override.is_sweep_override():
        return [f"{key}={override.get_value_element_as_str()}"]
    if not override.is_discrete_sweep():
        raise ConfigError(
            f"{override.input_line}: a sweep takes the values one by one, or choice(…), range(…), glob(…)."
        )
    return [f"{key}={value}" for value in override.sweep_string_iterator()]
