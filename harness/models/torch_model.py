"""What local models share: a checkpoint's settings, its identity, and the loading of torch and transformers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field

from harness.errors import ConfigError
from harness.models.checkpoint import Device, DType, device_of, dtype_of, fingerprint, locate, missing_packages
from harness.types import JSON

T = TypeVar("T")


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
    window: Annotated[int, Field(gt=0)] = 512

    @cached_property
    def folder(self) -> Path:
        """Where the checkpoint's files are."""
        return locate(self.path, self.revision)

    def _identity(self, kind: str) -> dict[str, JSON]:
        return {
            "kind": kind,
            "checkpoint": fingerprint(self.folder),
            "dtype": dtype_of(self.dtype, device_of(self.device)),
            "max_length": self.max_length,
        }

    def _load(self, auto_class: str) -> tuple[Any, Any]:
        """(tokenizer, model on its device in evaluation mode). Raises ConfigError for what cannot be loaded."""
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
        dtype = getattr(torch, dtype_of(self.dtype, device))
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(self.folder)
            model = getattr(transformers, auto_class).from_pretrained(self.folder, dtype=dtype)
        except Exception as error:  # safetensors, tokenizers and transformers each raise kinds of their own
            raise ConfigError(
                f"the checkpoint {self.path} cannot be loaded: {' '.join(str(error).split())[:300]}"
            ) from error
        return tokenizer, model.to(device).eval()


def windows(requests: Iterable[T], size: int) -> Iterator[list[T]]:
    """The requests in lists of at most `size`: what is in memory and can be sorted at once."""
    source = iter(requests)
    while window := list(islice(source, size)):
        yield window


def batches(values: Sequence[T], length: Callable[[T], int], tokens: int) -> Iterator[list[T]]:
    """The values, longest first, in batches whose padded size stays within `tokens`.

    Longest first, so that a batch that does not fit into memory is the first one; at least one value a batch.
    """
    batch: list[T] = []
    longest = 0
    for value in sorted(values, key=length, reverse=True):
        if batch and longest * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        if not batch:
            longest = length(value)
        batch.append(value)
    if batch:
        yield batch
