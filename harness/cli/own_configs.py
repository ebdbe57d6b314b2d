"""The configs that Hydra composes: groups are looked up in ./configs of the working directory, then in what ships.

What the harness itself needs never comes from the working directory: the folder may hold a configs/config.yaml or a
configs/hydra/ meant for another program.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml
from hydra import compose, initialize_config_dir
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.object_type import ObjectType
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf._utils import get_yaml_loader
from omegaconf.errors import OmegaConfBaseException

from harness.cli.setting_lines import files_of, names_in
from harness.config_files import (
    CONFIGS,
    OWN,
    SAME_AS,
    listed,
    own_file,
    own_folder,
    roots,
    settings_in,
    text_of,
    use_folder,
)
from harness.errors import ConfigError

_PARTS = ("model", "judge", "task")
_VARIED = ("method", "temperature", "seed", "reasoning", "reasoning_effort", "reasoning_tokens")
"""Settings of a model that change its answers, and of which people try several."""


@cache
def loader() -> Any:
    """Return OmegaConf's loader on libyaml, several times as fast; what it says of a mistake has other words."""
    own = get_yaml_loader()
    return type("Loader", (yaml.CSafeLoader, own), {}) if yaml.__with_libyaml__ else own


class GroupSource(ConfigSource):
    """The files of a folder's config groups, including judge; those that ship with the root files beside them."""

    @staticmethod
    def scheme() -> str:
        return "groups"

    def available(self) -> bool:
        return Path(self.path).is_dir()

    def is_group(self, config_path: str) -> bool:
        return _in_group(config_path) and Path(self.path, _file_path(config_path)).is_dir()

    def is_config(self, config_path: str) -> bool:
        is_ours = "/" in config_path.strip("/") or Path(self.path) in roots(CONFIGS)
        return is_ours and _in_group(config_path) and self._file(config_path).is_file()

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """Return the names in a folder."""
        folder, names = _file_path(config_path), list[str]()
        for path in sorted(Path(self.path, folder).iterdir()) if _in_group(config_path) else ():
            self._list_add_result(names, f"{folder}/{path.name}", path.name, results_filter)
        return sorted({*names})

    def load_config(self, config_path: str) -> ConfigResult:
        """Return the content of a file, with the header that says where in the config it belongs."""
        file = self._file(config_path)
        content = OmegaConf.create(settings_in(file, loader()))
        header = ConfigSource._get_header_dict(text_of(file)[:512])
        return ConfigResult(self.provider, f"{self.scheme()}://{self.path}", content, header)

    def _file(self, config_path: str) -> Path:
        return Path(self.path, self._normalize_file_name(_file_path(config_path)))


def _in_group(config_path: str) -> bool:
    """Return whether a path is that of a group or below one, and not of Hydra's own settings."""
    return config_path.strip("/").partition("/")[0].partition(".")[0] not in ("", "hydra")


def _file_path(config_path: str) -> str:
    """Return the file of a config path: a judge's is a model's."""
    group, slash, name = config_path.strip("/").partition("/")
    return f"{SAME_AS.get(group, group)}{slash}{name}"


class OwnConfigs(SearchPathPlugin):
    """Puts ./configs of the working directory before the package's own, and the group judge with them."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        for folder in filter(None, (*reversed(roots(CONFIGS)), own_folder(CONFIGS))):
            search_path.prepend("harness", f"{GroupSource.scheme()}://{folder}")
        for folder in roots(CONFIGS)[1:]:
            if (folder / "hydra").is_dir():  # each folder is looked into some sixty times
                search_path.append("plug-in", f"file://{folder}")


def register() -> None:
    """Have Hydra and Python find what the working directory has, ./configs before what ships."""
    plugins = Plugins.instance()  # imports whatever hydra_plugins holds, of what is installed
    use_folder()
    for plugin in (GroupSource, OwnConfigs):
        plugins.register(plugin)


@contextmanager
def composition(config_name: str, arguments: Sequence[str], number: int = 0) -> Iterator[DictConfig]:
    """Yield the config of a command with these settings, Hydra's own part in it, which ${hydra:…} finds meanwhile.

    `number` is that of a job of a sweep. Hydra's state is global: it is as before in the end, since the caller may be a
    Hydra application itself.
    """
    register()
    before = GlobalHydra.instance().hydra, HydraConfig.instance().cfg
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(str(CONFIGS), version_base="1.3"):
            config = compose(config_name, list(arguments), return_hydra_config=True)
        with open_dict(config):
            config.hydra.job.num = config.hydra.job.id = number
        HydraConfig.instance().set_config(config)
        yield config
    finally:
        GlobalHydra.instance().hydra, HydraConfig.instance().cfg = before


def values(config: DictConfig) -> dict[str, Any]:
    """Return a composed config as plain values without Hydra's own part, interpolations resolved.

    It says instead which files of the working directory it is composed of. A model whose answers a setting of the
    command line changes has that in its name, unless it was given one: so each has a row and a folder of its own.
    """
    choices, overrides = config.hydra.runtime.choices, config.hydra.overrides.task
    typed = {override.partition("=")[0].lstrip("+") for override in overrides}
    own: dict[str, str] = {}
    for group, name in choices.items() if own_folder(CONFIGS) is not None else ():
        if name is not None and not group.startswith("hydra"):
            for file in files_of(group, name):
                own |= own_file(file)
    for group in _PARTS:
        chosen = listed(CONFIGS, group).get(choices.get(group) or "")
        if chosen is not None and "_target_" not in (config.get(group) or {"_target_": ""}):
            base = "NAME" if group == "task" else "openai"
            raise ConfigError(
                f"{chosen} says no class: begin it with `defaults: [{base}, _self_]`, or give it a _target_."
            )
    with open_dict(config):
        for group in ("model", "judge"):
            if f"{group}.name" not in typed and (varied := _varied(config, group, choices.get(group), typed)):
                with suppress(OmegaConfBaseException):  # the name of a model that is still to be given
                    config[group].name = ",".join([str(config[group].name), *varied])
        del config["hydra"]
    content = cast(dict[str, Any], OmegaConf.to_container(config, resolve=True))
    return content | ({OWN: own} if own else {})


def _varied(config: DictConfig, group: str, choice: str | None, typed: Collection[str]) -> list[str]:
    """Return the settings of a model that were typed and are not those of its config file, as NAME=VALUE."""
    names = [name for name in _VARIED if config.get(group) is not None and f"{group}.{name}" in typed]
    files = reversed([*files_of(group, choice or "")]) if names else ()  # the nearest last
    there = {name: value for file in files for name, value in names_in(file).items()}
    changed = {name: value for name in names if (value := config[group].get(name)) != there.get(name)}
    return [f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in changed.items()]
