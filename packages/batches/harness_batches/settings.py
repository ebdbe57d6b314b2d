"""The settings of model.batch, which are not part of a model's identity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import ConfigDict, Field

from harness.models.api.endpoint import Endpoint
from harness.settings import validated


@dataclass(frozen=True, kw_only=True)
class Settings:
    """README.md says what each one means; the core reads `window` and `discount` for plan and price."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    size: Annotated[int, Field(ge=1)] = 50_000
    wait: bool = True
    poll: Annotated[float, Field(gt=0)] = 60.0
    window: Annotated[str, Field(pattern=r"[1-9][0-9]*[hd]$")] = "24h"
    discount: Annotated[float, Field(gt=0, le=1)] = 0.5


def settings_of(endpoint: Endpoint) -> Settings:
    """Return the settings of an endpoint that is asked in batches. Raises ConfigError."""
    return validated(Settings, dict(endpoint.batch or {}))
