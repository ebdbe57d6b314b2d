"""How local models compute: batches that fit into memory, and the engine of language models that pads whole prompts.

The other engine of language models is in prefix_sharing. torch is imported when something is computed.
"""

from __future__ import annotations

import inspect
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import compress, count, islice
from operator import ne
from typing import Any, TypeVar

from harness.errors import RunStopped
from harness.protocols import Outcome
from harness.runtime.signals import STOP
from harness.types import ChatRequest, ChoiceRequest, Failure, Request

T = TypeVar("T")
R = TypeVar("R")
Tokens = list[int] | tuple[int, ...]


class TokenBudget:
    """The number of tokens that go into a model at once, halved each time memory runs out."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    def halve(self, used: int, *, least: bool) -> None:
        """Halve the budget after `used` tokens did not fit. Raises RunStopped if that was the `least` possible."""
        if least:
            raise RunStopped(
                f"out of memory: {used} tokens at once are too many, and fewer cannot be. Take a machine with more "
                "memory, a smaller model, or model.dtype=bfloat16."
            )
        self.tokens = max(1, min(self.tokens, used) // 2)
        print(f"out of memory with {used:,} tokens at once: going on with {self.tokens:,}", file=sys.stderr, flush=True)


_NO_MEMORY = re.compile("out of memory|can't allocate memory")
"""Words of torch's errors on an MPS device and on a CPU, for which it has no class of error."""


@contextmanager
def memory_errors() -> Iterator[list[RuntimeError]]:
    """Catch out-of-memory errors of torch, add them to the yielded list and free memory.

    They are collected here rather than in the caller's except clause: as long as an error is being handled, the tensors
    in its frames stay in memory.
    """
    import torch

    caught: list[RuntimeError] = []
    try:
        yield caught
    except RuntimeError as error:
        if not isinstance(error, torch.OutOfMemoryError) and not _NO_MEMORY.search(str(error)):
            raise
        caught.append(error.with_traceback(None))
    if caught and torch.cuda.is_available():
        torch.cuda.empty_cache()


