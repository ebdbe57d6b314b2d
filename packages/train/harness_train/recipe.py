"""The settings of harness finetune and of recipes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from harness.errors import ConfigError
from harness.models.local.checkpoint import Device
from harness.settings import LOCAL, without_path
from harness.types import JSON

Share = Annotated[float, Field(ge=0, lt=1)]
Whole = Annotated[int, Field(gt=0, strict=True)]


@dataclass(frozen=True, kw_only=True)
class Lora:
    """Low-rank adapters (Hu et al. 2022), merged into whole weights at the end; `r` None trains all weights."""

    r: Whole | None = None
    alpha: Whole = 16
    dropout: Share = 0.05


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A base and the settings of its training; configs/recipe/nli.yaml says what each one means."""

    name: str
    kind: Literal["nli", "causal_lm"]
    path: str = field(metadata=LOCAL)
    revision: str | None = None
    labels: tuple[str, ...] | None = None
    learning_rate: Annotated[float, Field(gt=0)]
    batch_size: Whole
    micro_batch: Whole | None = None
    epochs: Annotated[float, Field(gt=0)]
    warmup: Share = 0.0
    schedule: Literal["linear", "cosine", "constant"] = "linear"
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    max_length: Whole | None = None
    too_long: Literal["refuse", "drop"] = "refuse"
    evaluations: Annotated[float, Field(gt=0)] = 1.0
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    lora: Lora = field(default_factory=Lora)
    trainer: Mapping[str, JSON] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0

    def __post_init__(self) -> None:
        """Raise ConfigError for classes of a decoder, which has none."""
        if self.kind == "causal_lm" and self.labels:
            raise ConfigError("recipe.labels is for classifiers (recipe.kind=nli): a decoder learns words.")

    def as_json(self) -> Mapping[str, JSON]:
        """Return the settings that the weights depend on, a folder by name and digest in place of its path."""
        return {**asdict(self), "path": without_path(self.path)}


@dataclass(frozen=True)
class FinetuneSettings:
    """The command's own settings; configs/finetune.yaml says what each one means."""

    recipe: dict[str, Any]
    task: dict[str, Any]
    out: Annotated[str, Field(min_length=1)]
    prompt: str | None = None
    dev_limit: Whole | None = None
    device: Device = "auto"
    debug: bool = False
