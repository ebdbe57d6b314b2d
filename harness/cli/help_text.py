"""The text of --help, of a command and of one choice (`--help model=gpt4`): the config and prompt files themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from inspect import getsource
from pathlib import Path
from textwrap import indent

from harness import plugin
from harness.cli import setting_lines as lines
from harness.cli.commands import summaries
from harness.config_files import CONFIGS, listed, prompt_files, root_file, text_of
from harness.errors import ConfigError, unknown

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


def help_for(config_name: str, arguments: Sequence[str]) -> str:
    """Return the help of what a command line chooses; that of the command where it chooses nothing.

    Raises ConfigError for what is neither a choice nor a setting of the command.
    """
    chosen = [*lines.groups(config_name), *(["prompt"] if config_name == "config" else [])]
    pairs = [argument.partition("=")[::2] for argument in arguments if "=" in argument]
    if choices := [(group, name) for group, names in pairs if group in chosen for name in names.split(",") if name]:
        return help_of_choices(choices)
    known = {*chosen, *(name.partition(".")[0] for name in lines.names_in(root_file(config_name)))}
    for group in (key.lstrip("+").partition(".")[0] for key, _ in pairs if not key.startswith("-")):
        if group not in known:
            raise ConfigError(f"--help: {unknown('group', group, chosen)}")
    asked = [group for group in chosen if (group, "") in pairs]
    return "\n\n".join(map(help_of_group, asked)) or help_of(config_name)


def help_of(config_name: str) -> str:
    """Return the help of a command."""
    for command in plugin.commands().values():
        if command.config == config_name and command.help:
            return str(plugin.load(command.help)())
    if config_name == "items":
        return "\n".join([_ITEMS, settings_text("items", root_file("items")), group_text("task")]).rstrip()
    sections = [
        _MAIN,
        "\n".join(["commands (harness NAME --help has the rest)", *_columns(summaries()), ""]),
        settings_text("a run", root_file("config")),
        group_text("cache"),
        _AFTERWARDS,
    ]
    return "\n".join(sections).rstrip()


def help_of_group(group: str) -> str:
    """Return what there is to choose of a group, a line each."""
    if group in ("model", "judge"):
        kinds = lines.models_by_kind(listed(CONFIGS, "model"))
        sections = [_list(f"{group}=  {title}", files) for title, files in kinds]
    elif group == "prompt":
        sections = [_list(f"prompt=  (task {task})", prompt_files(task)) for task in listed(CONFIGS, "task")]
    else:
        sections = [group_text(group)]
    return "\n".join([*sections, f"harness --help {group}=NAME has the rest."])


def group_text(group: str) -> str:
    """Return the names of a group, a line each with what its file says of itself."""
    return _list(f"{group}=", listed(CONFIGS, group))


def _list(title: str, files: Mapping[str, Path]) -> str:
    return "\n".join([title, *_columns({name: lines.first_comment(file) for name, file in files.items()}), ""])


def _columns(remarks: Mapping[str, str]) -> list[str]:
    width = max(map(len, remarks), default=0)
    return [f"  {name:<{width}}  {remark}".rstrip() for name, remark in remarks.items()]


def settings_text(title: str, file: Path) -> str:
    """Return the settings in a config file as it has them, without what is Hydra's."""
    text = text_of(file)
    own = (text.partition("_self_\n")[2] or text).partition("\nhydra:")[0]
    return f"settings of {title}\n{indent(own.strip(), '  ')}\n"


def help_of_choices(choices: Sequence[tuple[str, str]]) -> str:
    """Return the file of each choice, and those that it builds on. Raises ConfigError for a name that is not there."""
    tasks = [name for group, name in choices if group == "task"]
    sections = []
    for group, name in choices:
        if group == "prompt":
            from harness.prompting.prompts import with_source
            from harness.prompting.schema import Words, read

            for file in _prompts(name, tasks):
                sections += [_file(name, file)]
                with suppress(ConfigError):  # of a file that no run would take its text alone is shown
                    if (words := with_source(file, read(file))) != read(file):
                        sections += [f"Its words are not those of its source: a manifest says {words.source!r}.\n"]
            sections += [f"what a prompt file may hold\n{indent(getsource(Words), '  ')}"]
            continue
        if name not in (files := listed(CONFIGS, group)):
            raise ConfigError(lines.unknown_choice(group, name, files))
        sections += [_file(f"{group}={file.stem}", file) for file in dict.fromkeys(lines.files_of(group, name))]
        if group == "task":
            sections += [_list(f"prompt=  (task {name})", prompt_files(name))]
            sections += [f"harness items task={name} task.limit=1 out=- shows the fields that a prompt may name.\n"]
    return "\n".join([*sections, "harness --help models, tasks and prompts list what else there is."])


def _file(title: str, file: Path) -> str:
    return f"{title}\n  {file}\n\n{indent(text_of(file).rstrip(), '  ')}\n"


def _prompts(name: str, tasks: Sequence[str]) -> list[Path]:
    """Return the prompt files of a name."""
    if name.endswith((".yaml", ".yml")) and Path(name).is_file():
        return [Path(name)]
    files = [prompt_files(task) for task in tasks or listed(CONFIGS, "task")]
    if found := list(dict.fromkeys(each[name] for each in files if name in each)):
        return found
    kind = f"prompt of task={' or '.join(tasks)}" if tasks else "prompt"
    raise ConfigError(unknown(kind, name, {known for each in files for known in each}))
