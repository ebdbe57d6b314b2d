"""What accelerate, bitsandbytes and peft do: layers over all GPUs, 4 bits a weight, and low-rank adapters.

The first two are transformers' own arguments. Adapters (Hu et al. 2022) are merged into the weights of their base, or
kept beside them.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
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
    name = "model.device_map" if bits is None else "model.bits"
    for package in ("accelerate",) if bits is None else ("accelerate", "bitsandbytes"):
        if find_spec(package) is None:
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


def adapter_folder(path: str) -> Path:
    """Return the folder of an adapter. Raises ConfigError where it holds none."""
    folder = Path(path).expanduser()
    if not (folder / "adapter_config.json").is_file():
        raise ConfigError(f"model.adapter={path} holds no adapter_config.json: give the folder that peft has written.")
    return folder


def with_adapter(model: Any, folder: Path, *, merged: bool = True) -> Any:
    """Return the model with the adapter's weights added to its own, or beside them, each of them whole.

    Raises ConfigError where they do not fit.
    """
    try:
        from peft import PeftModel
    except ImportError:
        raise ConfigError("model.adapter needs peft, which is not installed: python -m pip install peft.") from None
    try:
        adapted = PeftModel.from_pretrained(model, str(folder))
        return (adapted.merge_and_unload() if merged else adapted.get_base_model()).eval()
    except Exception as error:  # of sizes and names that are not the base's, peft and torch raise kinds of their own
        reason = " ".join(str(error).split())[:200]
        raise ConfigError(f"model.adapter={folder} does not fit the checkpoint: {reason}") from error
