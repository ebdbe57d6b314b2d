"""Where configs and prompts live: those that ship, and those of the working directory, which win."""

from __future__ import annotations

import os
from collections.abc import Mapping
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

BUILTIN = "builtin:"
"""Before a name: the file that ships, whatever the working directory holds."""
TOO_DEEP = "it is nested too deeply"
"""Why a YAML file cannot be read whose brackets or lines stand within hundreds of others."""
MOST_ALIASED = 1_000_000
"""Characters that a YAML file with aliases may stand for."""
OWN = "_own_"
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
    raise ConfigError(f"configs/{command}.yaml is not there. {plugin.absent()}".rstrip())


def read_yaml(file: Path) -> Any:
    """Return what a YAML file holds.

    Raises OSError, UnicodeDecodeError, and YAMLError, also where it is too deep, or where aliases make it too large.
    """
    import yaml

    try:
        text = plain_text(file)
        refuse_bomb(text)
        return yaml.safe_load(text)
    except RecursionError:
        raise yaml.YAMLError(TOO_DEEP) from None


def refuse_bomb(text: str) -> None:
    """Raise YAMLError for a YAML document that is small, and huge once its aliases (*name) are written out."""
    import yaml

    known: dict[int, int] = {}

    def written_out(node: Any) -> int:
        """Return about how many characters a node takes without aliases; each node is counted once."""
        if id(node) not in known:
            known[id(node)] = MOST_ALIASED + 1  # of one that stands within itself
            parts = [each for pair in node.value for each in pair] if isinstance(node, yaml.MappingNode) else node.value
            scalar = isinstance(node, yaml.ScalarNode)
            size = len(node.value) if scalar else sum(map(written_out, parts))
            known[id(node)] = min(1 + size, 1 << 40)
        return known[id(node)]

    node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if "*" in text else None
    # Without an alias it is no longer than it stands there.
    if node is not None and written_out(node) > max(MOST_ALIASED, 2 * len(text)):
        raise yaml.YAMLError(f"its aliases (*name) stand for more than {MOST_ALIASED:,} characters")


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


def prompt_files(task: str, *, own: bool = True) -> dict[str, Path]:
    """Return the prompt files of a task by name: those under ./prompts (if `own`) in place of the package's.

    A task of a family (causalbench/correlation) also has the prompts of its family (causalbench).
    """
    family = task.rpartition("/")[0]

    def of(*, own: bool) -> dict[str, Path]:
        """Return the family's prompts and the task's own; those of tasks below it (corr2cause/writing) are theirs."""
        below = {
            f"{name.removeprefix(task)[1:]}/"
            for name in listed(CONFIGS, "task", own=own)
            if name.startswith(f"{task}/")
        }
        shared = {name: file for name, file in listed(PROMPTS, family, own=own).items() if "/" not in name}
        mine = listed(PROMPTS, task, own=own)
        return (shared if family else {}) | {n: f for n, f in mine.items() if not n.startswith(tuple(below))}

    shipped = of(own=False)
    if not own or own_folder(CONFIGS) is own_folder(PROMPTS) is None:
        return shipped
    return shipped | {name: file for name, file in of(own=True).items() if file not in shipped.values()}


def own_files(config: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a composed config without its note of the working directory's files, and the note: {path: SHA-256}."""
    digests = dict(config.get(OWN) or {})
    sections = {name: section for name, section in config.items() if name != OWN}
    for name, section in sections.items():
        if isinstance(section, Mapping) and OWN in section:
            digests |= section[OWN]
            sections[name] = {key: value for key, value in section.items() if key != OWN}
    return sections, digests


def own_file(file: Path, root: Path) -> dict[str, str]:
    """Return {path: SHA-256} of a file of the user's own; {} for one that ships below `root` or with a plug-in.

    The path is that below the working directory, or the name alone where it is elsewhere.
    """
    place = file.resolve()
    if any(place.is_relative_to(folder.resolve()) for folder in roots(root)):
        return {}
    here = Path.cwd().resolve()
    path = place.relative_to(here).as_posix() if place.is_relative_to(here) else place.name
    digest, below = (
        content_digest(place),
        Path(path).relative_to(root.name) if path.startswith(f"{root.name}/") else None,
    )
    same = (folder / below for folder in roots(root)) if below is not None else ()
    if any(file.is_file() and content_digest(file) == digest for file in same):
        return {}
    return {path: digest}
