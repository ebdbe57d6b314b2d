"""What the answers of a served model depend on, found out before its server starts, since it is in the cache's key."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from harness.codec import plain_text
from harness.errors import ConfigError
from harness.models.local.checkpoint import file_digest, fingerprint, locate
from harness.trust import child_environment
from harness.types import JSON

_WITHOUT_EFFECT = frozenset(
    (
        *("--tensor-parallel-size", "-tp", "--tp", "--tp-size"),
        *("--pipeline-parallel-size", "-pp", "--pp", "--pp-size"),
        *("--data-parallel-size", "-dp", "--dp", "--dp-size"),
        *("--distributed-executor-backend", "--nnodes", "--node-rank", "--master-addr", "--master-port", "--device"),
        *("--gpu-memory-utilization", "--mem-fraction-static", "--swap-space", "--cpu-offload-gb", "--block-size"),
        *(
            "--max-num-seqs",
            "--max-num-batched-tokens",
            "--max-running-requests",
            "--max-model-len",
            "--context-length",
        ),
        *("--download-dir", "--load-format", "--max-parallel-loading-workers", "--enforce-eager"),
        *("--enable-prefix-caching", "--no-enable-prefix-caching", "--continuous-batching"),
        *("--disable-log-stats", "--disable-log-requests", "--enable-log-requests", "--no-enable-log-requests"),
        *("--uvicorn-log-level", "--log-level"),
        *("-c", "--ctx-size", "-np", "--parallel", "-t", "--threads", "-ngl", "--gpu-layers", "--n-gpu-layers"),
        *("-b", "--batch-size", "-ub", "--ubatch-size"),
    )
)
"""Arguments that place or limit the work without an effect on answers; all others are in the identity."""
_COMMIT = re.compile(r"[0-9a-f]{40}")
_FIND_VERSION = """
import sys
from importlib.metadata import packages_distributions, version
def version_or_none(name):
    try: return version(name)
    except Exception: return None
names = sys.argv[1:] + [n for package in sys.argv[1:] for n in packages_distributions().get(package, ())]
print(next(filter(None, map(version_or_none, names)), ""))
"""
_VERSION_TIMEOUT = 120.0
"""Seconds for `COMMAND --version`."""


@cache
def version_of(words: tuple[str, ...], package: str | None) -> str:
    """Return the version of the engine that a command starts: its package's, else that in `COMMAND --version`.

    Raises ConfigError if there is neither.
    """
    if package and (python := _python_of(words[0])):
        output = _output([python, "-c", _FIND_VERSION, package])
        if output.strip():
            return output.strip().splitlines()[-1]
    output = _output([*words, "--version"])
    if match := re.search(r"\d+(?:\.\d+)+[\w.+-]*", output) or re.search(r"version:?\s+(\w*\d\w*)", output):
        return match[match.lastindex or 0]
    raise ConfigError(
        f"{' '.join(words)} does not tell its version, which is part of what its answers are stored under: give it as "
        "model.version=…"
    )


def _python_of(program: str) -> str | None:
    """Return the Python that runs a program: itself, or the one in a script's first lines; None for other programs."""
    if re.fullmatch(r"python[\d.]*", Path(program).name):
        return program
    try:
        with Path(program).open("rb") as file:
            head = file.read(512).decode(errors="replace")
    except OSError:
        return None
    if not head.startswith("#!"):
        return None
    # If its path is long, pip writes it into the second line, behind a shell's exec.
    if match := re.search(r"(/[^\s'\"]*/python[\d.]*)(?=[\s'\"]|$)", "\n".join(head.splitlines()[:2])):
        return match[1]
    return shutil.which("python3") if re.match(r"#!\S*env\s+python", head) else None


def _output(command: Sequence[str]) -> str:
    try:
        process = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_VERSION_TIMEOUT,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **child_environment()},
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    if process.returncode:
        return ""
    return process.stdout + ("\n" + process.stderr if not process.stdout.strip() else "")


