"""Command lines of the small commands: what stands alone is a name or a place, key=value is a setting."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from harness.errors import ConfigError, HarnessError, unknown
from harness.runtime import console, streams
from harness.runtime.signals import INTERRUPTED
from harness.settings import first_sentence
from harness.tables import terminal
from harness.tables.table import Part

S = TypeVar("S")

_SETTING = re.compile(r"(\w+)=(.*)", re.DOTALL)
Words = Annotated[tuple[str, ...], BeforeValidator(lambda value: _words(value))]
"""Several, as in by=relation,num_nodes."""


def command(
    help: str, settings: type[S], job: Callable[[list[str], S], str | Sequence[Part]], given: Sequence[str] | None
) -> int:
    """Prints what the job makes of the command line, or the help, or one sentence; the exit code."""
    arguments = list(sys.argv[1:] if given is None else given)

    def run() -> int:
        if {"-h", "--help"} & set(arguments):
            print(help)
            return 0
        said = job(*parsed(arguments, settings))
        with suppress(BrokenPipeError):  # | head
            terminal.show([said] if isinstance(said, str) else said)
            sys.stdout.flush()
        return 0

    return ended(run)


def ended(action: Callable[[], int]) -> int:
    """Return a command's exit code, which is what it returns; say in one sentence what ends it otherwise."""
    streams.prepare()
    try:
        code = action()
        sys.stdout.flush()
        return code
    except HarnessError as error:
        console.complain(error)
        return 1
    except BrokenPipeError:  # the reader of our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt as stop:
        print(stop if stop.args else "interrupted.", file=sys.stderr)
        return INTERRUPTED


def parsed(arguments: Sequence[str], settings: type[S]) -> tuple[list[str], S]:
    """What stands alone, and the settings. A folder may have = in its name: what exists is a place."""
    names: list[str] = []
    chosen: dict[str, str] = {}
    known = [f.name for f in fields(settings)]  # type: ignore[arg-type]
    for argument in arguments:
        setting = _SETTING.fullmatch(argument)
        if setting is None or Path(argument).exists():
            if argument.startswith("-"):
                raise ConfigError(f"there is no option {argument}: settings are key=value ({', '.join(known)}).")
            names.append(argument)
        elif setting[1] not in known:
            raise ConfigError(unknown("setting", setting[1], known))
        else:
            chosen[setting[1]] = setting[2]
    try:
        return names, TypeAdapter(settings).validate_python(chosen)
    except ValidationError as error:
        raise ConfigError(first_sentence(error, "")) from None


def _words(value: Any) -> Any:
    return (
        tuple(part.strip() for part in value.strip("[]").split(",") if part.strip())
        if isinstance(value, str)
        else value
    )
