"""What local models share: a checkpoint's settings, its identity, and the loading of torch and transformers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field

from harness.errors import ConfigError, RunStopped
from harness.models.checkpoint import (
    Device,
    DType,
    device_of,
    dtype_of,
    fingerprint,
    locate,
    missing_packages,
    own_classes,
)
from harness.models.own_code import brings_code, model_class, restore_buffers
from harness.stop import STOP
from harness.types import JSON

T = TypeVar("T")


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

    @cached_property
    def folder(self) -> Path:
        """Where the checkpoint's files are."""
        return locate(self.path, self.revision, code=self.trust_remote_code)

    def _identity(self, kind: str) -> dict[str, JSON]:
        return {
            "kind": kind,
            "checkpoint": fingerprint(self.folder, code=self.trust_remote_code),
            "dtype": dtype_of(self.dtype, device_of(self.device)),
            "max_length": self.max_length,
        }

    def _load(self, auto_class: str, **config: JSON) -> tuple[Any, Any]:
        """(tokenizer, model on its device in evaluation mode).

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
        self._check_code()
        dtype = getattr(torch, dtype_of(self.dtype, device))
        trust = {"trust_remote_code": self.trust_remote_code}
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(self.folder, **trust)
            settings = transformers.AutoConfig.from_pretrained(self.folder, **config, **trust)
            kind = model_class(self.folder, auto_class, trusted=self.trust_remote_code)
            model, told = kind.from_pretrained(
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
        if absent := sorted(told["missing_keys"]):
            raise ConfigError(
                f"the checkpoint {self.path} has no weights for {', '.join(absent[:3])}{', …' * (len(absent) > 3)}: it "
                f"was not made for {auto_class.removeprefix('AutoModelFor')}."
            )
        if brings_code(model):
            restore_buffers(model)
        return tokenizer, model.to(device).eval()

    def _check_code(self) -> None:
        """Refuses code from another repository: it is fetched anew when it changes, and no fingerprint holds it."""
        elsewhere = sorted({name.partition("--")[0] for name in own_classes(self.folder) if "--" in name})
        if self.trust_remote_code and elsewhere:
            raise ConfigError(
                f"the checkpoint {self.path} runs code of {', '.join(elsewhere)}: put those Python files into its "
                "folder and take the name before -- out of auto_map in its config.json and tokenizer_config.json."
            )


_OFFSET = {"roberta", "xlm-roberta", "camembert", "longformer", "xlm-roberta-xl"}
"""Model types that count positions from the padding index on."""


def input_limit(tokenizer: Any, config: Any, max_length: int | None) -> int:
    """The longest input that an encoder takes, in tokens: the least of what tokenizer, model and settings say."""
    known = [max_length, tokenizer.model_max_length]
    positions = getattr(config, "max_position_embeddings", None)
    if positions:
        known.append(positions - (config.pad_token_id + 1 if config.model_type in _OFFSET else 0))
    return min(int(length) for length in known if length)


def exact_head(head: Any) -> None:
    """Makes a linear output layer compute in float32, whatever the dtype of the layers below.

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


@contextmanager
def enough_memory(batch_tokens: int) -> Iterator[None]:
    """Out of memory as a sentence. Raises RunStopped."""
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        raise RunStopped(
            f"out of memory: set model.batch_tokens below {batch_tokens} and run again; answers so far are kept."
        ) from error


def windows(requests: Iterable[T], size: int) -> Iterator[list[T]]:
    """The requests in lists of at most `size`: what is in memory and can be sorted at once."""
    source = iter(requests)
    while window := list(islice(source, size)):
        yield window


def batches(values: Sequence[T], length: Callable[[T], int], tokens: int) -> Iterator[list[T]]:
    """The values, longest first, in batches whose padded size stays within `tokens`.

    Longest first, so that a batch that does not fit into memory is the first one; at least one value a batch.
    None after the user has asked to stop.
    """
    batch: list[T] = []
    longest = 0
    for value in sorted(values, key=length, reverse=True):
        if STOP.requested:
            return
        if batch and longest * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        if not batch:
            longest = length(value)
        batch.append(value)
    if batch:
        yield batch