def checkpoint_of(path: str, revision: str | None, *, code: bool) -> dict[str, JSON]:
    """Return what is served: the digest of a local folder or file, or a name of the Hub with its commit.

    code: whether Python files of the checkpoint may run. Raises ConfigError if there is no such folder or file.
    """
    place = Path(path).expanduser()
    if place.is_file():
        return {"checkpoint": file_digest(place)}
    if place.is_dir() or path.startswith(("/", ".", "~")) or path.count("/") > 1 or place.suffix == ".gguf":
        return {"checkpoint": fingerprint(locate(path, None))}
    return {"checkpoint": f"{path}@{commit_of(path, revision)}"}


@cache
def commit_of(name: str, revision: str | None) -> str:
    """Return the commit of a Hub model: the local copy's, else the Hub's. Raises ConfigError."""
    if revision and _COMMIT.fullmatch(revision):
        return revision
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface").expanduser()
    hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub").expanduser()
    try:
        commit = (hub / f"models--{name.replace('/', '--')}" / "refs" / (revision or "main")).read_text("ascii").strip()
        if _COMMIT.fullmatch(commit):
            return commit
    except (OSError, ValueError):
        pass
    try:
        from huggingface_hub import HfApi

        return str(HfApi().model_info(name, revision=revision, timeout=30).sha)
    except ImportError:
        why = "huggingface_hub, which would ask for it, is not installed"
    except Exception as error:  # its own kinds, httpx's and requests'
        why = " ".join(str(error).split())[:200]
    raise ConfigError(
        f"the checkpoint {name} is neither a folder or a file here, nor in the local Hub cache, and its commit cannot "
        f"be found out ({why}): check model.path and the network, or give the commit as model.revision=…"
    )


def template_of(path: str, file: str | None) -> str | None:
    """Return the digest of the chat template: of `file`, else of the folder at `path`; None if the commit covers it."""
    if file is not None:
        try:
            return _digest(plain_text(Path(file).expanduser()))
        except (OSError, ValueError) as error:
            raise ConfigError(f"model.chat_template={file} cannot be read ({error}).") from None
    folder = Path(path).expanduser()
    if (text := _text(folder / "chat_template.jinja")) is not None:
        return _digest(text)
    template = _object(folder / "tokenizer_config.json").get("chat_template")
    return None if template is None else _digest(json.dumps(template) if not isinstance(template, str) else template)


def quantization_of(path: str, setting: str | None) -> JSON:
    """Return how the weights are quantised: by the setting, else by a folder's configuration; else None."""
    own = _object(Path(path).expanduser() / "config.json").get("quantization_config")
    return setting or (str(own.get("quant_method")) if isinstance(own, dict) else None)


def lasting(args: Sequence[str]) -> list[JSON]:
    """Return the arguments on which answers may depend, sorted, with digests in place of files."""
    groups: list[list[str]] = []
    for argument in args:
        name, equals, value = argument.partition("=")
        if argument.startswith("-") and not re.fullmatch(r"-\d.*", argument):
            groups.append([name, value] if equals else [argument])
        elif groups:
            groups[-1].append(argument)
        else:
            groups.append(["", argument])
    with_effect = [group for group in groups if group[0] not in _WITHOUT_EFFECT]
    return sorted([[group[0], *map(_without_place, group[1:])] for group in with_effect], key=str)


def _without_place(value: str) -> str:
    """Return a value with the path of a file or folder, alone or in NAME=PATH, replaced by the content's digest."""
    name, equals, place = value.rpartition("=")
    path = Path(place).expanduser()
    if not place or len(place) > 255 or not path.exists():
        return value
    digest = file_digest(path) if path.is_file() else fingerprint(path)
    return f"{name}{equals}sha256:{digest}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _object(file: Path) -> dict[str, JSON]:
    try:
        content = json.loads(_text(file) or "{}")
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _text(file: Path) -> str | None:
    try:
        return plain_text(file, 1 << 27)
    except (OSError, ValueError):
        return None
