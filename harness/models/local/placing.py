"""Checkpoints that one device or full precision has no room for: over all GPUs, and in 4 bits a weight.

Both are transformers' own arguments, by accelerate and bitsandbytes.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Literal

from harness.errors import ConfigError
from harness.models.local.checkpoint import Device
from harness.runtime.environment import installing

DeviceMap = Literal["auto", "balanced", "sequential"]
"""How accelerate deals layers to GPUs."""
Bits = Literal[4]
"""Not 8: there bitsandbytes rounds what goes through a layer by all rows of a batch, on which a score would depend."""
FORM = "nf4"
"""Of the 4 bits: levels for weights that are normally distributed (Dettmers et al. 2023)."""


def placed(
    device_map: DeviceMap | None, bits: Bits | None, setting: Device, device: str, dtype: Any, *, double: bool = False
) -> dict[str, Any]:
    """Return what transformers is to be told; nothing for a whole model on one device.

    `setting` is model.device, `device` what it comes to; `double` has the scales of the 4 bits rounded, too, as QLoRA
    does. Raises ConfigError for what is missing or contradictory.
    """
    if device_map is None and bits is None:
        return {}
    if device_map is not None and setting != "auto":
        raise ConfigError(f"model.device_map={device_map} and model.device={setting} do not go together: choose one.")
    for package, name in (("accelerate", "model.device_map"), ("bitsandbytes", "model.bits")):
        wanted = package == "accelerate" or bits is not None
        if wanted and find_spec(package) is None:
            name = name if package == "bitsandbytes" or device_map else "model.bits"
            raise ConfigError(f"{name} needs {package}, which is not installed: {installing('bits')}.")
    arguments: dict[str, Any] = {"device_map": device_map or {"": device}}
    if bits is not None:
        from transformers import BitsAndBytesConfig

        arguments["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type=FORM,
            bnb_4bit_compute_dtype=dtype,
            bnb_4bit_use_double_quant=double,
        )
    return arguments


def devices(model: Any) -> set[str]:
    """Return where the parts of a model lie, by accelerate; empty for one that it has not dealt out."""
    return {str(place) for place in (getattr(model, "hf_device_map", None) or {}).values()}


def check_room(model: Any, path: str) -> None:
    """Raise ConfigError for a model of which parts lie outside of the GPUs: each token would wait for them."""
    places = devices(model)
    elsewhere = sorted(places & {"cpu", "disk"})
    if "disk" in elsewhere or (elsewhere and len(places) > 1):
        raise ConfigError(
            f"{path} does not fit: parts of it would lie on {' and '.join(elsewhere)}. Take model.bits=4, more "
            "or larger GPUs, or a server (model=vllm)."
        )
