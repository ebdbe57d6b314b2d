"""A premise is read once for all its hypotheses: twenty to ninety answers are learned for the price of one.

Only decoders can: what they read of a premise does not depend on what comes behind it. The answers are those of the
adapter, which reads each pair alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from harness.errors import ConfigError
from harness.plugins.train.examples import Example
from harness.plugins.train.learners import NO_LABEL, ExampleFit, PairLearner
from harness.types import Failure, PairRequest

THOUGHT = re.compile(r"\[\d+\] (.+)")
"""A sentence before each hypothesis that is answered, too: [1] A directly causes B."""


@dataclass(frozen=True)
class Pack:
    """A premise with its hypotheses, in tokens."""

    tokens: Sequence[int]
    blocks: Sequence[int]
    """0 for a token of the premise, k for one of hypothesis k, which sees the premise and its own hypothesis."""
    targets: Sequence[int]
    """The answer at the last token of a hypothesis or thought; else NO_LABEL."""


@dataclass(frozen=True, kw_only=True)
class PackedLearner(PairLearner):
    """A classifier of pairs on a decoder, which learns premise by premise."""

    _ends: dict[str, list[int]] = field(default_factory=dict)
    """Tokens of hypotheses, once computed."""

    def units(self, examples: Sequence[Example]) -> list[list[int]]:
        """Return the indices of examples that share a premise and go through the model together."""
        groups: dict[str, list[int]] = {}
        for place, example in enumerate(examples):
            groups.setdefault(self._pair(example).premise, []).append(place)
        return list(groups.values())

    def fits(self, examples: Sequence[Example]) -> Iterator[ExampleFit]:
        lengths: dict[str, int] = {}
        for example in examples:
            pair = self._pair(example)
            if pair.premise not in lengths:
                lengths[pair.premise] = len(self._tokens(pair)) - len(self._end(pair.hypothesis))
            length = lengths[pair.premise] + len(self._end(pair.hypothesis))
            yield ExampleFit(length, problem=f"{length} tokens" if length > self._limit else "")

    def batch(self, examples: Sequence[Example]) -> dict[str, Any]:
        """Return the tensors of a batch: a row for each premise, with its hypotheses."""
        import torch

        packs = [self.pack([examples[place] for place in places]) for places in self.units(examples)]
        shape = (len(packs), max(len(pack.tokens) for pack in packs))
        ids = torch.full(shape, self.tokenizer.pad_token_id)
        labels, blocks = torch.full(shape, NO_LABEL), torch.full(shape, -1)
        for row, pack in enumerate(packs):
            ids[row, : len(pack.tokens)] = torch.tensor(pack.tokens)
            blocks[row, : len(pack.tokens)] = torch.tensor(pack.blocks)
            labels[row, : len(pack.tokens)] = torch.tensor(pack.targets)
        reader, read = blocks[:, :, None], blocks[:, None, :]
        seen = ((read == 0) | (read == reader)).tril()  # what is padding reads padding, as it has to read something
        starts = (blocks > 0) & (blocks != blocks.roll(1, 1))
        premise = (blocks == 0).sum(1, keepdim=True)
        places = torch.arange(shape[1]).expand(shape)
        first = torch.where(starts, places, 0).cummax(1).values
        return {
            "input_ids": ids,
            "position_ids": torch.where(blocks > 0, premise + places - first, places.clamp(max=self._limit - 1)),
            "attention_mask": torch.where(seen, 0.0, torch.finfo(torch.float32).min)[:, None],
            "labels": labels,
        }

    def pack(self, group: Sequence[Example]) -> Pack:
        """Return a premise with its hypotheses."""
        first = self._pair(group[0])
        premise = self._tokens(first)
        premise = premise[: len(premise) - len(self._end(first.hypothesis))]
        answers = {self._pair(example).hypothesis: example.label for example in group}
        tokens, blocks = list(premise), [0] * len(premise)
        targets = [answers.get(self._thoughts.get(token, ""), NO_LABEL) for token in premise]
        for number, example in enumerate(group, start=1):
            end = self._end(self._pair(example).hypothesis)
            tokens += end
            blocks += [number] * len(end)
            targets += [NO_LABEL] * (len(end) - 1) + [example.label]
        return Pack(tokens, blocks, targets)

    def answers(self, network: Any, inputs: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return the network's logits at all tokens that have a label, and these labels."""
        labels = inputs["labels"]
        states = network.base_model(**{name: value for name, value in inputs.items() if name != "labels"})
        learned = labels != NO_LABEL
        return network.score(states.last_hidden_state[learned]), labels[learned]

    @property
    def network(self) -> Any:
        """The torch module. Raises ConfigError for one that does not read from left to right."""
        network = super().network
        if not hasattr(network, "score"):
            raise ConfigError(
                f"recipe.packed goes with a decoder (GPT-2, LLaMA, …), not with {type(network).__name__}: what an "
                "encoder reads of a premise depends on the hypothesis."
            )
        return network

    @cached_property
    def _thoughts(self) -> Mapping[int, str]:
        matches = ((number, THOUGHT.fullmatch(token)) for token, number in self.tokenizer.get_vocab().items())
        return {number: match[1] for number, match in matches if match}

    def _tokens(self, pair: PairRequest) -> list[int]:
        ((_, encoded),) = self.encode([pair])
        return [] if isinstance(encoded, Failure) else list(encoded.tokens["input_ids"])

    def _end(self, hypothesis: str) -> list[int]:
        if hypothesis not in self._ends:
            self._ends[hypothesis] = self.tokenizer(hypothesis, add_special_tokens=False)["input_ids"]
        return self._ends[hypothesis]

    @staticmethod
    def _pair(example: Example) -> PairRequest:
        assert isinstance(example.request, PairRequest)
        return example.request
