"""int8 on a CPU: the linear layers of a model keep their weights in eight bits and quantise what comes in as it comes.

What comes in has one scale for a whole batch, so that a pair's numbers depend a little on the pairs beside it.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch

from harness.errors import ConfigError


def quantize(model: Any, head: Any, inputs: dict[str, Any]) -> None:
    """Convert all linear layers of a model but `head` to int8, with a scale for each output.

    inputs: what a forward pass takes, for a trial. Raises ConfigError where torch has no int8 for this machine, where
    the model has no linear layers to quantise, and where its code does more with them than call them.
    """
    path = model.name_or_path
    with warnings.catch_warnings():  # torch announces the end of this module, and of the tensors that it makes
        warnings.simplefilter("ignore")
        try:
            from torch.ao import quantization
        except ImportError:
            raise ConfigError(f"torch {torch.__version__} has no int8 any more: take model.dtype=auto.") from None
        if torch.backends.quantized.engine == "none":
            raise ConfigError("this build of torch has no int8 for this machine: take model.dtype=auto.")
        linear = {name: module for name, module in model.named_modules() if type(module) is torch.nn.Linear}
        layers = {name: quantization.per_channel_dynamic_qconfig for name, m in linear.items() if m is not head}
        if not layers:
            raise ConfigError(
                f"{path} has no linear layers that model.dtype=int8 would quantise: take model.dtype=auto."
            )
        quantization.quantize_dynamic(model, layers, inplace=True)  # type: ignore[no-untyped-call]
        try:
            with torch.inference_mode():
                model(**inputs)
        except Exception as error:  # code that computes with a weight finds a method in its place
            raise ConfigError(
                f"{path} does not compute in int8 ({type(error).__name__}: {' '.join(str(error).split())[:150]}): "
                "take model.dtype=auto."
            ) from error
