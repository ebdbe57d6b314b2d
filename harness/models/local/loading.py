"""What local models share: a checkpoint's settings and identity, and how torch and transformers load it.

accelerate deals layers to all GPUs, bitsandbytes makes weights of 4 bits, both by transformers' own arguments; peft
merges adapters (Hu et al. 2022) into the weights of their base, or keeps them beside.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from harness.errors import ConfigError
from harness.models.local import gguf
from harness.models.local.checkpoint import (
    Device,
    DType,
    cores,
    device_of,
    dtype_of,
    fingerprint,
    locate,
    missing_packages,
    training_record,
)
from harness.models.local.engine import TokenBudget
from harness.protocols import Traits
from harness.runtime.environment import installing
from harness.types import JSON, Failure, Response, Usage

CPU_TOKENS = 512
"""Tokens in a padded batch per CPU core: larger batches are no faster, and pad more."""


DeviceMap = Literal["auto", "balanced", "sequential"]
"""How accelerate deals layers to GPUs."""
Bits = Literal[4]
"""Not 8: there bitsandbytes rounds what goes through a layer by all rows of a batch, on which a score would depend."""
FORM = "nf4"
"""Of the 4 bits: levels for weights that are normally distributed (Dettmers et al. 2023)."""


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A model that runs in this process."""

    name: str
    path: str
    revision: str | None = None
    dtype: DType = "auto"
    device: Device = "auto"
    max_length: Annotated[int, Field(gt=0)] | None = None
    batch_tokens: Annotated[int, Field(gt=0)] = 8192

    window: ClassVar[int] = 512
    """Requests that are sorted by length, or among which common beginnings are looked for, at once."""
    traits: ClassVar[Traits] = Traits(role="model")

    @cached_property
    def place(self) -> Path:
        """The checkpoint as it is given: a folder, or a GGUF file."""
        return locate(self.path, self.revision)

    @cached_property
    def folder(self) -> Path:
        """The checkpoint as transformers loads it."""
        return gguf.checkpoint_of(self.place, fingerprint(self.place)) if self.place.is_file() else self.place

    @property
    def training(self) -> Mapping[str, JSON]:
        """What the checkpoint's training.json says; empty without one."""
        return training_record(self.folder)

    @cached_property
    def _budget(self) -> TokenBudget:
        """As much of `batch_tokens` as fits into memory; on a CPU at most what keeps its cores busy."""
        most = CPU_TOKENS * cores() if device_of(self.device) == "cpu" else self.batch_tokens
        return TokenBudget(min(self.batch_tokens, most))

    def _identity(self, kind: str) -> dict[str, JSON]:
        file = {"quantised": f"GGUF {gguf.quantisation(self.folder)}"} if self.place.is_file() else {}
        return {
            "kind": kind,
            "checkpoint": fingerprint(self.place),
            "dtype": dtype_of(self.dtype, device_of(self.device)),
            "max_length": self.max_length,
            **file,
        }

    def _likeliest(
        self, logprobs: dict[str, float], tokens: int, seconds: float, finish_reason: str = "stop"
    ) -> Response | Failure:
        """Return the likeliest name, the first of equals, as a response; a Failure if a number is not finite."""
        if not all(map(math.isfinite, logprobs.values())):
            return Failure("invalid_logprobs", f"the log-probabilities are {logprobs}")
        return Response(
            text=max(logprobs, key=lambda name: logprobs[name]),
            logprobs=logprobs,
            usage=Usage(input=tokens, output=0),
            finish_reason=finish_reason,
            served_model=self.path,
            seconds=seconds,
        )

    def _load(self, auto_class: str, **config: JSON) -> tuple[Any, Any]:
        """Return the tokenizer, and the model on its device in evaluation mode.

        `config` replaces values of the checkpoint's config.json. Raises ConfigError for what cannot be loaded, and for
        missing weights, which transformers would draw at random.
        """
        try:
            import torch
            import transformers
        except ImportError:
            raise ConfigError(missing_packages(self.path)) from None
        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        device = device_of(self.device)
        if device == "cuda" and not torch.cuda.is_available():
            raise ConfigError(
                "torch sees no CUDA device, though the machine shows a GPU or model.device=cuda asks for one: "
                "set model.device=cpu, or install a torch with CUDA."
            )
        use_threads()
        dtype = getattr(torch, dtype_of(self.dtype, device))
        trust = {"trust_remote_code": False}  # transformers would ask at the terminal
        placed = self._placed(device, dtype)
        try:
            settings = transformers.AutoConfig.from_pretrained(self.folder, **config, **trust)
            tokenizer = transformers.AutoTokenizer.from_pretrained(self.folder, **trust)
            model, report = getattr(transformers, auto_class).from_pretrained(
                self.folder, config=settings, dtype=dtype, output_loading_info=True, **placed, **trust
            )
        except Exception as error:  # safetensors, tokenizers and transformers each raise kinds of their own
            why = f"cannot be loaded: {' '.join(str(error).split())[:300]}"
            if "trust_remote_code" in str(error):
                why = (
                    "needs Python code of its own, which is not run here: let a server run it (vllm serve … "
                    "--trust-remote-code), and ask that by model=vllm_server."
                )
            raise ConfigError(f"the checkpoint {self.path} {why}") from error
        if absent := sorted(set(report["missing_keys"]) - set(self._untrained(model, report["missing_keys"]))):
            raise ConfigError(
                f"the checkpoint {self.path} has no weights for {', '.join(absent[:3])}{', …' * (len(absent) > 3)}: it "
                f"was not made for {auto_class.removeprefix('AutoModelFor')}."
            )
        if placed:
            check_room(model, self.path)
        return tokenizer, (model if placed else model.to(device)).eval()

    def _placed(self, device: str, dtype: Any) -> dict[str, Any]:
        """Return what transformers is told of devices and precision; nothing for a whole model on one device."""
        return {}

    def _untrained(self, model: Any, missing: Collection[str]) -> Collection[str]:
        """Return which missing weights may be drawn at random: none, unless they are to be trained."""
        return ()


def exact_head(head: Any) -> None:
    """Make a linear output layer compute in float32, whatever the dtype of the layers below.

    In bfloat16 a logit of 60 is exact to 0.25 only, so that Yes and No would tie. The weight is copied, so that
    embeddings tied to it keep their dtype.
    """
    import torch

    if head.weight.dtype == torch.float32:
        return
    head.weight = torch.nn.Parameter(head.weight.detach().float(), requires_grad=False)
    if head.bias is not None:
        head.bias = torch.nn.Parameter(head.bias.detach().float(), requires_grad=False)
    head.register_forward_pre_hook(lambda _, inputs: (inputs[0].float(), *inputs[1:]))


def use_threads() -> None:
    """Let torch use as many threads as this process has cores, unless OMP_NUM_THREADS is set.

    torch counts the whole machine's cores, and does not see a container's quota.
    """
    import torch

    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(min(torch.get_num_threads(), cores()))


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
