"""From a command line to a job, with Hydra: composition, sweeps, and one sentence for everything that goes wrong."""

from __future__ import annotations

import io
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import __version__
from harness.cli import help_text, setting_lines
from harness.cli.arguments import (
    missing_setting,
    mistake,
    quoting_hint,
    ready_for_hydra,
    several_values,
)
from harness.cli.key_value import exit_code
from harness.config_files import CONFIGS, own_folder
from harness.errors import ConfigError, HarnessError
from harness.runtime import console, environment, secrets, signals
from harness.settings import Main, build_main, plain
from harness.storage.atomic_write import full

if TYPE_CHECKING:
    from harness.cli.launcher import Multirun


_PACKAGE = Path(__file__).parents[1]
_SETTING = re.compile(r"(?!hydra)[\w/.@+~]+=")
"""key=value, where the key is not one of Hydra's own."""
_SWEEP = {"-m", "--multirun", "hydra.mode=MULTIRUN"}


Sweep = Callable[["Multirun"], int]
"""Carries out the jobs of a sweep; returns the exit code."""


def launch(job: Callable[[Any], int], config_name: str, sweep: Sweep | None = None) -> int:
    """Run `job` with the config of the command line, or `sweep` if it asks for several; return the exit code.

    A command without a `sweep` refuses -m.
    """
    console.prepare_streams()

    def begin() -> int:
        if {"-h", "--help"} & set(sys.argv[1:]):
            print(_help(config_name, sys.argv[1:]))
            return 0
        if "--version" in sys.argv[1:]:
            print(f"harness {__version__}")
            return 0
        secrets.refuse_arguments(sys.argv[1:])
        sys.argv[1:] = ready_for_hydra(sys.argv[1:], config_name)
        return _hydra(job, config_name, sweep)

    def complain(error: Exception) -> None:
        if any(argument.replace(" ", "").lower() in ("debug=true", "debug=1") for argument in sys.argv[1:]):
            print(secrets.mask_keys(console.clean(traceback.format_exc())), end="", file=sys.stderr)
        else:
            console.complain(sentence(error, config_name, sys.argv[1:]))

    # A sweep's Ctrl-C; by itself it raises nothing in a command.
    return exit_code(begin, interrupted=signals.sentence(), complain=complain)


def _help(config_name: str, arguments: Sequence[str]) -> str:
    """Return the help of what a command line chooses; that of the command where it chooses nothing."""
    groups = [*setting_lines.groups(config_name), *(["prompt"] if config_name == "config" else [])]
    if not (chosen := help_text.choices_in(arguments, groups)):
        help_text.refuse_other_groups(arguments, groups, config_name)
        asked = [group for group in groups if f"{group}=" in arguments]
        return "\n\n".join(map(help_text.help_of_group, asked)) or help_text.help_of(config_name)
    return help_text.help_of_choices(chosen)


@dataclass
class Command:
    """A command as Hydra calls it, for one config or for a sweep; it keeps the exit code."""

    job: Callable[[Any], int]
    sweep: Sweep | None
    explain: Callable[[Exception, Sequence[str]], str]
    code: int = 0
    error: Exception | None = None

    def __call__(self, config: Any) -> None:
        """Run the job, keeping its error: Hydra would print it in its own way."""
        try:
            self.code = self.job(config)
        except Exception as error:
            self.error = error

    def carry_out(self, multirun: Multirun) -> None:
        if self.sweep is None:
            raise ConfigError("this command makes one thing at a time: leave -m out.")
        self.code = self.sweep(multirun)


