"""Prompts that begin alike are read once: a window of them is one prefix tree, and the tree goes through the model.

The nodes are read in depth-first order, so many at once, packed without padding into one row: a node sees those above
it and nothing else. Of what has been read only the way down to the next node is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import compress, count
from operator import ne
from typing import Any

import torch

from harness.models.local.engine import Ended, Sequence, Writing
from harness.models.local.key_value_cache import Memory
from harness.models.local.loading import TokenBudget, memory_errors
from harness.runtime.signals import STOP

CPU_TOKENS = 512
"""Tokens read at once on a CPU: enough to keep it busy. Among more of them most see little of each other."""
GPU_STEPS = 8
"""Tokens that a GPU writes before anybody looks whether they end a text: looking waits for the GPU."""
LEAST = 16
"""Tokens at once that no model lacks the memory for unless it lacks it for anything."""


class ForwardPass:
    """A tree on its way through a model: the nodes before `at` have been read, those in `held` are remembered."""

    def __init__(self, tree: Tree, memory: Memory) -> None:
        memory.clear()
        self.tree, self.memory = tree, memory
        self.at = 0
        self.kept_nodes: list[int] = []

    def read(self, stop: int, nodes: list[int]) -> Any:
        """Return logits (nodes, vocabulary) after some of the nodes up to `stop`; `keep` must follow."""
        tokens, depths = self._tensor(self.tree.tokens[self.at : stop]), self._tensor(self.tree.depths[self.at : stop])
        new = list(range(self.at, stop))
        sees = self.above(new, [*self.kept_nodes, *new])
        return self.memory.read(tokens, depths, sees, self._tensor([node - self.at for node in nodes]))

    def above(self, nodes: list[int], others: list[int]) -> Any:
        """Return (nodes, others): whether another node is a node, or above it."""
        below, over = self._tensor(nodes)[:, None], self._tensor(others)
        return (over <= below) & (below < self._tensor([self.tree.ends[node] for node in others]))

    def keep(self, stop: int, *, everything: bool = False) -> None:
        """Drop the nodes up to `stop` that no later node needs; with `everything` none is dropped."""
        nodes = [*self.kept_nodes, *range(self.at, stop)]
        slots = [slot for slot, node in enumerate(nodes) if everything or self.tree.ends[node] > stop]
        self.memory.keep(slots)
        self.kept_nodes = [nodes[slot] for slot in slots]
        self.at = stop

    def _tensor(self, values: list[int]) -> Any:
        return torch.tensor(values, dtype=torch.long, device=self.memory.model.device)


class Sharing:
    """An engine that computes every distinct beginning of the prompts once."""

    def __init__(self, model: Any, tokens: int) -> None:
        """Read `tokens` at once, and remember as many of further texts beside one.

        What a text needs that is written alone is not counted: no less can be remembered.
        """
        self.model = model
        self.on_gpu = model.device.type == "cuda"
        self.at_once = TokenBudget(tokens if self.on_gpu else min(tokens, CPU_TOKENS))
        self.remembered = TokenBudget(tokens)

    def score(self, sequences: list[Sequence]) -> Iterator[list[tuple[Sequence, float]]]:
        """Yield scores in the order of the tree. Choices of one token cost nothing beyond their prompt."""
        tree = grow([sequence.read for sequence in sequences])
        targets: dict[int, list[tuple[int, int]]] = {}
        for k, sequence in enumerate(sequences):
            nodes = tree.path(tree.last[k], len(sequence.continuation))
            for node, token in zip(nodes, sequence.continuation, strict=True):
                targets.setdefault(node, []).append((k, token))
        totals = [0.0] * len(sequences)
        waiting = sorted(range(len(sequences)), key=tree.last.__getitem__, reverse=True)
        # A memory of its own: a generator that is given up late must not clear one that is in use by then.
        reading = ForwardPass(tree, memory := Memory(self.model))
        try:
            while reading.at < len(tree.tokens) and not STOP.requested:
                stop = min(reading.at + self.at_once.tokens, len(tree.tokens))
                ends = [node for node in range(reading.at, stop) if node in targets]
                tokens = [[token for _, token in targets[node]] for node in ends]
                with memory_errors() as errors:
                    values = _logprobs(reading.read(stop, ends), tokens)
                if errors:
                    self.at_once.halve(stop - reading.at, least=stop - reading.at <= LEAST)
                    continue
                with memory_errors() as errors:
                    reading.keep(stop)
                if errors:  # some layers have moved what they keep, others have not
                    self.at_once.halve(stop - reading.at, least=True)
                for (k, _), value in zip((pair for node in ends for pair in targets[node]), values, strict=True):
                    totals[k] += value
                finished = []
                while waiting and tree.last[waiting[-1]] < stop:
                    finished.append(waiting.pop())
                if finished:
                    yield [(sequences[k], totals[k]) for k in finished]
        finally:
            memory.clear()  # an error's traceback holds this frame as long as the error is known

    def write(self, writings: list[Writing], ended: Ended) -> Iterator[list[tuple[Writing, list[int]]]]:
        """Yield texts in the order of the tree, as many at once as can be remembered; a finished one costs no more.

        Where memory does not suffice, the unfinished texts go on from the tokens that they have.
        """
        unfinished: dict[int, list[int]] = {k: [] for k in range(len(writings))}
        memory = Memory(self.model)
        try:
            while unfinished and not STOP.requested:
                for finished in self._write(memory, writings, unfinished, ended):
                    yield [(writings[k], tokens) for k, tokens in finished]
        finally:
            memory.clear()

    def _write(
        self, memory: Memory, writings: list[Writing], unfinished: dict[int, list[int]], ended: Ended
    ) -> Iterator[list[tuple[int, list[int]]]]:
        """Continue the unfinished texts and yield those that end, until memory does not suffice."""
        order = list(unfinished)
        tree = grow([writings[k].prompt + tuple(unfinished[k]) for k in order])
        texts: dict[int, list[int]] = {}
        for node, k in sorted(zip(tree.last, order, strict=True)):
            texts.setdefault(node, []).append(k)  # equal prompts are one text, for greedy writing knows no chance
        ahead = {node: max(_room(writings[k], unfinished[k]) for k in text) for node, text in texts.items()}
        waiting = list(texts)[::-1]
        reading = ForwardPass(tree, memory)
        while waiting and not STOP.requested:
            group, size = [waiting.pop()], 0
            while waiting and (more := size + waiting[-1] - group[-1] + ahead[waiting[-1]]) <= self.remembered.tokens:
                group.append(waiting.pop())
                size = more
            with memory_errors() as errors:
                tokens = self._first(reading, group)
                yield from self._continue(
                    reading, group, tokens, [texts[node] for node in group], writings, unfinished, ended
                )
                reading.keep(reading.at)
            if errors:
                alone = tree.depths[group[0]] + 1 + ahead[group[0]]
                self.remembered.halve(size or alone, least=not size)
                return

    def _first(self, reading: ForwardPass, group: list[int]) -> Any:
        """Read up to the last node of the group; return the likeliest token (group,) after each of its nodes."""
        tokens = []
        while reading.at <= group[-1]:
            stop = min(reading.at + self.at_once.tokens, group[-1] + 1)
            new = stop - reading.at
            with memory_errors() as errors:
                tokens.append(reading.read(stop, [node for node in group if reading.at <= node < stop]).argmax(-1))
            if not errors:
                reading.keep(stop, everything=True)
            elif new > LEAST and new >= reading.at - group[0]:
                self.at_once.halve(new, least=False)
            else:  # more is remembered of the further texts than is read at once: the group is to be smaller
                raise errors[0]
        return torch.cat(tokens)

    def _continue(
        self,
        reading: ForwardPass,
        group: list[int],
        tokens: Any,
        texts: list[list[int]],
        writings: list[Writing],
        unfinished: dict[int, list[int]],
        ended: Ended,
    ) -> Iterator[list[tuple[int, list[int]]]]:
        """Continue after the nodes of a group, one token each at a time, from their first `tokens`."""
        sees = reading.above(group, reading.kept_nodes)
        depths = torch.tensor([reading.tree.depths[node] + 1 for node in group], device=sees.device)
        while texts:
            room = min(_room(writings[k], unfinished[k]) for text in texts for k in text)
            columns = [tokens]
            for _ in range(min(GPU_STEPS if self.on_gpu else 1, room) - 1):
                tokens, sees, depths = _next(reading.memory, tokens, sees, depths)
                columns.append(tokens)
            finished = []
            for text, new in zip(texts, torch.stack(columns, 1).tolist(), strict=True):
                for k in text.copy():
                    for token in new:
                        unfinished[k].append(token)
                        if ended(writings[k], unfinished[k]):
                            text.remove(k)
                            finished.append((k, unfinished.pop(k)))
                            break
            if finished:
                yield finished
            live = [row for row, text in enumerate(texts) if text]
            if not live:
                return
            if len(live) < len(texts):
                texts = [texts[row] for row in live]
                tokens, sees, depths = tokens[live], sees[live], depths[live]
            tokens, sees, depths = _next(reading.memory, tokens, sees, depths)


def _next(memory: Memory, tokens: Any, sees: Any, depths: Any) -> tuple[Any, Any, Any]:
    """Return the likeliest token after each of these, (rows,), with what it sees and its depth."""
    rows = torch.arange(len(tokens), device=tokens.device)
    sees = torch.cat([sees, torch.eye(len(tokens), dtype=torch.bool, device=tokens.device)], 1)
    likeliest = memory.read(tokens, depths, sees, rows).argmax(-1)
    memory.keep()
    return likeliest, sees, depths + 1


def _room(writing: Writing, tokens: list[int]) -> int:
    return writing.request.max_tokens - len(tokens)


def _logprobs(logits: Any, tokens: list[list[int]]) -> list[float]:
    """Return the log-probabilities of some tokens in each row, in one list."""
    rows = [row for row, ids in enumerate(tokens) for _ in ids]
    logits = logits.float()
    values: list[float] = (logits[rows, [t for ids in tokens for t in ids]] - logits.logsumexp(-1)[rows]).tolist()
    return values


@dataclass(frozen=True)
class Tree:
    """Token sequences as a prefix tree: a node for each distinct beginning of one, so each is computed once.

    Nodes are numbered depth first, a node before all below it. So node a is node b, or above it, exactly where
    `a <= b < ends[a]`.
    """

    tokens: list[int]
    """The last token of each node's beginning."""
    depths: list[int]
    """How many tokens come before it: its position in the sequence."""
    parents: list[int]
    """The node of the beginning that is one token shorter; -1 at depth 0."""
    ends: list[int]
    """The first node after those below it."""
    last: list[int]
    """For each sequence, in the order given, the node that is the whole of it; -1 for one without tokens."""

    def path(self, node: int, length: int) -> list[int]:
        """Return the last `length` nodes on the way down to a node, itself included."""
        nodes: list[int] = []
        for _ in range(length):
            nodes.append(node)
            node = self.parents[node]
        return nodes[::-1]


def grow(sequences: list[tuple[int, ...]]) -> Tree:
    """Return the tree of some sequences; equal ones share a node."""
    tree = Tree([], [], [], [], [-1] * len(sequences))
    path: list[int] = []
    before: tuple[int, ...] = ()
    for index in sorted(range(len(sequences)), key=sequences.__getitem__):  # which is depth first
        sequence = sequences[index]
        same = _agreement(before, sequence)
        size = len(tree.tokens)
        for node in path[same:]:
            tree.ends[node] = size
        del path[same:]
        new = range(size, size + len(sequence) - same)
        tree.tokens.extend(sequence[same:])
        tree.depths.extend(range(same, len(sequence)))
        tree.parents.extend([*path[-1:], *new][: len(new)] if path else [-1, *new][: len(new)])
        tree.ends.extend(new)
        path.extend(new)
        tree.last[index] = path[-1] if path else -1
        before = sequence
    for node in path:
        tree.ends[node] = len(tree.tokens)
    return tree


def _agreement(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    """Return how many tokens at the beginning are the same."""
    return next(compress(count(), map(ne, a, b)), min(len(a), len(b)))
