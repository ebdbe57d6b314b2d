"""What local models share: a checkpoint's settings, its identity, and the loading of torch and transformers."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import Field

from harness.errors import ConfigError
from harness.models.local.checkpoint import (
    Device,
    Precision,
    cores,
    device_of,
    dtype_of,
    fingerprint,
    locate,
    missing_packages,
    own_classes,
    training_record,
)
from harness.models.local.engine import TokenBudget
from harness.protocols import Traits
from harness.types import JSON, Failure, Response, Usage

T = TypeVar("T")
R = TypeVar("R")

CPU_TOKENS = 512
"""Tokens in a padded batch for each core of a CPU: larger ones are no faster, and pad more."""


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A model that runs in this process."""

    name: str
    path: str
    revision: str | None = None
    trust_remote_code: bool = False
    dtype: Precision = "auto"
    device: Device = "auto"
    max_length: Annotated[int, Field(gt=0)] | None = None
    batch_tokens: Annotated[int, Field(gt=0)] = 8192
    window: Annotated[int, Field(gt=0)] = 512

    traits: ClassVar[Traits] = Traits(role="model")

    @cached_property
    def folder(self) -> Path:
        return locate(self.path, self.revision, code=self.trust_remote_code)

    @property
    def training(self) -> Mapping[str, JSON]:
        """What the checkpoint's training.json says of how it was made; empty where it has none."""
        return training_record(self.folder)

    @cached_property
    def _budget(self) -> TokenBudget:
        """The part of `batch_tokens` that has fitted into memory; on a CPU no more than keeps its cores busy."""
        most = CPU_TOKENS * cores() if device_of(self.device) == "cpu" else self.batch_tokens
        return TokenBudget(min(self.batch_tokens, most))

    def _identity(self, kind: str) -> dict[str, JSON]:
        return {
            "kind": kind,
            "checkpoint": fingerprint(self.folder, code=self.trust_remote_code),
            "dtype": dtype_of(self.dtype, device_of(self.device)),
            "max_length": self.max_length,
        }

    def _likeliest(
        self, logprobs: dict[str, float], tokens: int, seconds: float, finish_reason: str = "stop"
    ) -> Response | Failure:
        """Return the likeliest name (the first of equals) as the text; a failure if a number is not finite."""
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

        `config` replaces values of the checkpoint's config.json. Raises ConfigError for what cannot be loaded, and
        for weights that the checkpoint does not have: transformers would make them up at random.
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
        self._check_code()
        dtype = getattr(torch, "float32" if self.dtype == "int8" else dtype_of(self.dtype, device))
        trust = {"trust_remote_code": self.trust_remote_code}
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(self.folder, **trust)
            settings = transformers.AutoConfig.from_pretrained(self.folder, **config, **trust)
            kind = model_class(self.folder, auto_class, trusted=self.trust_remote_code)
            model, report = kind.from_pretrained(
                self.folder, config=settings, dtype=dtype, output_loading_info=True, **trust
            )
        except Exception as error:  # safetensors, tokenizers and transformers each raise kinds of their own
            if not self.trust_remote_code and "trust_remote_code" in str(error):
                raise ConfigError(
                    f"the checkpoint {self.path} brings Python code of its own: read it, and set "
                    "model.trust_remote_code=true to let it run on this machine."
                ) from error
            raise ConfigError(
                f"the checkpoint {self.path} cannot be loaded: {' '.join(str(error).split())[:300]}"
            ) from error
        if absent := sorted(set(report["missing_keys"]) - set(self._made_anew(model, report["missing_keys"]))):
            raise ConfigError(
                f"the checkpoint {self.path} has no weights for {', '.join(absent[:3])}{', …' * (len(absent) > 3)}: it "
                f"was not made for {auto_class.removeprefix('AutoModelFor')}."
            )
        if brings_code(model):
            restore_buffers(model)
        return tokenizer, model.to(device).eval()

    def _made_anew(self, model: Any, missing: Collection[str]) -> Collection[str]:
        """Return which weights that the checkpoint does not have may be drawn at random: none, but to be trained."""
        return ()

    def _check_code(self) -> None:
        """Refuse code from another repository: it is fetched anew when it changes, and no fingerprint holds it."""
        elsewhere = sorted({name.partition("--")[0] for name in own_classes(self.folder) if "--" in name})
        if self.trust_remote_code and elsewhere:
            raise ConfigError(
                f"the checkpoint {self.path} runs code of {', '.join(elsewhere)}: put those Python files into its "
                "folder and take the name before -- out of auto_map in its config.json and tokenizer_config.json."
            )


