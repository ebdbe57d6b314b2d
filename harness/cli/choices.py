"""What a command line chooses of each config group, and which settings there are then. Read without Hydra."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from harness.cli.setting_lines import Setting, settings_in, settings_of
from harness.config_files import root_file
from harness.errors import DataError


def groups(config_name: str) -> dict[str, str]:
    """Return the config groups that a command chooses from, as its file's `defaults:` list them, with what they are."""
    text = root_file(config_name).read_text(encoding="utf-8")
    return {group: name.strip("\"'") for group, name in re.findall(r"^  - (\w+): (\S+)", text, re.MULTILINE)}


def named(group: str, config_name: str, arguments: Sequence[str]) -> str:
    """Return the name that a command line chooses for a group, the first one in a sweep; else that of the default."""
    names = [word.partition("=")[2] for word in arguments if word.startswith(f"{group}=")]
    return (names[-1].partition(",")[0] if names else "") or groups(config_name).get(group, "")


def settings(config_name: str, arguments: Sequence[str]) -> Iterator[Setting]:
    """Yield the settings of a command and of the parts that its command line chooses, by their full names."""
    with suppress(DataError):
        yield from settings_in(root_file(config_name))
    for group in groups(config_name):
        with suppress(DataError, KeyError):
            for setting in settings_of(group, named(group, config_name, arguments)):
                yield replace(setting, name=f"{group}.{setting.name}")
