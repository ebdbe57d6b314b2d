"""The configurations of models in the groups in which the help lists them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from harness.cli.setting_lines import text_of
from harness.config_files import is_shipped
from harness.errors import DataError

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
