"""Configs of the working directory, which a user adds without installing anything.

A file in ./configs goes before the one of that name that ships, in a folder that is trusted (`harness trust`);
builtin:NAME is always the one that ships. What the harness itself needs never comes from there: the folder may hold a
configs/config.yaml or a configs/hydra/ meant for another program.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import yaml
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.core.object_type import ObjectType
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import Container, DictConfig, ListConfig, OmegaConf
from omegaconf._utils import get_yaml_loader
from omegaconf.errors import OmegaConfBaseException

from harness.codec import content_digest, plain_text
from harness.config_files import BUILTIN, CONFIGS, OWN, SAME_AS, own_folder, refuse_bomb, roots
from harness.errors import ConfigError
from harness.trust import refuse_in_place_of_shipped

_LAUNCHERS = "hydra/launcher"
"""The group whose files have the names of plugins' launchers."""


def shipped(text: str) -> Any:
    """Return what a config file that ships holds, before OmegaConf has it."""
    content = yaml.load(text, _loader())
    return {} if content is None else content


@cache
def _loader() -> Any:
    """Return OmegaConf's loader on libyaml, several times as fast; what it says of a mistake has other words."""
    loader = get_yaml_loader()
    return type("Loader", (yaml.CSafeLoader, loader), {}) if yaml.__with_libyaml__ else loader


class GroupSource(ConfigSource):
    """The files of all config groups, including judge, and root files; not Hydra's own group."""

    _read = staticmethod(lambda text: OmegaConf.load(StringIO(text)))

    def available(self) -> bool:
        return Path(self.path).is_dir()

    def is_group(self, config_path: str) -> bool:
        return _in_group(config_path) and Path(self.path, _file_path(config_path)).is_dir()

    def is_config(self, config_path: str) -> bool:
        return _in_group(config_path) and self._file(config_path).is_file()

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """Return the names in a folder."""
        folder, names = _file_path(config_path), list[str]()
        for path in sorted(Path(self.path, folder).iterdir()) if _in_group(config_path) else ():
            self._list_add_result(names, f"{folder}/{path.name}", path.name, results_filter)
        return sorted({*names})

    def load_config(self, config_path: str) -> ConfigResult:
        """Return the content of a file, with the header that says where in the config it belongs."""
        file = self._file(config_path)
        text = plain_text(file)
        header = ConfigSource._get_header_dict(text[:512])
        refuse_bomb(text)
        return ConfigResult(self.provider, f"{self.scheme()}://{self.path}", self._read(text), header)

    def _file(self, config_path: str) -> Path:
        return Path(self.path, self._normalize_file_name(_file_path(config_path)))


class ShippedSource(GroupSource):
    """The package's files, by their names and by builtin:NAME; they extend what ships."""

    _read = staticmethod(lambda text: OmegaConf.create(shipped(text)))

    @staticmethod
    def scheme() -> str:
        return "shipped"

    def load_config(self, config_path: str) -> ConfigResult:
        """Return the content of a file, whose defaults name files that ship."""
        loaded = super().load_config(config_path)
        if "/" in config_path:
            _extend_shipped(loaded.config, None)
        return loaded


class OwnSource(GroupSource):
    """Files of groups below ./configs, each with a note of its path and digest."""

    @staticmethod
    def scheme() -> str:
        return "working-directory"

    def is_config(self, config_path: str) -> bool:
        return "/" in config_path.strip("/") and BUILTIN not in config_path and super().is_config(config_path)

    def load_config(self, config_path: str) -> ConfigResult:
        """Return the content of a file. Raises ConfigError for one that is no YAML."""
        file = self._file(config_path)
        place = file.relative_to(self.path).as_posix()
        try:
            loaded = super().load_config(config_path)
        except (OmegaConfBaseException, yaml.YAMLError, OSError, ValueError) as error:
            raise ConfigError(f"configs/{place} is not YAML in UTF-8: {' '.join(str(error).split())}") from None
        if not isinstance(loaded.config, DictConfig):
            raise ConfigError(f"configs/{place} holds no settings: write `name: value`, one a line.")
        _extend_shipped(loaded.config, file.stem)
        shipped = [other for root in roots(CONFIGS) if (other := root / place).is_file()]
        if not any(other.read_bytes() == file.read_bytes() for other in shipped):
            if shipped:
                group, name = config_path.strip("/").rsplit("/", 1)
                refuse_in_place_of_shipped(f"configs/{place}", f"{group}={BUILTIN}{name.removesuffix('.yaml')}")
            loaded.config[OWN] = {f"configs/{place}": content_digest(file)}
        return loaded


class OwnConfigs(SearchPathPlugin):
    """Puts ./configs of the working directory before the package's own, and the group judge with them."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Extend the search path; Hydra calls this for every composition."""
        for folder in reversed(roots(CONFIGS)):
            search_path.prepend("shipped", f"{ShippedSource.scheme()}://{folder}")
        for folder in roots(CONFIGS)[1:]:
            if (folder / "hydra").is_dir():  # each folder is looked into some sixty times
                search_path.append("plug-in", f"file://{folder}")
        if (own := own_folder(CONFIGS)) is not None:
            search_path.prepend("working directory", f"{OwnSource.scheme()}://{own}")


def register() -> None:
    """Make Hydra search ./configs before what ships."""
    with _without(str(Path.cwd())):
        plugins = Plugins.instance()  # imports whatever hydra_plugins holds
    for plugin in (ShippedSource, OwnSource, OwnConfigs):
        plugins.register(plugin)
    for root in roots(CONFIGS):
        for file in (root / _LAUNCHERS).glob("*.yaml"):
            _drop_schema(_LAUNCHERS, file.name)


def _drop_schema(group: str, name: str) -> None:
    """Remove a schema that a Hydra plugin has stored under the name of a shipped file, which Hydra would enforce."""
    stored = ConfigStore.instance().repo
    for part in group.split("/"):
        stored = stored.get(part, {})
    stored.pop(name, None)


@contextmanager
def _without(folder: str) -> Iterator[None]:
    """Take a folder off Python's search path within the context."""
    before = sys.path[:]
    sys.path[:] = [place for place in before if place not in ("", folder)]
    try:
        yield
    finally:
        sys.path[:] = before


def _extend_shipped(config: Container, name: str | None) -> None:
    """Have the file's defaults name what ships: all of them, or only the one of the file's own `name`."""
    defaults = config.get("defaults") if isinstance(config, DictConfig) else None
    if isinstance(defaults, ListConfig):
        for position, default in enumerate(defaults):
            if isinstance(default, str) and default != "_self_" and BUILTIN not in default and name in (None, default):
                defaults[position] = f"{BUILTIN}{default}"


def _in_group(config_path: str) -> bool:
    """Return whether a path is that of a group or below one, and not of Hydra's own settings."""
    return config_path.strip("/").partition("/")[0].partition(".")[0] not in ("", "hydra")


def _file_path(config_path: str) -> str:
    """Return the file of a config path: a judge's is a model's, and builtin: is not part of the path."""
    group, slash, name = config_path.strip("/").replace(BUILTIN, "").partition("/")
    return f"{SAME_AS.get(group, group)}{slash}{name}"
