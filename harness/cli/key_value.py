"""Command lines of the small commands: names or paths, and settings as key=value."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from harness import __version__
from harness.errors import ConfigError, HarnessError, Interrupted, unknown
from harness.runtime import console, signals
from harness.runtime.signals import INTERRUPTED
from harness.settings import first_sentence

if TYPE_CHECKING:
    from harness.tables.table import Part

S = TypeVar("S")

_SETTING = re.compile(r"(\w+)=(.*)", re.DOTALL)
Words = Annotated[tuple[str, ...], BeforeValidator(lambda value: _words(value))]
"""A setting with several values, as in by=relation,num_nodes."""
Output = Union[str, "Sequence[Part]", int]
"""What a job returns: its output, or its exit code if it has printed everything itself."""


@dataclass(frozen=True)
class Choice:
    """A subcommand: its settings and its job."""

    settings: type[Any]
    job: Callable[[list[str], Any], Output]


def command(
    help: str, settings: type[S], job: Callable[[list[str], S], Output], argv: Sequence[str] | None = None
) -> int:
    """Print the help, the output of the job, or an error as one sentence; return the exit code."""
    return _run(help, argv, lambda arguments: job(*parse_arguments(arguments, settings)))


def commands(
    help: str, choices: Mapping[str, Choice], argv: Sequence[str] | None = None, *, interrupted: str = "interrupted."
) -> int:
    """Carry out a command whose first word chooses a job, as `command` does; `interrupted` is printed after Ctrl-C."""

    def job(arguments: Sequence[str]) -> Output:
        if not arguments or "=" in arguments[0] or arguments[0].startswith("-"):
            raise ConfigError(f"the first word says what to do: {', '.join(choices)}. --help says what each one does.")
        if arguments[0] not in choices:
            raise ConfigError(unknown("command", arguments[0], choices))
        choice = choices[arguments[0]]
        return choice.job(*parse_arguments(arguments[1:], choice.settings))

    return _run(help, argv, job, interrupted)


def _run(
    help: str, argv: Sequence[str] | None, job: Callable[[Sequence[str]], Output], interrupted: str = "interrupted."
) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)

    def run() -> int:
        output: Output
        if {"-h", "--help"} & {*arguments}:
            print(help)
            return 0
        output = f"harness {__version__}" if "--version" in arguments else job(arguments)
        if isinstance(output, int):
            return output
        from harness.tables import terminal

        terminal.show([output] if isinstance(output, str) else output)
        return 0

    console.prepare_streams()
    signals.as_exception()
    return exit_code(run, interrupted=interrupted)


def parse_arguments(arguments: Sequence[str], settings: type[S]) -> tuple[list[str], S]:
    """Split arguments into positionals and settings; return both. An existing path with = in it is positional."""
    positionals: list[str] = []
    values: dict[str, str] = {}
    names = [f.name for f in fields(settings)]  # type: ignore[arg-type]
    for argument in arguments:
        setting = _SETTING.fullmatch(argument)
        if setting is None or Path(argument).exists():
            if argument.startswith("-") and argument != "-":
                raise ConfigError(without_dashes(argument))
            positionals.append(argument)
        elif setting[1] not in names:
            raise ConfigError(unknown("setting", setting[1], names))
        else:
            values[setting[1]] = setting[2]
    try:
        return positionals, TypeAdapter(settings).validate_python(values)
    except ValidationError as error:
        raise ConfigError(first_sentence(error, "")) from None


def without_dashes(argument: str) -> str:
    """Return the sentence about an option: how it is written as a setting."""
    name, _, value = argument.lstrip("-").partition("=")
    way = f"{name.replace('-', '_')}={value or '…'}"
    return f"there is no option {argument.partition('=')[0]}: settings are key=value, {way} (--help lists them)."


def _words(value: Any) -> Any:
    parts = value.strip("[]").split(",") if isinstance(value, str) else value
    return tuple(part.strip() for part in parts if part.strip())


def exit_code(
    action: Callable[[], int],
    *,
    interrupted: str = "interrupted.",
    complain: Callable[[Exception], object] = console.complain,
) -> int:
    """Return the exit code of a command, which is what `action` returns, or that of the error which ends it.

    `interrupted` is printed after a Ctrl-C without a message of its own. Call `console.prepare_streams` first.
    """
    try:
        code = action()
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        console.discard_output()
        return 0
    except (Interrupted, KeyboardInterrupt) as stop:
        print(stop if stop.args else interrupted, file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if complain is console.complain and not isinstance(error, HarnessError):
            raise
        complain(error)
        return 1
