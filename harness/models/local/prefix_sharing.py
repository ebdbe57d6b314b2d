"""The engine that computes common beginnings of prompts once, and the test whether a model allows that.

The test looks at the model's settings, then makes a trial.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from transformers import DynamicCache

from harness.errors import ConfigError
from harness.models.local.engine import Ended, Sequence, TokenBudget, Writing, memory_errors, same_up_to
from harness.models.local.prefix_tree import ForwardPass, Memory, cache_argument, grow
from harness.runtime.signals import STOP

CPU_TOKENS = 512
"""Tokens read at once on a CPU: enough to keep it busy. Of more tokens most would not attend to each other."""
GPU_STEPS = 8
"""Tokens that a GPU writes before each check for the end of texts, which has to wait for the GPU."""
LEAST = 16
"""Tokens at once: if memory is too small for them, it is too small for the model."""


class Sharing:
    """An engine that computes each distinct beginning of the prompts once."""

    def __init__(self, model: Any, tokens: int) -> None:
        """`tokens` is how many are read at once, and how many are remembered for texts beside the first one.

        The first one's own are not counted: it cannot do with less.
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
        # Not shared between calls: a generator that is closed late must not clear a memory in use.
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
                if errors:  # some layers have moved what they keep, others have not: there is no way back
                    self.at_once.halve(stop - reading.at, least=True)
                for (k, _), value in zip((pair for node in ends for pair in targets[node]), values, strict=True):
                    totals[k] += value
                finished = []
                while waiting and tree.last[waiting[-1]] < stop:
                    finished.append(waiting.pop())
                if finished:
                    yield [(sequences[k], totals[k]) for k in finished]
        finally:
            memory.clear()  # the traceback of an error would keep this frame, and with it the memory

    def write(self, writings: list[Writing], ended: Ended) -> Iterator[list[tuple[Writing, list[int]]]]:
        """Yield texts in the order of the tree; as many are written at once as can be remembered.

        After memory has run out, the unfinished texts go on from the tokens that they have.
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
        """Continue the unfinished texts and yield those that end; return if memory runs out."""
        order = list(unfinished)
        tree = grow([writings[k].prompt + tuple(unfinished[k]) for k in order])
        texts: dict[int, list[int]] = {}
        for node, k in sorted(zip(tree.last, order, strict=True)):
            texts.setdefault(node, []).append(k)  # equal prompts are one text, as writing is greedy
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
        """Read up to the last node of a group; return the likeliest token (group,) after each of its nodes."""
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
            else:  # more is remembered for further texts than is read at once: the group has to be smaller
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
        """Continue after the nodes of a group from their first `tokens`, one token each at a time."""
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
    """Return the likeliest token after each of these, (rows,), with what it attends to and its depth."""
    rows = torch.arange(len(tokens), device=tokens.device)
    sees = torch.cat([sees, torch.eye(len(tokens), dtype=torch.bool, device=tokens.device)], 1)
    likeliest = memory.read(tokens, depths, sees, rows).argmax(-1)
    memory.keep()
    return likeliest, sees, depths + 1


def _room(writing: Writing, tokens: list[int]) -> int:
    return writing.request.max_tokens - len(tokens)


def _logprobs(logits: Any, tokens: list[list[int]]) -> list[float]:
    """Return the log-probabilities of the given tokens of each row, in one list."""
    rows = [row for row, ids in enumerate(tokens) for _ in ids]
    logits = logits.float()
    values: list[float] = (logits[rows, [t for ids in tokens for t in ids]] - logits.logsumexp(-1)[rows]).tolist()
    return values


EXACT = {torch.float32: 1e-4, torch.float64: 1e-4}
"""How far the trial may be off, relative to how much logits differ; for other dtypes see FLOOR."""
FLOOR, ROUNDINGS, MOST = 0.005, 3.0, 0.15
"""How far it may be off in low precision: FLOOR plus ROUNDINGS times the effect of rounding alone, but at most MOST.

