"""What --help says of one choice: `--help model=gpt4`, `--help task=corr2cause`, `--help prompt=cot`, …"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import indent
from typing import Any

from harness.cli.help_text import columns, prompt_list, setting_lines
from harness.cli.setting_lines import bases_of, first_comment, settings_in, settings_of, text_of
from harness.config_files import CONFIGS, listed, prompt_files, root_file
from harness.errors import ConfigError, DataError, HarnessError, unknown
from harness.runtime.console import shortened
from harness.settings import build

LONGEST = 70
"""Characters of a field's value that are shown."""


def choices_in(arguments: Sequence[str], groups: Iterable[str]) -> list[tuple[str, str]]:
    """Return the choices that a command line makes of groups, as (group, name); of model=a,b both."""
    pairs = (argument.partition("=")[::2] for argument in arguments)
    return [(group, name) for group, names in pairs if group in groups for name in names.split(",") if name]


def refuse_other_groups(arguments: Iterable[str], groups: Sequence[str], config_name: str) -> None:
    """Raise ConfigError for the first argument that is neither a choice of a group nor a setting of the command."""
    settings = {setting.name.partition(".")[0] for setting in settings_in(root_file(config_name))}
    for name in (argument.partition("=")[0].lstrip("+") for argument in arguments if "=" in argument):
        if not name.startswith("-") and name.partition(".")[0] not in {*groups, *settings}:
            raise ConfigError(f"--help: {unknown('group', name, groups)}")


def help_of(choices: Sequence[tuple[str, str]], task_config: Callable[[str], Mapping[str, Any]]) -> str:
    """Return the settings of each choice with their comments; of a task its prompts and fields, of a prompt its words.

    `task_config` returns the composed config of a task by its name. Raises ConfigError for a name that is not there.
    """
    tasks = [name for group, name in choices if group == "task"]
    sections = []
    for group, name in choices:
        if group == "prompt":
            sections += _prompt(name, tasks)
            continue
        sections.append(_choice(group, name))
        if group == "task":
            sections += [prompt_list(name), _fields(name, task_config)]
    return "\n".join([*sections, "harness --help lists everything else."])


def _choice(group: str, name: str) -> str:
    files = listed(CONFIGS, group)
    if name not in files:
        raise ConfigError(unknown(group, name, files))
    try:
        bases = [base for base in bases_of(group, name) if base != "_self_"]
        lines = setting_lines(settings_of(group, name), f"{group}.")
    except DataError as error:
        raise ConfigError(f"{files[name]} cannot be read: {error}.") from None
    begins = f", which begins with {', '.join(f'{group}={base}' for base in bases)}" if bases else ""
    return "\n".join(
        [f"{group}={name}  {first_comment(files[name])}", f"  {files[name]}{begins}", "", "settings", *lines, ""]
    )


def _fields(task: str, task_config: Callable[[str], Mapping[str, Any]]) -> str:
    """Return the fields that a prompt of a task may name, each with what the first item has there."""
    title = "fields that a prompt may name in braces, and what they are in the first item"
    try:
        item = next(iter(build(task_config(task), "task").items()))
    except StopIteration:
        return f"{title}\n  (it has no items)\n"
    except HarnessError as error:
        return f"{title}\n  (they depend on its settings: {error})\n"
    except Exception as error:  # a task of somebody's own: the rest of the help is wanted all the same
        return f"{title}\n  (they cannot be told: {type(error).__name__}: {error})\n"
    rows = ((f"{{{name}}}", _shortened(value)) for name, value in item.fields.items())
    return "\n".join([title, *columns(rows), ""])


def _shortened(value: object) -> str:
    """Return a field's value in one line of bounded length."""
    if isinstance(value, tuple):
        return f"a list of {len(value)}, for opening_for_each"
    return shortened(str(value), LONGEST)


def _prompt(name: str, tasks: Sequence[str]) -> list[str]:
    """Return the words of the prompts of a name, and what a prompt file may hold."""
    places: dict[Path, list[str]] = {}
    names: set[str] = set()
    for task in tasks or listed(CONFIGS, "task"):
        files = prompt_files(task)
        names |= files.keys()
        if name in files:
            places.setdefault(files[name], []).append(task)
    if name.endswith((".yaml", ".yml")) and Path(name).is_file():
        places[Path(name)] = []
    if not places:
        raise ConfigError(unknown(f"prompt of task={' or '.join(tasks)}" if tasks else "prompt", name, names))
    return [*(_words(name, file, of_tasks) for file, of_tasks in places.items()), _prompt_settings()]


def _words(name: str, file: Path, tasks: Sequence[str]) -> str:
    try:
        text = text_of(file).rstrip()
    except DataError as error:
        raise ConfigError(f"{file} cannot be read: {error}.") from None
    of_tasks = f"  (task {', '.join(tasks)})" if tasks else ""
    return "\n".join([f"prompt={name}{of_tasks}", f"  {file}", "", indent(text, "  "), ""])


def _prompt_settings() -> str:
    """Return what a prompt file may hold, from the docstrings of its schema."""
    from harness.prompting.schema import Words

    title = "what a prompt file may hold (--help task=NAME has the fields that its words may name)"
    return "\n".join([title, *columns(_documented(Words)), ""])


def _documented(form: type) -> Iterator[tuple[str, str]]:
    """Yield the fields of a class with what stands below them in its source."""
    (body,) = ast.parse(inspect.getsource(form)).body
    assert isinstance(body, ast.ClassDef)
    for line, below in zip(body.body, [*body.body[1:], None], strict=True):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            default = f": {json.dumps(line.value.value)}" if isinstance(line.value, ast.Constant) else ""
            text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else ""
            yield f"{line.target.id}{default}", " ".join(str(text).split())
