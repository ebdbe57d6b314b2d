"""The settings of harness finetune, whatever the recipe, and the folder in which a training works, alone in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from filelock import FileLock, Timeout
from pydantic import Field, TypeAdapter, ValidationError

from harness.errors import ConfigError, HarnessError, RunStopped, StoreError
from harness.models.local.checkpoint import RECORD, Device
from harness.settings import check_keys, first_sentence
from harness.storage.atomic_write import full

MANIFEST = RECORD
"""What a finished training says of itself, beside what came out."""


@dataclass(frozen=True)
class FinetuneSettings:
    """The command's own settings; configs/finetune.yaml says what each one means."""

    recipe: dict[str, Any]
    task: dict[str, Any]
    out: Annotated[str, Field(min_length=1)]
    prompt: str | None = None
    dev_limit: Annotated[int, Field(gt=0, strict=True)] | None = None
    device: Device = "auto"
    submit: bool | str = False
    debug: bool = False


def settings_of(config: Mapping[str, Any]) -> FinetuneSettings:
    """Return a composed config, validated. Raises ConfigError."""
    check_keys(config, list(FinetuneSettings.__dataclass_fields__), "")
    try:
        return TypeAdapter(FinetuneSettings).validate_python(dict(config))
    except ValidationError as error:
        raise ConfigError(first_sentence(error, "")) from None


def leads() -> bool:
    """Return whether this is the one of several processes, by `accelerate launch`, that writes and prints."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def alone(work: Path) -> Iterator[None]:
    """Keep the folder of a training for this process and those that it works with."""
    work.mkdir(parents=True, exist_ok=True)
    if not leads():
        yield
        return
    try:
        with FileLock(work.with_suffix(".lock"), timeout=0):
            yield
    except Timeout:
        raise RunStopped(f"another process is training {work} already: wait for it.") from None
    shutil.rmtree(work, ignore_errors=True)
    work.with_suffix(".lock").unlink(missing_ok=True)


@contextmanager
def room(out: str) -> Iterator[None]:
    """Turn what libraries say of a full disk, each in words of its own, into a sentence."""
    try:
        yield
    except HarnessError:
        raise
    except Exception as error:
        words = str(error)
        if (isinstance(error, OSError) and full(error)) or any(part in words for part in _FULL):
            raise StoreError(
                f"there is no room for a checkpoint below {out}: make room, or choose another out=; the same command "
                "goes on from the last whole one."
            ) from error
        raise


_FULL = ("No space left", "File too large", "Disk quota", "file write failed", "unexpected pos")
"""What safetensors and torch say where no more can be written."""
