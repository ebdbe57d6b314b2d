"""Prompts that begin alike are read once: a window of them is one prefix tree, and the tree goes through the model.

The nodes are read in depth-first order, so many at once, packed without padding into one row: a node sees those above
it and nothing else. Of what has been read only the way down to the next node is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from harness.models.engine import Ended, Sequence, Writing
from harness.models.kv import Memory
from harness.models.prefix import Tree, grow
from harness.models.torch_model import Budget, memory_errors
from harness.stop import STOP

CPU_TOKENS = 512
"""Tokens read at once on a CPU: enough to keep it busy. Among more of them most see little of each other."""
GPU_STEPS = 8
"""Tokens that a GPU writes before anybody looks whether they end a text: looking waits for the GPU."""
LEAST = 16
"""Tokens at once that no model lacks the memory for unless it lacks it for anything."""


class Reading:
    """A tree on its way through a model: the nodes before `at` have been read, those in `held` are remembered."""

    def __init__(self, tree: Tree, memory: Memory) -> None:
        memory.clear()
        self.tree, self.memory = tree, memory
        self.at = 0
        self.held: list[int] = []

    def read(self, stop: int, wanted: list[int]) -> Any:
        """Logits (wanted, vocabulary) after some of the nodes up to `stop`; `keep` must follow."""
        tokens, depths = self._tensor(self.tree.tokens[self.at : stop]), self._tensor(self.tree.depths[self.at : stop])
        new = list(range(self.at, stop))
        sees = self.above(new, [*self.held, *new])
        return self.memory.read(tokens, depths, sees, self._tensor([node - self.at for node in wanted]))

    def above(self, nodes: list[int], others: list[int]) -> Any:
        """(nodes, others): whether another node is a node, or above it."""
        below, over = self._tensor(nodes)[:, None], self._tensor(others)
        return (over <= below) & (below < self._tensor([self.tree.ends[node] for node in others]))

    def keep(self, stop: int, *, everything: bool = False) -> None:
        """Remembers of the nodes up to `stop` those that later ones are below, or everything."""
        known = [*self.held, *range(self.at, stop)]
        slots = [slot for slot, node in enumerate(known) if everything or self.tree.ends[node] > stop]
        self.memory.keep(slots)
        self.held = [known[slot] for slot in slots]
        self.at = stop

    def _tensor(self, values: list[int]) -> Any:
        return torch.tensor(values, dtype=torch.long, device=self.memory.model.device)


class Sharing:
    """Computes every distinct beginning of the prompts once."""

    def __init__(self, memory: Memory, tokens: int) -> None:
        """`tokens`: how many go into the model at once, and how many of unfinished texts are remembered."""
        self.memory = memory
        self.on_gpu = memory.model.device.type == "cuda"
        self.at_once = Budget(tokens if self.on_gpu else min(tokens, CPU_TOKENS))
        self.remembered = Budget(tokens)

    def score(self, sequences: list[Sequence]) -> Iterator[list[tuple[Sequence, float]]]:
        """In the order of the tree. Choices of one token cost nothing beyond their prompt."""
        tree = grow([sequence.read for sequence in sequences])
        asked: dict[int, list[tuple[int, int]]] = {}
        for k, sequence in enumerate(sequences):
            nodes = tree.path(tree.last[k], len(sequence.continuation))
            for node, token in zip(nodes, sequence.continuation, strict=True):
                asked.setdefault(node, []).append((k, token))
        totals = [0.0] * len(sequences)
        waiting = sorted(range(len(sequences)), key=tree.last.__getitem__, reverse=True)
        reading = Reading(tree, self.memory)
        while reading.at < len(tree.tokens) and not STOP.requested:
            stop = min(reading.at + self.at_once.tokens, len(tree.tokens))
            wanted = [node for node in range(reading.at, stop) if node in asked]
            with memory_errors() as errors:
                values = _logprobs(reading.read(stop, wanted), [[token for _, token in asked[node]] for node in wanted])
            if errors:
                self.at_once.halve(stop - reading.at, least=stop - reading.at <= LEAST)
                continue
            with memory_errors() as errors:
                reading.keep(stop)
            if errors:  # some layers have moved what they keep, others have not
                self.at_once.halve(stop - reading.at, least=True)
            for (k, _), value in zip((pair for node in wanted for pair in asked[node]), values, strict=True):
                totals[k] += value
            done = []
            while waiting and tree.last[waiting[-1]] < stop:
                done.append(waiting.pop())
            if done:
                yield [(sequences[k], totals[k]) for k in done]
        self.memory.clear()

    def write(self, writings: list[Writing], ended: Ended) -> Iterator[list[tuple[Writing, list[int]]]]:
        """In the order of the tree, so many texts at once as can be remembered; a finished one makes no more work.

        Where memory does not suffice, the unfinished texts go on from the tokens that they have.
        """
        left: dict[int, list[int]] = {k: [] for k in range(len(writings))}
        while left and not STOP.requested:
            with memory_errors() as errors:
                for done in self._write(writings, left, ended):
                    yield [(writings[k], tokens) for k, tokens in done]
            if errors:
                self.memory.clear()
                self.at_once.tokens = max(LEAST, self.at_once.tokens // 2)
                self.remembered.halve(self.remembered.tokens, least=self.remembered.tokens <= LEAST)
        self.memory.clear()

    def _write(
        self, writings: list[Writing], left: dict[int, list[int]], ended: Ended
    ) -> Iterator[list[tuple[int, list[int]]]]:
        """Goes on with the texts that are left, and takes those that end out of them."""
        order = list(left)
        tree = grow([writings[k].prompt + tuple(left[k]) for k in order])
        texts: dict[int, list[int]] = {}
        for node, k in sorted(zip(tree.last, order, strict=True)):
            texts.setdefault(node, []).append(k)  # equal prompts are one text, for greedy writing knows no chance
        waiting = list(texts)[::-1]
        reading = Reading(tree, self.memory)
        while waiting and not STOP.requested:
            group = [waiting.pop()]
            size = _longest(writings, texts[group[0]])
            while waiting:
                size += waiting[-1] - group[-1] + _longest(writings, texts[waiting[-1]])
                if size > self.remembered.tokens:
                    break
                group.append(waiting.pop())
            tokens = self._first(reading, group)
            yield from self._continue(reading, group, tokens, [texts[node] for node in group], writings, left, ended)
            reading.keep(reading.at)

    def _first(self, reading: Reading, group: list[int]) -> Any:
        """Reads up to the last node of the group; the likeliest token (group,) after each of its nodes."""
        found = []
        while reading.at <= group[-1]:
            stop = min(reading.at + self.at_once.tokens, group[-1] + 1)
            found.append(reading.read(stop, [node for node in group if reading.at <= node < stop]).argmax(-1))
            reading.keep(stop, everything=True)
        return torch.cat(found)

    def _continue(
        self,
        reading: Reading,
        group: list[int],
        tokens: Any,
        texts: list[list[int]],
        writings: list[Writing],
        left: dict[int, list[int]],
        ended: Ended,
    ) -> Iterator[list[tuple[int, list[int]]]]:
        """Writes on after the nodes of a group, one token each at a time; their first ones are known."""
        sees = reading.above(group, reading.held)
        depths = torch.tensor([reading.tree.depths[node] + 1 for node in group], device=sees.device)
        while texts:
            room = min(_longest(writings, [k]) - len(left[k]) for text in texts for k in text)
            columns = [tokens]
            for _ in range(min(GPU_STEPS if self.on_gpu else 1, room) - 1):
                tokens, sees, depths = self._next(tokens, sees, depths)
                columns.append(tokens)
            done = []
            for text, new in zip(texts, torch.stack(columns, 1).tolist(), strict=True):
                for k in text.copy():
                    for token in new:
                        left[k].append(token)
                        if ended(writings[k], left[k]):
                            text.remove(k)
                            done.append((k, left.pop(k)))
                            break
            if done:
                yield done
            live = [row for row, text in enumerate(texts) if text]
            if not live:
                return
            if len(live) < len(texts):
                texts = [texts[row] for row in live]
                tokens, sees, depths = tokens[live], sees[live], depths[live]
            tokens, sees, depths = self._next(tokens, sees, depths)

    def _next(self, tokens: Any, sees: Any, depths: Any) -> tuple[Any, Any, Any]:
        """The likeliest token after each of these, (rows,), which it then sees, (rows, remembered)."""
        rows = torch.arange(len(tokens), device=tokens.device)
        sees = torch.cat([sees, torch.eye(len(tokens), dtype=torch.bool, device=tokens.device)], 1)
        found = self.memory.read(tokens, depths, sees, rows).argmax(-1)
        self.memory.keep()
        return found, sees, depths + 1


def _longest(writings: list[Writing], text: list[int]) -> int:
    return max(writings[k].request.max_tokens for k in text)


def _logprobs(logits: Any, tokens: list[list[int]]) -> list[float]:
    """The log-probabilities of some tokens in each row, in one list."""
    rows = [row for row, asked in enumerate(tokens) for _ in asked]
    logits = logits.float()
    found: list[float] = (logits[rows, [t for asked in tokens for t in asked]] - logits.logsumexp(-1)[rows]).tolist()
    return found
