"""Where configs and prompts live: those that ship, and those of the working directory, which win."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from harness import plugin
from harness.codec import content_digest, plain_text
from harness.errors import ConfigError

_PACKAGE = Path(__file__).resolve().parent
# An installed package carries configs/ and prompts/ inside; in a checkout they stand beside it.
HOME = _PACKAGE if (_PACKAGE / "configs").is_dir() else _PACKAGE.parent
CONFIGS = HOME / "configs"
PROMPTS = HOME / "prompts"

SAME_AS: Mapping[str, str] = {"judge": "model"}
"""Groups whose files are those of another: whatever is a model can be chosen as a judge."""
OWN = "own_files"
"""Where a composed config says which files of the working directory are in it: {path below it: SHA-256}."""


def roots(root: Path) -> tuple[Path, ...]:
    """Return CONFIGS or PROMPTS, and the folders of that name that plug-ins bring."""
    return (root, *plugin.folders(root.name))


def is_shipped(file: Path) -> bool:
    """Return whether a config or prompt file came with the harness or a plug-in, not from the working directory."""
    # As texts: Path.parents is far slower, and --help looks at some three hundred files.
    return str(file).startswith(tuple(f"{root}{os.sep}" for kind in (CONFIGS, PROMPTS) for root in roots(kind)))


def root_file(command: str) -> Path:
    """Return the file that a command's settings are composed from. Raises ConfigError where no plug-in brings it."""
    for root in roots(CONFIGS):
        if (file := root / f"{command}.yaml").is_file():
            return file
    raise ConfigError(f"configs/{command}.yaml is not there.")


def text_of(file: Path) -> str:
    """Return the text of a config or prompt file. Raises ConfigError."""
    try:
        return plain_text(file)
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not UTF-8.") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from None


@cache
def _loader() -> Any:
    """Return PyYAML's safe loader, but one that refuses a name that stands twice, as OmegaConf's does."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            names = [name.value for name, _ in node.value]
            if twice := [name for name in names if names.count(name) > 1]:
                raise yaml.constructor.ConstructorError(None, None, f"{twice[0]} stands twice", node.start_mark)
            return super().construct_mapping(node, deep)

    return Loader


def settings_in(file: Path, loader: Any = None) -> dict[str, Any]:
    """Return what a config or prompt file holds. Raises ConfigError for one that is no YAML mapping."""
    import yaml

    try:
        content = yaml.load(text_of(file), loader or _loader()) or {}
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{file} is not YAML: {' '.join(str(error).split())}.") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{file} holds no settings: write `name: value`, one a line.")
    return content


def use_folder() -> None:
    """Have Python find the modules of the working directory, after all that is installed.

    Commands that compose a run call it, as pytest does for the folder of its tests. What reads results never does:
    a folder may come from anybody.
    """
    here = str(Path.cwd())
    if here not in sys.path:
        plugin.plugins()  # those that are installed, whatever lies here
        sys.path.append(here)


def own_folder(root: Path) -> Path | None:
    """Return ./configs or ./prompts of the working directory, or None; also None where that is the one that ships."""
    own = Path.cwd() / root.name
    return own if own.is_dir() and not own.samefile(root) else None


def listed(root: Path, group: str, *, own: bool = True) -> dict[str, Path]:
    """Return the YAML files of a group by name: those of ./configs, ./prompts (if `own`) in place of the package's."""
    group = SAME_AS.get(group, group) if root == CONFIGS else group
    files: dict[str, Path] = {}
    for folder in (*reversed(roots(root)), own_folder(root) if own else None):
        if folder is not None:
            here = folder / group
            files |= {file.relative_to(here).with_suffix("").as_posix(): file for file in sorted(here.rglob("*.yaml"))}
    return dict(sorted(files.items()))


def prompt_files(task: str) -> dict[str, Path]:
    """Return the prompt files of a task by name: those under ./prompts in place of the package's.

    A task of a family (causalbench/correlation) also has the prompts of its family (causalbench); those of tasks below
    it (corr2cause/writing) are theirs.
    """
    family = task.rpartition("/")[0]
    below = {f"{name.removeprefix(task)[1:]}/" for name in listed(CONFIGS, "task") if name.startswith(f"{task}/")}
    shared = {name: file for name, file in listed(PROMPTS, family).items() if "/" not in name} if family else {}
    return shared | {n: f for n, f in listed(PROMPTS, task).items() if not n.startswith(tuple(below))}


def own_files(config: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a composed config without its note of the working directory's files, and the note: {path: SHA-256}."""
    return {name: section for name, section in config.items() if name != OWN}, dict(config.get(OWN) or {})


def own_file(file: Path) -> dict[str, str]:
    """Return {path: SHA-256} of a config or prompt file of the user's own; {} for one that ships.

    The path is that below the working directory, or the name alone where it is elsewhere.
    """
    place, here = file.resolve(), Path.cwd().resolve()
    if is_shipped(file) or is_shipped(place):
        return {}
    path = place.relative_to(here).as_posix() if place.is_relative_to(here) else place.name
    return {path: content_digest(place)}
