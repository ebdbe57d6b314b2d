"""How a model is asked in batches; configs/model/openai.yaml says what each setting means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

BatchForm = Literal["openai", "together", "mistral", "openrouter", "anthropic"]


@dataclass(frozen=True, kw_only=True)
class BatchSettings:
    """The settings of model.batch. None of them is part of a model's identity."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    size: Annotated[int, Field(ge=1)] = 50_000
    megabytes: Annotated[float, Field(gt=0)] = 190.0
    tokens: Annotated[int, Field(ge=1)] | None = None
    wait: bool = True
    poll: Annotated[float, Field(gt=0)] = 60.0
    window: Annotated[str, Field(pattern=r"[1-9][0-9]*[hd]$")] = "24h"
    discount: Annotated[float, Field(gt=0, le=1)] = 0.5
    dialect: BatchForm | None = None


def _given(value: Any) -> Any:
    """Return the settings that are given: {} for true, None where there are none."""
    if value is True:
        return {}
    if isinstance(value, Mapping):
        given = {name: setting for name, setting in value.items() if setting is not None}
        return given or (None if value else {})
    return None if value is False else value


Batch = Annotated[BatchSettings | None, BeforeValidator(_given)]
