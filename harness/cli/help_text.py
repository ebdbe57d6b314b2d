"""The text of --help, read from the config and prompt files without importing anything heavy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from harness import plugin
from harness.cli.commands import summaries
from harness.cli.setting_lines import Setting, first_comment, settings_in, text_of
from harness.config_files import CONFIGS, is_shipped, listed, prompt_files, root_file
from harness.errors import DataError

WIDEST = 48
"""Characters of a setting and its value that its column is made for."""

_MAIN = """\
harness: can language models reason about cause and effect?

  harness                                     the exact reasoner on the public Corr2Cause test split
  harness model=gpt4 task=corr2cause          an API model (export OPENAI_API_KEY=… first)
  harness model=openai model.model=NAME model.base_url=http://localhost:8000/v1
  harness model=gpt4o answer=choice           the server holds each reply to Yes or No: no words are read
  harness model=gpt4o model.method=rank       the probabilities of Yes and No: AUROC, Brier score, …
  harness model=roberta_mnli task.limit=100   a zero-shot NLI model on a stratified sample
  harness model=causal_lm model.path=FOLDER   a local language model
  harness model=gpt4 judge=gpt4o              a judge reads the replies in which the rules find no answer
  harness model=gpt4 dry_run=true             what would be asked, and for how much; nothing is asked
  harness -m model=always_no,random_uniform task.perturbation=none,paraphrase
                                              a sweep: every combination, one leaderboard
  harness model=gpt4_0613 task=causalbench/causality task.networks=[asia,cancer]
                                              CausalBench: does one variable cause another? And task=cladder

  harness --help model=gpt4                   the settings of a model, their values and what they mean; so too task=
                                              (with the fields that prompts may name), prompt=, cache=, workers=, judge=
  harness --help leaderboard                  the help of a command; --version tells the version
"""

_AFTERWARDS = """\
`python -m harness NAME …` and `python -m harness.NAME …` are the same as `harness NAME …`. The shell completes commands
and settings after eval "$(harness -sc install=bash)" (or zsh, fish).

Settings are key=value. A value with commas or brackets takes quotes inside of the shell's: 'task.path="a, b.csv"'.

A run goes on where it was stopped: answers are stored as they land and asked for once. Settings of your own:
configs/<group>/<name>.yaml and prompts/<task>/<name>.yaml in the working directory are found as well.
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
        "\n".join(["commands (harness NAME --help tells the rest)", *columns(summaries().items()), ""]),
        _AFTERWARDS,
        *_models(),
        group_text("task"),
        *(prompt_list(task) for task in listed(CONFIGS, "task")),
        group_text("cache"),
        *([group_text("workers")] if listed(CONFIGS, "workers") else []),
        settings_text("config", root_file("config")),
        settings_text("cache", CONFIGS / "cache" / "on.yaml", "cache."),
        *_tasks(),
        "A model's settings: harness --help model=NAME. Those of a judge are the same, as judge.…= (judge= takes what "
        "model= takes). Hydra's own flags: --hydra-help.",
    ]
    return "\n".join([*sections, *([plugin.absent()] if plugin.absent() else [])])


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


def _models() -> list[str]:
    return [_list(f"model=  {title}", files) for title, files in grouped(listed(CONFIGS, "model"))]


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


_BASE = re.compile(r"^defaults: *\[(\w+), *_self_\]", re.MULTILINE)
_CLASS = re.compile(r"^_target_: *(\S+)", re.MULTILINE)
_NAMED = re.compile(r"^(?:model|path): *[^?\s]", re.MULTILINE)
_PAPER = re.compile(r"^# paper: *(.+?) *$", re.MULTILINE)
_FIRST = (
    "your own, in ./configs/model/",
    "any model by its name: of a provider, of a server of your own, or a checkpoint on this machine",
    "hosted models, November 2026",
    "checkpoints from the Hugging Face Hub, November 2026, on this machine",
)
_OWN, _ANY, _HOSTED, _CHECKPOINT = _FIRST
_BASELINE = "baselines, and exact logic"


def grouped(files: Mapping[str, Path]) -> list[tuple[str, dict[str, Path]]]:
    """Return the groups that are not empty, each with a title and its files by name, in the order of the help."""
    texts = {name: _text(file) for name, file in files.items()}
    titles = {name: _title(name, file, texts) for name, file in files.items()}
    papers = sorted({*titles.values()} - {*_FIRST, _BASELINE}, reverse=True)
    groups = {title: {n: files[n] for n in files if titles[n] == title} for title in (*_FIRST, *papers, _BASELINE)}
    return [(title, members) for title, members in groups.items() if members]


def _text(file: Path) -> str:
    """Return what a file says; nothing for one that cannot be read, of which the list says so."""
    try:
        return text_of(file)
    except DataError:
        return ""


def _title(name: str, file: Path, texts: Mapping[str, str]) -> str:
    if not is_shipped(file):
        return _OWN
    chain = _chain(name, texts)
    target = next((found[1] for text in chain if (found := _CLASS.search(text))), "")
    if ".api." not in target and ".local." not in target:
        return _BASELINE
    if paper := _PAPER.search(chain[0]):
        return f"those of the {paper[1]} paper; what OpenAI has shut down other servers may have"
    if not _NAMED.search(chain[0]):
        return _ANY
    return _HOSTED if ".api." in target else _CHECKPOINT


def _chain(name: str, texts: Mapping[str, str]) -> list[str]:
    """Return a configuration's text and those that it is built on, the nearest first; each one once."""
    names = [name]
    while (base := _BASE.search(texts[names[-1]])) and base[1] in texts and base[1] not in names:
        names.append(base[1])
    return [texts[each] for each in names]
