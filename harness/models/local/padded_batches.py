"""One prompt, one row: padded batches of similar length. For models whose prompts cannot share their beginnings."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch

from harness.models.local.engine import Ended, Sequence, Writing, same_up_to
from harness.models.local.loading import TokenBudget, in_batches


class Padded:
    """An engine that computes every prompt as a whole."""

    def __init__(self, model: Any, budget: TokenBudget) -> None:
        self.model = model
        self.budget = budget
        # Its state (rows, size) is broadcast as if the rows of a batch were tokens (transformers 5.23).
        self.alone = model.config.model_type == "rwkv"
        self.cutting = "logits_to_keep" in inspect.signature(model.forward).parameters

    def score(self, sequences: list[Sequence]) -> Iterator[list[tuple[Sequence, float]]]:
        """Yield scores, longest first. Choices of one token after the same prompt are one row."""
        rows: dict[tuple[int, ...], list[Sequence]] = {}
        for sequence in sequences:
            rows.setdefault(sequence.read, []).append(sequence)
        # Where a text's length changes what its positions mean, a short one must not be padded to a long one.
        switch = same_up_to(self.model.config.get_text_config(decoder=True)) or 0
        for beyond in (True, False):
            alike = [row for read, row in rows.items() if (len(read) > switch) is beyond]
            for batch, values in in_batches(alike, lambda row: len(row[0].read), self.budget, self._score):
                scored_sequences = [sequence for row in batch for sequence in row]
                yield list(zip(scored_sequences, values, strict=True))

    def _score(self, batch: list[list[Sequence]]) -> list[float]:
        """Return the scores of all sequences of all rows, by one forward pass padded on the right."""
        device = self.model.device
        ids, mask = self.ids([row[0].read for row in batch])
        first = min(len(sequence.prompt) for row in batch for sequence in row) - 1
        slicing = {"logits_to_keep": torch.arange(first, ids.shape[1], device=device)} if self.cutting else {}
        with torch.inference_mode():
            logits = self.model(input_ids=ids, attention_mask=mask, use_cache=False, **slicing).logits
            values = []
            for k, row in enumerate(batch):
                for sequence in row:
                    start = len(sequence.prompt) - 1 - (first if self.cutting else 0)
                    predicted = logits[k, start : start + len(sequence.continuation)].float().log_softmax(-1)
                    target = torch.tensor(sequence.continuation, dtype=torch.long, device=device)
                    values.append(predicted.gather(1, target[:, None]).sum())
            scores: list[float] = torch.stack(values).tolist()
            return scores

    def write(self, writings: list[Writing], ended: Ended) -> Iterator[list[tuple[Writing, list[int]]]]:
        """Yield what transformers' own `generate` writes: it knows what each model keeps between tokens."""
        # Only prompts of one length share a batch. Padding on the left would change what some models write: recurrent
        # layers read it, and others count positions from it (RWKV, RecurrentGemma, BART, RoFormer).
        kinds: dict[tuple[int, int], list[Writing]] = {}
        for writing in writings:
            alike = id(writing) if self.alone else len(writing.prompt)
            kinds.setdefault((writing.request.max_tokens, alike), []).append(writing)
        for same in kinds.values():
            work = partial(self._write, ended=ended)
            for batch, rows in in_batches(same, lambda writing: writing.length, self.budget, work):
                yield list(zip(batch, rows, strict=True))

    def _write(self, batch: list[Writing], ended: Ended) -> list[list[int]]:
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
        # What follows the end of a row is padding.
        return [tokens[: lengths.get(row)] for row, tokens in enumerate(output[:, start:].tolist())]

    def ids(self, rows: list[tuple[int, ...]]) -> tuple[Any, Any]:
        """Return tokens and mask, each (rows, longest)."""
        longest = max(map(len, rows))
        ids = torch.full((len(rows), longest), self.model.generation_config.pad_token_id)
        mask = torch.zeros_like(ids)
        for k, row in enumerate(rows):
            ids[k, : len(row)] = torch.tensor(row)
            mask[k, : len(row)] = 1
        return ids.to(self.model.device), mask.to(self.model.device)
