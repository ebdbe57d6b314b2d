"""What local models share: a checkpoint's settings and identity, and how it is loaded by torch and transformers."""

from __future__ import annotations

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
    DType,
    cores,
    device_of,
    dtype_of,
    fingerprint,
    locate,
    missing_packages,
    own_classes,
    settings_in,
    training_record,
)
from harness.models.local.engine import TokenBudget
from harness.models.local.placing import check_room
from harness.protocols import Traits
from harness.types import JSON, Failure, Response, Usage

T = TypeVar("T")
R = TypeVar("R")

CPU_TOKENS = 512
"""Tokens in a padded batch per CPU core: larger batches are no faster, and pad more."""


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A model that runs in this process."""

    name: str
    path: str
    revision: str | None = None
    trust_remote_code: bool = False
    dtype: DType = "auto"
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
        """What the checkpoint's training.json says; empty without one."""
        return training_record(self.folder)

    @cached_property
    def _budget(self) -> TokenBudget:
        """As much of `batch_tokens` as fits into memory; on a CPU at most what keeps its cores busy."""
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
        self._check_code()
        dtype = getattr(torch, dtype_of(self.dtype, device))
        trust = {"trust_remote_code": self.trust_remote_code}
        placed = self._placed(device, dtype)
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(self.folder, **trust)
            settings = transformers.AutoConfig.from_pretrained(self.folder, **config, **trust)
            kind = model_class(self.folder, auto_class, trusted=self.trust_remote_code)
            model, report = kind.from_pretrained(
                self.folder, config=settings, dtype=dtype, output_loading_info=True, **placed, **trust
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
        if absent := sorted(set(report["missing_keys"]) - set(self._untrained(model, report["missing_keys"]))):
            raise ConfigError(
                f"the checkpoint {self.path} has no weights for {', '.join(absent[:3])}{', …' * (len(absent) > 3)}: it "
                f"was not made for {auto_class.removeprefix('AutoModelFor')}."
            )
        if brings_code(model):
            restore_buffers(model)
        if placed:
            check_room(model, self.path)
            return tokenizer, model.eval()
        return tokenizer, model.to(device).eval()

    def _placed(self, device: str, dtype: Any) -> dict[str, Any]:
        """Return what transformers is told of devices and precision; nothing for a whole model on one device."""
        return {}

    def _untrained(self, model: Any, missing: Collection[str]) -> Collection[str]:
        """Return which missing weights may be drawn at random: none, unless they are to be trained."""
        return ()

    def _check_code(self) -> None:
        """Refuse code of another repository, which may change without the checkpoint's fingerprint."""
        elsewhere = sorted({name.partition("--")[0] for name in own_classes(self.folder) if "--" in name})
        if self.trust_remote_code and elsewhere:
            raise ConfigError(
                f"the checkpoint {self.path} runs code of {', '.join(elsewhere)}: put those Python files into its "
                "folder and take the name before -- out of auto_map in its config.json and tokenizer_config.json."
            )


_OFFSET = {"roberta", "xlm-roberta", "camembert", "longformer", "xlm-roberta-xl"}
"""Model types whose positions begin after the padding index."""


def input_limit(tokenizer: Any, config: Any, max_length: int | None) -> int:
    """Return an encoder's longest input in tokens: the least that tokenizer, model and settings allow."""
    limits = [max_length, tokenizer.model_max_length]
    positions = getattr(config, "max_position_embeddings", None)
    if positions:
        limits.append(positions - (config.pad_token_id + 1 if config.model_type in _OFFSET else 0))
    return min(int(length) for length in limits if length)


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


# Checkpoints with Python code of their own (model.trust_remote_code), and what transformers 5 does to it.


def model_class(folder: Path, auto_class: str, *, trusted: bool) -> Any:
    """Return the class to load a checkpoint with: its own for `auto_class` if that is trusted, else `auto_class`.

    The auto class would give a class of 2023 its `generate` only the first time it is loaded.
    """
    import transformers
    from transformers.dynamic_module_utils import get_class_from_dynamic_module

    class_name = settings_in(folder / "config.json").get("auto_map", {}).get(auto_class)
    if not (trusted and class_name):
        return getattr(transformers, auto_class)
    own = get_class_from_dynamic_module(class_name, folder)
    if auto_class != "AutoModelForCausalLM" or issubclass(own, transformers.GenerationMixin):
        return own
    return type(own.__name__, (own, transformers.GenerationMixin), {"__module__": own.__module__})


def brings_code(model: Any) -> bool:
    return type(model).__module__.startswith("transformers_modules.")


def restore_buffers(model: Any) -> None:
    """Recompute the tables that a model computes in its constructor, such as those of rotary embeddings.

    transformers 5 constructs models without memory. It fills such tables afterwards for its own classes, but leaves
    those of a checkpoint's own class as whatever was in memory. They are copied from a second model, whose weights take
    no memory.
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
