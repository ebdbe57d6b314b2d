"""From a command line to a job, with Hydra: composition, sweeps, and one sentence for everything that goes wrong."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from harness import __version__
from harness.cli import help_text
from harness.cli.arguments import HYDRAS, SWEEP, missing_setting, mistake, quoting_hint, ready_for_hydra, several_values
from harness.cli.key_value import exit_code
from harness.config_files import CONFIGS, own_folder
from harness.errors import ConfigError, HarnessError
from harness.runtime import console, environment, secrets, signals
from harness.settings import Main, build_main
from harness.storage.atomic_write import full

if TYPE_CHECKING:
    from harness.cli.launcher import Job as SweptJob
    from harness.cli.launcher import Multirun

Job = Callable[[dict[str, Any]], int]
Sweep = Callable[["Multirun"], int]
"""Carries out what a composed config says, or the jobs of a sweep; returns the exit code."""


def launch(job: Job, config_name: str, sweep: Sweep | None = None) -> int:
    """Run `job` with the config of the command line, or `sweep` if it asks for several; return the exit code.

    A command without a `sweep` refuses -m.
    """
    console.prepare_streams()
    arguments = sys.argv[1:]

    def begin() -> int:
        if {"-h", "--help"} & {*arguments}:
            print(help_text.help_for(config_name, arguments))
            return 0
        if "--version" in arguments:
            print(f"harness {__version__}")
            return 0
        secrets.refuse_arguments(arguments)
        sys.argv[1:] = ready_for_hydra(arguments, config_name)
        if any(map(HYDRAS.fullmatch, arguments)):
            with redirect_stdout(io.StringIO()) as output:  # what the config files say, keys too
                code = _hydra(job, config_name, None)
            print(secrets.mask_keys(output.getvalue()), end="")
            return code
        if SWEEP & {*arguments}:
            return _hydra(job, config_name, sweep)
        return job(composed(config_name, sys.argv[1:]))

    def complain(error: Exception) -> None:
        if any(argument.replace(" ", "").lower() in ("debug=true", "debug=1") for argument in arguments):
            print(secrets.mask_keys(console.clean(traceback.format_exc())), end="", file=sys.stderr)
        else:
            console.complain(sentence(error, config_name, arguments))

    # A sweep's Ctrl-C; by itself it raises nothing in a command.
    return exit_code(begin, interrupted=signals.sentence(), complain=complain)


@dataclass
class _Command:
    """A command as Hydra calls it, for one config or for a sweep of these settings; it keeps the exit code."""

    job: Job
    sweep: Sweep | None
    swept: list[str]
    code: int = 0

    def __call__(self, config: Any) -> None:
        from omegaconf import OmegaConf

        self.code = self.job(cast(dict[str, Any], OmegaConf.to_container(config, resolve=True)))

    def carry_out(self, multirun: Multirun) -> None:
        if self.sweep is None:
            raise ConfigError("this command makes one thing at a time: leave -m out.")
        self.code = self.sweep(multirun)


def _hydra(job: Job, config_name: str, sweep: Sweep | None) -> int:
    """Have Hydra itself read the command line, as -m and its own flags ask for it; return the exit code."""
    import hydra

    from harness.cli.launcher import is_hydras, of_a_sweep
    from harness.cli.own_configs import register

    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra hands errors on instead of printing them
    register()
    command = _Command(job, sweep, [word for word in sys.argv[1:] if not is_hydras(word)])
    if SWEEP & {*sys.argv}:
        sys.argv[1:] = of_a_sweep(sys.argv[1:])
    hydra.main(version_base="1.3", config_path=str(CONFIGS), config_name=config_name)(command)()
    return command.code


def composed(config_name: str, arguments: Sequence[str], number: int = 0) -> dict[str, Any]:
    """Return the config that a command composes, of a job of a sweep by its number. Raises ConfigError."""
    from harness.cli.own_configs import composition, values

    try:
        with composition(config_name, arguments, number) as config:
            content = values(config)
    except HarnessError:
        raise
    except Exception as error:
        raise ConfigError(secrets.mask_keys(sentence(error, config_name, arguments))) from error
    secrets.refuse_config(content)
    return content


def composed_job(multirun: Multirun, job: SweptJob) -> dict[str, Any]:
    """Return the config of a job of a sweep. Raises ConfigError for one that does not compose."""
    return composed(multirun.config_name, [*multirun.hydra_overrides, *job.overrides], job.number)


def run_config(arguments: Sequence[str]) -> dict[str, Any]:
    """Return the config that `harness` would compose of these arguments. Raises ConfigError."""
    secrets.refuse_arguments(arguments)
    return composed("config", arguments)


def run_settings(arguments: Sequence[str]) -> Main:
    """Return what `harness` would make of these arguments. Raises ConfigError."""
    return build_main(run_config(arguments))


def sentence(error: Exception, config_name: str, arguments: Sequence[str]) -> str:
    """Return the error of a command as one sentence; Hydra's errors get what they leave out from the arguments."""
    if isinstance(error, HarnessError):
        return str(error)
    if isinstance(error, ImportError):
        return environment.failed_import(error)
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    message = " ".join(f"{error} {error.__cause__ or ''}".split())
    kind = type(error).__name__
    if kind == "OverrideParseException":
        return quoting_hint(arguments)
    if isinstance(error, OmegaConfBaseException) and (reason := missing_setting(config_name, arguments)):
        return reason
    if isinstance(error, (HydraException, OmegaConfBaseException, ValueError)) and (
        reason := mistake(config_name, arguments) or several_values(config_name, arguments)
    ):
        return reason
    if isinstance(error, RecursionError) and own_folder(CONFIGS) is not None:
        return "files of ./configs extend each other in a circle (one cannot build on a file of its own name)."
    if kind.startswith("Interpolation"):
        return f"a setting refers to one that is not there: {message} (in a text, ${{ is written \\${{)"
    if isinstance(error, OSError) and error.strerror:
        if full(error):
            return f"there is no room for a file ({error.strerror}): make room, or choose another results=."
        return f"{error.filename or 'a file'} cannot be used: {error.strerror}."
    return f"{kind}: {message} (this should not have been: debug=true shows where)"