Measured on tiny models of every kind in transformers 5.23, in bfloat16 and float16: models that share exactly in
float32 were at most 0.0015 beyond three roundings, those that do not at least 0.03 (RoFormer). MOST is there because
recurrent models are wrong when read in pieces, even without a tree: that would pass for rounding.
"""
PIECE = 7
"""Nodes read at once in the trial."""
_UNFIT = {
    "gpt_neo": "its local layers look back by place, not by mask",
    "mpt": "its biases go by place, not by position",
}


def obstacle(model: Any, limit: int) -> str | None:
    """Return why prompts and replies of up to `limit` tokens cannot share beginnings; None if they can."""
    config = model.config.get_text_config(decoder=True)
    if reason := _UNFIT.get(config.model_type):
        return reason
    # The trial is too short to reveal the next two. Doge's window counts the whole row, not what a token attends to.
    if getattr(config, "keep_window_size", None):
        return "what it looks at depends on the length of the whole text"
    length = same_up_to(config)
    if length is not None and length < limit:
        return f"its positions depend on the length of the whole text; with model.max_length={length} they do not"
    try:
        off, tolerance = _trial(model)
    except ConfigError as error:
        return str(error)
    except Exception as error:  # a model's code may raise anything for a mask and positions that it does not expect
        return f"a trial failed: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
    if not off <= tolerance:  # also for NaN
        return f"a trial was {off:.2g} off"
    return None


def _trial(model: Any) -> tuple[float, float]:
    """Return how far a small tree's logits are from those of each sequence alone, and the tolerance.

    Both are means over the leaves, relative to how much the logits differ from each other.
    """
    sequences = _sequences(model.get_input_embeddings().weight.shape[0])
    shared = _shared(model, sequences)
    off = noise = 0.0
    for sequence, logits in zip(sequences, shared, strict=True):
        ids = torch.tensor([sequence], device=model.device)
        with torch.inference_mode():
            alone = model(input_ids=ids, use_cache=False).logits[0, -1].float()
        off += _distance(logits, alone) / len(sequences)
        if model.dtype not in EXACT:
            noise += _distance(_in_pieces(model, ids), alone) / len(sequences)
    return off, EXACT.get(model.dtype, min(MOST, FLOOR + ROUNDINGS * noise))


def _shared(model: Any, sequences: list[tuple[int, ...]]) -> list[Any]:
    """Return the logits (vocabulary,) after each sequence, as `Sharing` computes them."""
    tree = grow(sequences)
    memory = Memory(model)
    reading = ForwardPass(tree, memory)
    logits_by_node: dict[int, Any] = {}
    while reading.at < len(tree.tokens):
        stop = min(reading.at + PIECE, len(tree.tokens))
        nodes = [node for node in tree.last if reading.at <= node < stop]
        logits_by_node |= zip(nodes, reading.read(stop, nodes), strict=True)
        reading.keep(stop)
    return [logits_by_node[node] for node in tree.last]


def _in_pieces(model: Any, ids: Any) -> Any:
    """Return the logits (vocabulary,) after ids (1, tokens) read in pieces: nothing shared, but rounded differently."""
    cache = DynamicCache(config=model.config)
    with torch.inference_mode():
        for piece in ids.split(PIECE, 1):
            logits = model(input_ids=piece, use_cache=True, **{cache_argument(model): cache}).logits[0, -1]
    return logits


def _distance(logits: Any, expected: Any) -> float:
    return float((logits.float() - expected).norm() / (expected - expected.mean()).norm())


def _sequences(vocabulary: int) -> list[tuple[int, ...]]:
    """Return prompts of pseudo-random tokens with a common beginning, which is longer for two of them."""

    def tokens(seed: int, count: int) -> Iterator[int]:
        return ((seed * 7919 + k * k * 104729 + k * 1299709) % vocabulary for k in range(1, count + 1))

    root, branch = tuple(tokens(1, 12)), tuple(tokens(2, 9))
    ends = [(*branch, *tokens(3, 5)), (*branch, *tokens(4, 8)), tuple(tokens(5, 10)), tuple(tokens(6, 6))]
    return [root + end for end in ends]