def windows(requests: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the requests in lists of at most `size`: what is in memory, and sorted, at a time."""
    source = iter(requests)
    while window := list(islice(source, size)):
        yield window


def in_batches(
    values: Iterable[T], length: Callable[[T], int], budget: TokenBudget, work: Callable[[list[T]], list[R]]
) -> Iterator[list[tuple[T, R]]]:
    """Yield the values in batches, longest first, each value with its result; padded a batch fits into the budget.

    Longest first, so that memory runs out at the first batch if ever. It is cut until it fits; raises RunStopped if a
    single value does not. Begins no batch after the user has asked to stop.
    """
    waiting = sorted(values, key=length)
    while waiting and not STOP.requested:
        longest = length(waiting[-1])
        count = max(1, min(len(waiting), budget.tokens // max(1, longest)))
        batch = waiting[: -count - 1 : -1]
        with memory_errors() as errors:
            results = work(batch)
        if errors:
            budget.halve(longest * count, least=count == 1)
        else:
            del waiting[-count:]
            yield list(zip(batch, results, strict=True))


def timed(batches: Iterable[list[T]]) -> Iterator[tuple[list[T], float]]:
    """Yield batches as they are computed, each with the seconds that one of its members took."""
    started = time.perf_counter()
    for batch in batches:
        yield batch, round((time.perf_counter() - started) / len(batch), 6)
        started = time.perf_counter()


def sorted_out(requests: Iterable[Request], read: Iterable[T | Failure]) -> tuple[list[Outcome], list[T]]:
    """Return the requests that cannot be computed, each with its Failure, and the others as they were read."""
    failed: list[Outcome] = []
    rows: list[T] = []
    for request, row in zip(requests, read, strict=True):
        failed.append((request, row)) if isinstance(row, Failure) else rows.append(row)
    return failed, rows


def agreement(a: Tokens, b: Tokens) -> int:
    """Return how many tokens at the beginning are equal."""
    return next(compress(count(), map(ne, a, b)), min(len(a), len(b)))


@dataclass(frozen=True)
class Sequence:
    """Tokens to score: `continuation` after `prompt`, for one choice of a request."""

    request: ChoiceRequest
    choice: str
    prompt: tuple[int, ...]
    continuation: tuple[int, ...]

    @property
    def read(self) -> tuple[int, ...]:
        """The tokens that go into the model; the last one is only predicted."""
        return self.prompt + self.continuation[:-1]


@dataclass(frozen=True)
class Writing:
    """Tokens to continue."""

    request: ChatRequest
    prompt: tuple[int, ...]

    @property
    def length(self) -> int:
        """The most tokens in the end."""
        return len(self.prompt) + self.request.max_tokens


Ended = Callable[[Writing, list[int]], bool]
"""Whether a text is complete, given its tokens so far."""


def same_up_to(config: Any) -> int | None:
    """Return the length in tokens beyond which rotary positions depend on a text's length; None if they never do.

    `config` is the decoder's. In transformers (modeling_rope_utils.py), beyond this length `longrope` takes other
    frequencies for the whole text, and `dynamic` takes frequencies that depend on its length.
    """
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    limits = []
    by_kind_of_layer = (value for value in rope.values() if isinstance(value, dict))
    for values in (rope, *by_kind_of_layer):
        kind = str(values.get("rope_type") or values.get("type"))
        if "dynamic" in kind:
            limits.append(getattr(config, "max_position_embeddings", None) or 0)
        elif kind in ("longrope", "su"):  # su: its first name, still used in checkpoints' own code
            name = "original_max_position_embeddings"
            limits.append(values.get(name) or getattr(config, name, None) or 0)
    return min(limits, default=None)


class Padded:
    """An engine that computes every prompt as a whole.

    As of the other engine, results are yielded before more is computed, and nothing begins after STOP.
    """

    def __init__(self, model: Any, budget: TokenBudget) -> None:
        self.model = model
        self.budget = budget
        # RWKV's state (rows, size) is broadcast as if the rows of a batch were tokens (transformers 5.23).
        self.alone = model.config.model_type == "rwkv"
        self.limits_logits = "logits_to_keep" in inspect.signature(model.forward).parameters

    def score(self, sequences: list[Sequence]) -> Iterator[list[tuple[Sequence, float]]]:
        """Yield the summed log-probability of each continuation, in natural logarithms, longest first.

        Choices of one token after the same prompt are one row.
        """
        rows: dict[tuple[int, ...], list[Sequence]] = {}
        for sequence in sequences:
            rows.setdefault(sequence.read, []).append(sequence)
        # If positions depend on a text's length, a short text must not be padded to a long one.
        switch = same_up_to(self.model.config.get_text_config(decoder=True)) or 0
        for beyond in (True, False):
            same_positions = [row for read, row in rows.items() if (len(read) > switch) is beyond]
            for batch in in_batches(same_positions, lambda row: len(row[0].read), self.budget, self._score):
                yield [scored for row, values in batch for scored in zip(row, values, strict=True)]

    def _score(self, batch: list[list[Sequence]]) -> list[list[float]]:
        """Return the scores of the sequences of each row, from one forward pass padded on the right."""
        import torch

        device = self.model.device
        ids, mask = self.ids([row[0].read for row in batch])
        first = min(len(sequence.prompt) for row in batch for sequence in row) - 1
        slicing = {"logits_to_keep": torch.arange(first, ids.shape[1], device=device)} if self.limits_logits else {}
        with torch.inference_mode():
            logits = self.model(input_ids=ids, attention_mask=mask, use_cache=False, **slicing).logits
            values = []
            for k, row in enumerate(batch):
                for sequence in row:
                    start = len(sequence.prompt) - 1 - (first if self.limits_logits else 0)
                    predicted = logits[k, start : start + len(sequence.continuation)].float().log_softmax(-1)
                    target = torch.tensor(sequence.continuation, dtype=torch.long, device=device)
                    values.append(predicted.gather(1, target[:, None]).sum())
        scores: Iterator[float] = iter(torch.stack(values).tolist())
        return [list(islice(scores, len(row))) for row in batch]

    def write(self, writings: list[Writing], ended: Ended) -> Iterator[list[tuple[Writing, list[int]]]]:
        """Yield what transformers' own `generate` writes until `ended`; the caller cuts tokens beyond that."""
        # Only prompts of equal length share a batch. Padding on the left would change what some models write: recurrent
        # layers read it, and others count positions from it (RWKV, RecurrentGemma, BART, RoFormer).
        kinds: dict[tuple[int, int], list[Writing]] = {}
        for writing in writings:
            kind = id(writing) if self.alone else len(writing.prompt)
            kinds.setdefault((writing.request.max_tokens, kind), []).append(writing)
        for same in kinds.values():
            work = partial(self._write, ended=ended)
            yield from in_batches(same, lambda writing: writing.length, self.budget, work)

    def _write(self, batch: list[Writing], ended: Ended) -> list[list[int]]:
        import torch

        ids, mask = self.ids([writing.prompt for writing in batch])
        start = ids.shape[1]
        lengths: dict[int, int] = {}

        def over(ids: Any, scores: Any, **_: Any) -> Any:
            for row, tokens in enumerate(ids[:, start:].tolist()):
                if row not in lengths and ended(batch[row], tokens):
                    lengths[row] = len(tokens)
            return torch.tensor([row in lengths for row in range(len(batch))], device=ids.device)

        with torch.inference_mode():
            output = self.model.generate(
                input_ids=ids,
                attention_mask=mask,
                max_new_tokens=batch[0].request.max_tokens,
                stopping_criteria=[over],
            )
        # After the end of a row comes padding.
        return [tokens[: lengths.get(row)] for row, tokens in enumerate(output[:, start:].tolist())]

    def ids(self, rows: list[tuple[int, ...]]) -> tuple[Any, Any]:
        """Return tokens and mask, each (rows, longest)."""
        import torch

        longest = max(map(len, rows))
        ids = torch.full((len(rows), longest), self.model.generation_config.pad_token_id)
        mask = torch.zeros_like(ids)
        for k, row in enumerate(rows):
            ids[k, : len(row)] = torch.tensor(row)
            mask[k, : len(row)] = 1
        return ids.to(self.model.device), mask.to(self.model.device)