def _hydra(job: Callable[[Any], int], config_name: str, sweep: Sweep | None) -> int:
    import hydra

    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra hands errors on instead of printing them
    from harness.cli.own_configs import register

    register()
    if (config := _single(config_name)) is not None:
        return job(config)
    if _SWEEP & set(sys.argv[1:]):
        from harness.cli.launcher import of_a_sweep

        sys.argv[1:] = of_a_sweep(sys.argv[1:])
    command = Command(job, sweep, lambda error, arguments: sentence(error, config_name, arguments))
    run = hydra.main(version_base="1.3", config_path=str(CONFIGS), config_name=config_name)(command)
    if any(argument.startswith(("--cfg", "-c", "--info", "-i")) for argument in sys.argv[1:]):
        with redirect_stdout(io.StringIO()) as output:  # what the config files say, keys too
            run()
        print(secrets.mask_keys(output.getvalue()), end="")
    else:
        run()
    if command.error is not None:
        raise command.error
    return command.code


def _single(config_name: str) -> Any:
    """Return the config if the command line holds only settings and asks for one run, else None.

    hydra.main composes twice and prepares for logging and folders that nobody uses here: a quarter of a second that
    every run answered from the cache would wait for.
    """
    if not all(_SETTING.match(argument) for argument in sys.argv[1:]):
        return None
    from harness.cli.own_configs import without_hydra

    return without_hydra(composed(config_name, sys.argv[1:]))


def composed(config_name: str, arguments: Sequence[str]) -> Any:
    """Return the config of a command with these settings, Hydra's own part in it.

    Hydra's state is global: it is as before in the end, since the caller may be a Hydra application itself.
    """
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    before = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(str(CONFIGS), version_base="1.3"):
            return compose(config_name, list(arguments), return_hydra_config=True)
    finally:
        GlobalHydra.instance().hydra = before


def sentence(error: Exception, config_name: str, arguments: Sequence[str]) -> str:
    """Return the error of a command as one sentence; Hydra's errors get what they leave out from the arguments."""
    if isinstance(error, HarnessError):
        return str(error)
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    message = " ".join(f"{error} {error.__cause__ or ''}".split())
    kind = type(error).__name__
    if kind == "OverrideParseException":
        return quoting_hint(arguments)
    # Names are looked up in the config files; the words of Hydra's errors change with its version.
    if isinstance(error, OmegaConfBaseException) and (reason := missing_setting(config_name, arguments)):
        return reason
    if isinstance(error, (HydraException, OmegaConfBaseException, ValueError)) and (
        reason := mistake(config_name, arguments) or several_values(config_name, arguments)
    ):
        return reason
    if isinstance(error, RecursionError) and own_folder(CONFIGS) is not None:
        return "files of ./configs extend each other in a circle (one cannot build on a file of its own name)."
    if kind.startswith("Interpolation"):
        return f"a setting refers to one that is not there: {message}"
    if isinstance(error, ImportError):
        return environment.failed_import(error)
    if type(error).__module__.startswith("yaml"):
        return f"a config file is not YAML: {message}"
    if isinstance(error, OSError) and error.strerror:
        if full(error):
            return f"there is no room for a file ({error.strerror}): make room, or choose another results=."
        return f"{error.filename or 'a file'} cannot be used: {error.strerror}."
    where = own_line(error) or "this should not have been: debug=true shows where"
    return f"{kind}: {message} ({where})"


def own_line(error: Exception) -> str:
    """Return file and line where an error came from the user's own code; "" where it came from elsewhere."""
    here = Path.cwd()
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename)
        if file.is_relative_to(_PACKAGE):
            return ""
        if file.is_relative_to(here) and "site-packages" not in file.parts:
            return f"{file.relative_to(here)}, line {frame.lineno}"
    return ""


def run_settings(arguments: Sequence[str]) -> Main:
    """Return what `harness` would make of these arguments. Raises ConfigError."""
    return build_main(run_config(arguments))


def run_config(arguments: Sequence[str]) -> dict[str, Any]:
    """Return the config that `harness` would compose of these arguments. Raises ConfigError."""
    from harness.cli import own_configs

    secrets.refuse_arguments(arguments)
    try:
        own_configs.register()
        with own_configs.as_running(composed("config", arguments)) as composition:
            config = plain(composition)
    except HarnessError:
        raise
    except Exception as error:
        raise ConfigError(secrets.mask_keys(sentence(error, "config", arguments))) from error
    secrets.refuse_config(config)
    return config
