"""One prompt, one row: padded batches of similar length. For models whose prompts cannot share their beginnings."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import torch

from harness.models.engine import Ended, Sequence, Writing
from harness.models.torch_model import Budget, in_batches


class Padded:
    """Computes every prompt as a whole."""

    def __init__(self, model: Any, budget: Budget) -> None:
        self.model = model
        self.budget = budget
        self.cutting = "logits_to_keep" in inspect.signature(model.forward).parameters

    def score(self, sequences: list[Sequence]) -> Iterator[list[tuple[Sequence, float]]]:
        """Longest first. Choices of one token after the same prompt are one row."""
        rows: dict[tuple[int, ...], list[Sequence]] = {}
        for sequence in sequences:
            rows.setdefault(sequence.read, []).append(sequence)
        for batch, values in in_batches(rows.values(), lambda row: len(row[0].read), self.budget, self._score):
            scored = [sequence for row in batch for sequence in row]
            yield list(zip(scored, values, strict=True))

    def _score(self, batch: list[list[Sequence]]) -> list[float]:
        """Of all sequences of all rows, in one forward pass, padded on the right."""
        device = self.model.device
        ids, mask = self._ids([row[0].read for row in batch])
        first = min(len(sequence.prompt) for row in batch for sequence in row) - 1
        cut = {"logits_to_keep": torch.arange(first, ids.shape[1], device=device)} if self.cutting else {}
        with torch.inference_mode():
            logits = self.model(input_ids=ids, attention_mask=mask, use_cache=False, **cut).logits
            values = []
            for k, row in enumerate(batch):
                for sequence in row:
                    start = len(sequence.prompt) - 1 - (first if self.cutting else 0)
                    predicted = logits[k, start : start + len(sequence.continuation)].float().log_softmax(-1)
                    target = torch.tensor(sequence.continuation, dtype=torch.long, device=device)
                    values.append(predicted.gather(1, target[:, None]).sum())
            found: list[float] = torch.stack(values).tolist()
            return found

    def write(self, writings: list[Writing], ended: Ended) -> Iterator[list[tuple[Writing, list[int]]]]:
        """With transformers' own `generate`, to the end token: it knows what each model keeps between tokens."""
        # One limit of new tokens a batch: writings of different limits do not share one.
        for limit in sorted({writing.request.max_tokens for writing in writings}):
            alike = [writing for writing in writings if writing.request.max_tokens == limit]
            for batch, rows in in_batches(alike, lambda writing: writing.length, self.budget, self._write):
                yield list(zip(batch, rows, strict=True))

    def _write(self, batch: list[Writing]) -> list[list[int]]:
        ids, mask = self._ids([writing.prompt for writing in batch], left=True)
        with torch.inference_mode():
            found: list[list[int]] = self.model.generate(
                input_ids=ids, attention_mask=mask, max_new_tokens=batch[0].request.max_tokens
            )[:, ids.shape[1] :].tolist()
        return found

    def _ids(self, rows: list[tuple[int, ...]], left: bool = False) -> tuple[Any, Any]:
        """(tokens, mask), each (rows, longest)."""
        longest = max(map(len, rows))
        ids = torch.full((len(rows), longest), self.model.generation_config.pad_token_id)
        mask = torch.zeros_like(ids)
        for k, row in enumerate(rows):
            place = slice(longest - len(row), None) if left else slice(len(row))
            ids[k, place] = torch.tensor(row)
            mask[k, place] = 1
        return ids.to(self.model.device), mask.to(self.model.device)
