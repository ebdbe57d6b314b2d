"""The task, prompt and model of a run, rebuilt from its folder: from data, never from code.

A folder may come from anybody. So a class or a parser is taken only where a config or a prompt of an installed
distribution names it, a prompt by the words that the run recorded, and a file of items only where it has the content
whose digest the run holds. Nothing else that a folder names is imported, opened or asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.config_files import CONFIGS, PROMPTS, SAME_AS, roots
from harness.errors import DataError, NotHereError
from harness.plugin import plugins
from harness.settings import build, without_path
from harness.storage import records

if TYPE_CHECKING:
    from harness.causal.learned_graph import Algorithm
    from harness.prompting.prompts import Prompt, Replies
    from harness.protocols import Model, Task
    from harness.storage.manifest import Manifest
    from harness.types import Item

_READS_NO_FILE = ("harness.models.api.openai.", "harness.models.baselines.", "harness.tasks.")
"""Models whose identity follows from their settings alone, as that of a benchmark's own; a checkpoint's needs files."""


def task_of(manifest: Manifest, data: Sequence[str] = ()) -> Task:
    """Return the task of a run; its items may come from one of the files that the user names as `data`.

    Raises NotHereError, or ConfigError or DataError where it cannot be made.
    """
    settings = _section(manifest, "task")
    if path := settings.get("path"):
        recorded = (manifest.configuration.get("task") or {}).get("path")
        settings = {**settings, "path": _file_of_items(str(path), recorded, data)}
    task: Task = _part(settings, "task")
    return task


def _file_of_items(path: str, recorded: object, data: Sequence[str]) -> str:
    """Return the file of items, or the folder of a data set, that has the name and content that the run has recorded.

    Raises NotHereError where there is none, DataError where what is there has another content.
    """
    for file in data:
        if without_path(file) == recorded:
            return file
    if (found := without_path(path)) == path:
        raise NotHereError(
            f"the run's items come from task.path={path:.200}, which is no file or folder here: name the file beside "
            "the run's folder (harness verify FOLDER FILE)."
        )
    if found != recorded:
        raise DataError(f"task.path={path:.200} has another content than when the run was made.")
    return path


def items_of(task: Task, manifest: Manifest, records_file: Path | None) -> Iterable[Item]:
    """Return the items of a run: those of its task, and of answers that others have recorded those that have one."""
    if manifest.recorded is None or records_file is None:
        return task.items()
    names = {record.item for record in records.read(records_file)}
    return (item for item in task.items() if item.id in names)


def prompt_of(task: Task, manifest: Manifest) -> Prompt:
    """Return the prompt of a run that asked a model, made of the words that its manifest holds.

    Raises NotHereError for a parser that is not installed, ConfigError for words that are none.
    """
    from harness.prompting import prompts

    schema = manifest.words
    if schema is None:
        raise DataError("the manifest does not hold the words of the prompt: run its command again.")
    parser = str(schema.get("parser", "verdict"))
    if ":" in parser and parser not in _shipped_parsers():
        raise NotHereError(f"the replies were read by {parser:.200}, which no installed prompt names.")
    config = _section(manifest, "")
    replies: Replies = "fixed" if config.get("replies") == "fixed" else "model"
    prompt = prompts.recorded(str(manifest.run["prompt"]), schema, task.examples(), replies=replies)
    if (most := config.get("max_tokens")) is not None and most != prompt.words.max_tokens:
        prompt = replace(prompt, max_tokens=most)
    if config.get("answer") != "choice":
        return prompt
    return prompts.constrained(prompt, _section(manifest, "model").get("constrain"))


def shipped_prompt(task: Task, like: Prompt) -> Prompt | None:
    """Return the shipped prompt of the same name, never the working directory's; None if no prompt has it.

    What the command has set for the one (who writes an opening's replies, what holds the answer) holds for it too.
    """
    from harness.prompting import schema

    for folder in (task.name, task.name.rpartition("/")[0]):
        if (file := _prompt_files().get((folder, like.name))) is not None:
            words = schema.read(file, task.prompt_format)
            return replace(like, where=file, words=words, shots=tuple(task.examples()) if words.shots else ())
    return None


def model_of(manifest: Manifest, group: str = "model") -> Model | None:
    """Return the model of a run, or its judge, where its identity follows from its settings.

    None for a checkpoint or another's.
    """
    settings = _section(manifest, group)
    target = str(settings.get("_target_", ""))
    known = {own for plugin in plugins() for own in plugin.models}
    if not target.startswith(_READS_NO_FILE) and target not in known:
        return None
    model: Model = _part(settings, group)
    return model


def algorithm_of(manifest: Manifest) -> Algorithm:
    """Return the algorithm of a run. Raises NotHereError."""
    algorithm: Algorithm = _part(_section(manifest, "algorithm"), "algorithm")
    return algorithm


@cache
def shipped(group: str) -> frozenset[str]:
    """Return the classes that the configs of a group name, of those that ship with harness or a plug-in."""
    import yaml

    folders = [root / SAME_AS.get(group, group) for root in roots(CONFIGS)]
    paths = (path for folder in folders for path in folder.rglob("*.yaml"))
    files = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in paths]
    return frozenset(str(content["_target_"]) for content in files if "_target_" in content)


@cache
def _prompt_files() -> Mapping[tuple[str, str], Path]:
    """Return the prompt files that ship with harness by task and name: looked up, never put together from names."""
    return {
        (file.parent.relative_to(root).as_posix(), file.stem): file
        for root in reversed(roots(PROMPTS))
        for file in sorted(root.rglob("*.yaml"))
    }


@cache
def _shipped_parsers() -> frozenset[str]:
    """Return the parsers of their own that prompts name, of those that ship with harness or a plug-in."""
    import yaml

    files = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in _prompt_files().values()]
    return frozenset(str(content["parser"]) for content in files if ":" in str(content.get("parser", "")))


def _part(settings: Mapping[str, Any], group: str) -> Any:
    target = str(settings.get("_target_", ""))
    if target not in shipped(group):
        raise NotHereError(f"the run's {group} is {target[:200] or 'none'}, which no installed package has.")
    return build(settings, group)


def _section(manifest: Manifest, name: str) -> Mapping[str, Any]:
    """Return a part of the settings that a run was started with; all of them where no name is given."""
    section = manifest.config.get(name) if name and manifest.config is not None else manifest.config
    if not isinstance(section, Mapping):
        raise DataError(f"the manifest does not say the settings of the run's {name or 'command'}.")
    return section
