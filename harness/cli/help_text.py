"""The text of --help, of a command and of one choice (`--help model=gpt4`), read from the config and prompt files."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import indent
from typing import Any

from harness import plugin
from harness.cli.commands import summaries
from harness.cli.setting_lines import (
    Setting,
    bases_of,
    first_comment,
    models_by_kind,
    settings_in,
    settings_of,
    text_of,
    unknown_choice,
)
from harness.config_files import CONFIGS, is_shipped, listed, prompt_files, root_file
from harness.errors import ConfigError, DataError, HarnessError, unknown
from harness.runtime.console import shortened
from harness.settings import build

WIDEST = 48
"""Characters of a setting and its value that its column is made for."""

_MAIN = """\
harness: can language models reason about cause and effect?

  harness                                     the exact reasoner on the public Corr2Cause test split
  harness model=gpt6_luna dry_run=true        what an API model would be asked, and for how much; nothing is asked
  harness model=gpt6_luna task=causalbench/causality task.networks=[asia,cancer]
  harness model=openai model.model=NAME model.base_url=http://localhost:8000/v1
  harness -m model=always_no,random_uniform task.perturbation=none,paraphrase      a sweep: every combination

  harness --help models                       what there is to choose: so too tasks, prompts
  harness --help model=gpt6_luna              the settings of a choice and what they mean: so too task=, prompt=, cache=
  harness --help leaderboard                  the help of a command; --version prints the version
"""

_AFTERWARDS = """\
Settings are key=value; one with commas or brackets takes quotes inside of the shell's: 'task.path="a, b.csv"'. A run
goes on where it was stopped: answers are stored as they land and asked for once. configs/<group>/<name>.yaml and
prompts/<task>/<name>.yaml of the working directory are found as well. Hydra's own flags: --hydra-help, and
eval "$(harness -sc install=bash)" has the shell complete settings.
"""

_ITEMS = """\
The items of a task as JSON lines: id, the fields that prompts may say (premise, question, …), label, labels, groups,
cluster. A network's data (`parts`, with task.format=data) are in full with its first item; later ones have the
SHA-256 of each part in their place

  harness items task=corr2cause out=items.jsonl
  harness items task=corr2cause task.split=train task.limit=1000 out=-
  harness items task=causalbench/causality task.networks=asia out=asia.jsonl
"""


def help_of(config_name: str) -> str:
    """Return the help of a command."""
    for command in plugin.commands().values():
        if command.config == config_name and command.help:
            text: str = plugin.load(command.help)()
            return text
    if config_name == "items":
        return "\n".join([_ITEMS, settings_text("items", root_file("items")), group_text("task"), *_tasks()])
    sections = [
        _MAIN,
        "\n".join(["commands (harness NAME --help has the rest)", *columns(summaries().items()), ""]),
        settings_text("a run", root_file("config")),
        group_text("cache"),
        _AFTERWARDS,
    ]
    return "\n".join(sections).rstrip()


def help_of_group(group: str) -> str:
    """Return what there is to choose of a group, a line each; of tasks their settings too."""
    if group in ("model", "judge"):
        sections = [_list(f"{group}=  {title}", files) for title, files in models_by_kind(listed(CONFIGS, "model"))]
    elif group == "prompt":
        sections = [prompt_list(task) for task in listed(CONFIGS, "task")]
    else:
        sections = [group_text(group)]
    return "\n".join([*sections, *(_tasks() if group == "task" else []), f"harness --help {group}=NAME has the rest."])


def prompt_list(task: str) -> str:
    """Return the prompts of a task, a line each with what its file says of itself."""
    return _list(f"prompt=  (task {task})", prompt_files(task))


def setting_lines(settings: Iterable[Setting], prefix: str = "") -> list[str]:
    """Return a line for each setting with its value and comment, and one for each further line of a comment."""
    lines = []
    for setting in settings:
        first, *others = setting.comment or ("",)
        lines.append((f"{prefix}{setting.name}{'=' if setting.value or not first else ':'}{setting.value}", first))
        lines += [("", other) for other in others]
    return columns(lines)


def columns(lines: Iterable[tuple[str, str]]) -> list[str]:
    """Return indented lines of two columns; a few long values do not widen the first."""
    rows = list(lines)
    width = max((len(left) for left, _ in rows if len(left) <= WIDEST), default=0)
    return [f"  {left:<{width}}  {right}".rstrip() for left, right in rows]


def group_text(group: str) -> str:
    """Return the names of a group, a line each with what its file says of itself."""
    return _list(f"{group}=", listed(CONFIGS, group))


def _list(title: str, files: Mapping[str, Path]) -> str:
    return "\n".join([title, *columns((name, _remark(file)) for name, file in files.items()), ""])


def _remark(file: Path) -> str:
    """Return a file's first comment; for a broken file of the user's own, why it cannot be read."""
    if not is_shipped(file):
        try:
            settings_in(file)
        except DataError as error:
            return f"(cannot be read: {error})"
    return first_comment(file)


def _tasks() -> list[str]:
    return [settings_text(f"task {name}", file, "task.") for name, file in listed(CONFIGS, "task").items()]


def settings_text(title: str, file: Path, prefix: str = "") -> str:
    """Return the settings in a config file, or why it cannot be read."""
    try:
        settings = [setting for setting in settings_in(file) if setting.name not in ("name", "mode")]
        lines = setting_lines(settings, prefix)
    except DataError as error:
        lines = [f"  ({file} cannot be read: {error})"]
    return "\n".join([f"settings of {title}", *lines, ""])


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


def help_of_choices(choices: Sequence[tuple[str, str]], task_config: Callable[[str], Mapping[str, Any]]) -> str:
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
    return "\n".join([*sections, "harness --help models, tasks and prompts list what else there is."])


def _choice(group: str, name: str) -> str:
    files = listed(CONFIGS, group)
    if name not in files:
        raise ConfigError(unknown_choice(group, name, files))
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
        return f"{title}\n  (they cannot be read: {type(error).__name__}: {error})\n"
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
    return [*(_prompt_text(name, file, of_tasks) for file, of_tasks in places.items()), _prompt_settings()]


def _prompt_text(name: str, file: Path, tasks: Sequence[str]) -> str:
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
