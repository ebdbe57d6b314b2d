"""The settings of harness finetune and of recipes, and the working folder of a training."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from filelock import FileLock, Timeout
from pydantic import Field

from harness.errors import ConfigError, HarnessError, RunStopped, StoreError
from harness.models.local.checkpoint import RECORD, Device
from harness.models.local.placing import Bits
from harness.plugins.train.scratch import Scratch
from harness.plugins.train.trainer_settings import check_names, of_weights
from harness.settings import LOCAL, without_path
from harness.storage.atomic_write import full
from harness.types import JSON

Share = Annotated[float, Field(ge=0, lt=1)]
Whole = Annotated[int, Field(gt=0, strict=True)]


@dataclass(frozen=True, kw_only=True)
class Lora:
    """Low-rank adapters (Hu et al. 2022), merged into whole weights at the end; `r` None trains all weights."""

    r: Whole | None = None
    alpha: Annotated[int, Field(gt=0)] = 16
    dropout: Share = 0.05
    targets: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A base and the settings of its training; configs/recipe/nli.yaml says what each one means."""

    name: str
    kind: Literal["nli", "causal_lm"]
    path: str | None = field(metadata=LOCAL)
    revision: str | None = None
    labels: tuple[str, ...] | None = None
    scratch: Scratch | None = None
    task: Mapping[str, JSON] = field(default_factory=dict)
    settings: Literal["harness", "paper"] = "harness"
    learning_rate: Annotated[float, Field(gt=0)]
    batch_size: Whole
    epochs: Annotated[float, Field(gt=0)]
    warmup: Share = 0.0
    schedule: Literal["linear", "cosine", "constant"] = "linear"
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    max_grad_norm: Annotated[float, Field(gt=0)] | None = 1.0
    dropout: Share | None = None
    class_weight: Literal["none", "balanced"] = "none"
    yes_share: Annotated[float, Field(gt=0, lt=1)] | None = None
    max_length: Whole | None = None
    too_long: Literal["refuse", "drop"] = "refuse"
    packed: bool = False
    group_by_length: bool = False
    evaluations: Annotated[float, Field(gt=0)] = 1.0
    patience: Whole | None = None
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    lora: Lora = field(default_factory=Lora)
    bits: Bits | None = None
    trainer: Mapping[str, JSON] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0

    def __post_init__(self) -> None:
        """Raise ConfigError for combinations of settings without a meaning."""
        check_names(self.trainer or {})
        if (self.path is None) == (self.scratch is None):
            raise ConfigError(
                "recipe.path names a base and recipe.scratch describes one that is made: give one of them, "
                "recipe.path=NAME_OR_FOLDER where you are not sure."
            )
        if self.packed and (
            self.kind != "nli" or self.settings == "paper" or int(os.environ.get("WORLD_SIZE", "1")) > 1
        ):
            raise ConfigError("recipe.packed goes with recipe.kind=nli, recipe.settings=harness and one process.")
        if self.bits and (self.kind != "causal_lm" or not self.lora.r):
            raise ConfigError(
                "recipe.bits=4 stores the base in 4 bits, which cannot be trained: it goes with adapters beside it, "
                "recipe.lora.r=16, and with recipe.kind=causal_lm."
            )
        if self.scratch and self.kind != "nli":
            raise ConfigError("recipe.scratch makes classifiers of pairs: it goes with recipe.kind=nli.")
        if self.kind == "causal_lm" and (self.class_weight != "none" or self.labels or self.settings == "paper"):
            raise ConfigError(
                "recipe.class_weight, recipe.labels and recipe.settings=paper are for classifiers (recipe.kind=nli): a "
                "causal language model learns the prompt's own answers; recipe.yes_share changes how often each comes."
            )
        if self.settings == "paper" and (self.dropout is not None or self.class_weight != "none" or self.lora.r):
            raise ConfigError(
                "recipe.settings=paper does as the authors' public code: there dropout reaches no classifier, the "
                "classes are weighted with 1 / count, and all weights are trained: leave recipe.dropout, "
                "recipe.class_weight and recipe.lora.r out."
            )

    @property
    def by(self) -> Literal["f1", "accuracy"]:
        """The score on dev that chooses the checkpoint: F1; the authors' code took accuracy."""
        return "accuracy" if self.settings == "paper" else "f1"

    @property
    def prompt(self) -> str | None:
        """The default prompt; None for the first one that the model accepts."""
        return "one_text" if self.settings == "paper" else None

    def as_json(self) -> Mapping[str, JSON]:
        """Return the settings that the weights depend on, with folders by name and digest in place of their paths."""
        values = {**asdict(self), "path": None if self.path is None else without_path(self.path)}
        later = {"bits": values.pop("bits"), "trainer": of_weights(values.pop("trainer") or {})}
        # Left out where they are not set: they came later, and a checkpoint made before keeps its name.
        return {**values, **{name: value for name, value in later.items() if value}}


MANIFEST = RECORD
"""The file beside the weights that describes their training."""
ADAPTER = "adapter"
"""The folder of the low-rank adapters, as they are before they are merged into the weights."""


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


def leads() -> bool:
    """Return whether this process, of several started by `accelerate launch`, is the one that writes and prints."""
    return os.environ.get("RANK", "0") == "0"


def leader_first(device: str) -> AbstractContextManager[None]:
    """Have the process that writes go through a block before its peers enter it."""
    if os.environ.get("WORLD_SIZE", "1") == "1":
        return nullcontext()
    from accelerate import PartialState

    first: AbstractContextManager[None] = PartialState(cpu=device == "cpu").main_process_first()
    return first


@contextmanager
def alone(work: Path) -> Iterator[None]:
    """Lock the folder of a training for this process and its peers, and remove it at the end."""
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
    """Turn any library's error for a full disk into a StoreError with a way out."""
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
"""Messages of safetensors and torch on a full disk."""
