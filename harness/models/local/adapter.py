"""Low-rank adapters (Hu et al. 2022) as peft stores them, merged into the weights of their base or kept beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.errors import ConfigError


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