_OFFSET = {"roberta", "xlm-roberta", "camembert", "longformer", "xlm-roberta-xl"}
"""Model types that count positions from the padding index on."""


def input_limit(tokenizer: Any, config: Any, max_length: int | None) -> int:
    """Return the longest input of an encoder in tokens: the least that tokenizer, model or settings allow."""
    limits = [max_length, tokenizer.model_max_length]
    positions = getattr(config, "max_position_embeddings", None)
    if positions:
        limits.append(positions - (config.pad_token_id + 1 if config.model_type in _OFFSET else 0))
    return min(int(length) for length in limits if length)


def exact_head(head: Any) -> None:
    """Make a linear output layer compute in float32, whatever the dtype of the layers below.

    In bfloat16 a logit of 60 is exact to 0.25 only: Yes and No would tie. The weight becomes a copy of its own,
    so that embeddings tied to it stay as they are.
    """
    import torch

    if head.weight.dtype == torch.float32:
        return
    head.weight = torch.nn.Parameter(head.weight.detach().float(), requires_grad=False)
    if head.bias is not None:
        head.bias = torch.nn.Parameter(head.bias.detach().float(), requires_grad=False)
    head.register_forward_pre_hook(lambda _, inputs: (inputs[0].float(), *inputs[1:]))


def use_threads() -> None:
    """Use as many threads as this process has cores: torch counts the whole machine's.

    A container's share of them is a quota that torch does not see. OMP_NUM_THREADS goes before.
    """
    import torch

    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(min(torch.get_num_threads(), cores()))


# Checkpoints that bring Python code of their own (model.trust_remote_code), and what transformers 5 does to it.


def model_class(folder: Path, auto_class: str, *, trusted: bool) -> Any:
    """Return the class to load a checkpoint with: its own for `auto_class` where that is trusted, else `auto_class`.

    Not left to the auto class, which gives a class of 2023 its `generate` only the first time it is loaded.
    """
    import transformers
    from transformers.dynamic_module_utils import get_class_from_dynamic_module

    class_name = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("auto_map", {}).get(auto_class)
    if not (trusted and class_name):
        return getattr(transformers, auto_class)
    own = get_class_from_dynamic_module(class_name, folder)
    if auto_class != "AutoModelForCausalLM" or issubclass(own, transformers.GenerationMixin):
        return own
    return type(own.__name__, (own, transformers.GenerationMixin), {"__module__": own.__module__})


def brings_code(model: Any) -> bool:
    return type(model).__module__.startswith("transformers_modules.")


def restore_buffers(model: Any) -> None:
    """Recompute the tables that a model makes when it is built, such as those of rotary embeddings.

    transformers 5 builds models without memory. It knows how to fill such tables of its own classes afterwards; those
    of a checkpoint's own class it leaves as whatever was in memory. A second model gives them, its weights without
    memory.
    """
    import torch

    register = torch.nn.Module.register_parameter

    def without_memory(module: Any, name: str, weight: Any) -> None:
        register(module, name, weight if weight is None else torch.nn.Parameter(weight.to("meta"), requires_grad=False))

    torch.nn.Module.register_parameter = without_memory  # type: ignore[method-assign, assignment]
    try:
        fresh = type(model)(model.config)
    finally:
        torch.nn.Module.register_parameter = register  # type: ignore[method-assign]
    for name, table in fresh.named_non_persistent_buffers():
        place, _, last = name.rpartition(".")
        table = table.to(model.get_buffer(name).dtype)
        model.get_submodule(place).register_buffer(last, table, persistent=False)
