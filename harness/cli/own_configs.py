"""./configs and the code of the working directory: what a user adds without installing it.

What the harness itself needs comes first and from elsewhere: a folder may be somebody else's, and hold a yaml.py, a
package hydra_plugins or a configs/hydra/ that was meant for another program.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.object_type import ObjectType
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigResult
from hydra.plugins.search_path_plugin import SearchPathPlugin

from harness.settings import CONFIGS

SCHEME = "working-directory"


class Judges(FileConfigSource):
    """The package's files of the group model once more, as those of the group judge, and nothing else."""

    @staticmethod
    def scheme() -> str:
        """What Hydra knows this kind of source by."""
        return "judges"

    def available(self) -> bool:
        """Whether the folder is there."""
        return super().is_group("model")

    def load_config(self, config_path: str) -> ConfigResult:
        """Return the content of a file."""
        return super().load_config(_of_model(config_path))

    def is_group(self, config_path: str) -> bool:
        """Whether there is a folder of this name."""
        return _is_judge(config_path) and super().is_group(_of_model(config_path))

    def is_config(self, config_path: str) -> bool:
        """Whether there is a file of this name."""
        return _is_judge(config_path) and super().is_config(_of_model(config_path))

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """The names in a folder."""
        return super().list(_of_model(config_path), results_filter) if _is_judge(config_path) else []


class OwnSource(FileConfigSource):
    """Files below ./configs, but for Hydra's own group: its settings are the package's."""

    @staticmethod
    def scheme() -> str:
        """Return the scheme by which Hydra knows this kind of source."""
        return SCHEME

    def load_config(self, config_path: str) -> ConfigResult:
        """Return the content of a file."""
        return super().load_config(_of_model(config_path))

    def is_group(self, config_path: str) -> bool:
        """Return whether there is a folder of this name."""
        return not _hydras(config_path) and super().is_group(_of_model(config_path))

    def is_config(self, config_path: str) -> bool:
        """Return whether there is a file of this name."""
        return not _hydras(config_path) and super().is_config(_of_model(config_path))

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """Return the names in a folder."""
        return [] if _hydras(config_path) else super().list(_of_model(config_path), results_filter)


class OwnConfigs(SearchPathPlugin):
    """Adds the group judge, and ./configs of the working directory, after the package's own."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Append the group judge and ./configs to the search path; Hydra calls this for every composition."""
        search_path.append("judges", f"{Judges.scheme()}://{CONFIGS}")
        own = Path.cwd() / "configs"
        if own.is_dir() and own != CONFIGS:
            search_path.append("working directory", f"{SCHEME}://{own}")


def register() -> None:
    """Make Hydra search ./configs, and Python the working directory, after everything else."""
    with _without(str(Path.cwd())):
        plugins = Plugins.instance()  # imports whatever hydra_plugins holds
    plugins.register(Judges)
    plugins.register(OwnSource)
    plugins.register(OwnConfigs)
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))


@contextmanager
def _without(folder: str) -> Iterator[None]:
    """Take a folder off Python's search path within the context."""
    before = sys.path[:]
    sys.path[:] = [place for place in before if place not in ("", folder)]
    try:
        yield
    finally:
        sys.path[:] = before


def _is_judge(config_path: str) -> bool:
    return config_path.strip("/").partition("/")[0] == "judge"


def _of_model(config_path: str) -> str:
    """Return the path of the file of the group model that a path of the group judge stands for; others as they are."""
    return f"model{config_path.strip('/').removeprefix('judge')}" if _is_judge(config_path) else config_path


def _hydras(config_path: str) -> bool:
    return config_path.strip("/").partition("/")[0].partition(".")[0] == "hydra"
