"""From a command line to a job, with Hydra: composition, sweeps, and one sentence for everything that goes wrong."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import usage
from harness.errors import HarnessError, Interrupted, unknown
from harness.settings import CONFIGS, listed

ERROR, INTERRUPTED = 1, 130


def launch(job: Callable[[Any], int], config_name: str) -> int:
    """Runs `job` with the config that the command line composes; the exit code."""
    arguments = sys.argv[1:]
    if {"-h", "--help"} & set(arguments):
        print(usage.text(config_name))
        return 0
    debug = any(argument.replace(" ", "").lower() in ("debug=true", "debug=1") for argument in arguments)
    try:
        return _hydra(job, config_name)
    except Interrupted as stop:
        print(stop, file=sys.stderr)
        return INTERRUPTED
    except KeyboardInterrupt:
        print("interrupted: every stored answer is kept; the same command goes on from there.", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if debug:
            raise
        print(f"error: {_sentence(error)}", file=sys.stderr)
        return ERROR


def _hydra(job: Callable[[Any], int], config_name: str) -> int:
    import hydra

    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra hands errors on instead of printing them
    own = Path.cwd() / "configs"
    if own.is_dir() and own != CONFIGS:
        sys.argv.append(f"hydra.searchpath=[file://{own}]")
    codes: list[int] = []
    errors: list[Exception] = []

    def quiet(config: Any) -> None:
        """Runs the job; an error is raised only once Hydra is done, which would print it in its own way."""
        try:
            codes.append(job(config))
        except Exception as error:
            errors.append(error)

    hydra.main(version_base="1.3", config_path=str(CONFIGS), config_name=config_name)(quiet)()
    if errors:
        raise errors[0]
    return max(codes, default=0)


def _sentence(error: Exception) -> str:
    """The error in one sentence: ours as they are, Hydra's with what it leaves out."""
    if isinstance(error, HarnessError):
        return str(error)
    said = " ".join(str(error).split())
    kind = type(error).__name__
    if kind == "MissingConfigException":
        chosen = re.search(r"Could not find '(?P<group>\w+)/(?P<name>[^']+)'", said)
        if chosen:
            return unknown(chosen["group"], chosen["name"], listed(CONFIGS, chosen["group"]))
    if kind == "ConfigCompositionException":
        cause = " ".join(str(error.__cause__ or "").split())
        key = re.search(r"Could not override '(?P<key>[^']+)'", said)
        if key and ("is not in struct" in cause or "Key" in cause):
            return _unknown_key(key["key"])
        group = re.search(r"Could not override '(?P<key>[^']+)'\. No match in the defaults list", said)
        if group:
            return _unknown_key(group["key"])
        return f"{said} {cause}".strip()
    if kind == "OverrideParseException":
        where = "" if "=" in said else f" in {' '.join(sys.argv[1:])}"
        said = said.partition(" See https")[0]
        return f"{said}{where}. Write key=value, and quotes around values that hold spaces, commas or brackets."
    missing = re.search(r"[Mm]issing mandatory value: (?P<key>[\w.]+)", said)
    if missing:
        return f"{missing['key']} has to be given: add {missing['key']}=… to the command."
    if kind.startswith("Interpolation"):
        return f"a setting refers to one that is not there: {said}"
    return f"{kind}: {said} (this should not have been: debug=true shows where)"


def _unknown_key(key: str) -> str:
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    group = key.partition(".")[0]
    GlobalHydra.instance().clear()
    chosen = [a for a in sys.argv[1:] if re.match(r"(?:model|task)=[\w/]+$", a)]
    with initialize_config_dir(str(CONFIGS), version_base="1.3"):
        try:
            config = compose("config", overrides=chosen)
        except Exception:
            config = compose("config")
    names = [str(name) for name in config if name != "hydra"]
    for section in ("model", "task", "cache"):
        names += [f"{section}.{name}" for name in config.get(section, {}) if name != "_target_"]
    near = [name for name in names if name.startswith(f"{group}.")] if "." in key and group in config else names
    return unknown("setting", key, near or names)
