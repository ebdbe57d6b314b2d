"""Token sequences as a prefix tree, and its way through a model, which reads each node once.

Nodes are read in depth-first order, many at once, packed without padding into one row: a node sees those above it and
nothing else. Of the keys and values that have been computed only those above the next node are kept.
"""

from __future__ import annotations

import inspect
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import torch
from transformers import Cache, DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from harness.errors import ConfigError
from harness.models.local.engine import agreement


@dataclass(frozen=True)
class Tree:
    """Token sequences as a prefix tree, with a node for each distinct beginning.

    Nodes are numbered depth first, each before all below it. So node a is node b, or above it, exactly if
    `a <= b < ends[a]`.
    """

    tokens: list[int]
    """The last token of each node's beginning."""
    depths: list[int]
    """The position in the sequence of each node's last token."""
    parents: list[int]
    """The node of the beginning shorter by one token; -1 at depth 0."""
    ends: list[int]
    """The first node after those below each node."""
    last: list[int]
    """The node of each whole sequence, in the order of the sequences; -1 for an empty one."""

    def path(self, node: int, length: int) -> list[int]:
        """Return the last `length` nodes on the path down to a node, which is the last of them."""
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
    for index in sorted(range(len(sequences)), key=sequences.__getitem__):  # i.e. depth first
        sequence = sequences[index]
        same = agreement(before, sequence)
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


class ForwardPass:
    """A tree on its way through a model: nodes before `at` have been read, `kept_nodes` of them are remembered."""

    def __init__(self, tree: Tree, memory: Memory) -> None:
        memory.clear()
        self.tree, self.memory = tree, memory
        self.at = 0
        self.kept_nodes: list[int] = []

    def read(self, stop: int, nodes: list[int]) -> Any:
        """Read the nodes up to `stop`; return logits (nodes, vocabulary) after some of them. `keep` must follow."""
        tokens, depths = self._tensor(self.tree.tokens[self.at : stop]), self._tensor(self.tree.depths[self.at : stop])
        new = list(range(self.at, stop))
        sees = self.above(new, [*self.kept_nodes, *new])
        return self.memory.read(tokens, depths, sees, self._tensor([node - self.at for node in nodes]))

    def above(self, nodes: list[int], others: list[int]) -> Any:
        """Return (nodes, others): whether a node of `others` equals one of `nodes`, or is above it."""
        below, over = self._tensor(nodes)[:, None], self._tensor(others)
        return (over <= below) & (below < self._tensor([self.tree.ends[node] for node in others]))

    def keep(self, stop: int, *, everything: bool = False) -> None:
        """Drop the nodes up to `stop` that no later node needs; with `everything` drop none."""
        nodes = [*self.kept_nodes, *range(self.at, stop)]
        slots = [slot for slot, node in enumerate(nodes) if everything or self.tree.ends[node] > stop]
        self.memory.keep(slots)
        self.kept_nodes = [nodes[slot] for slot in slots]
        self.at = stop

    def _tensor(self, values: list[int]) -> Any:
        return torch.tensor(values, dtype=torch.long, device=self.memory.model.device)


class Layer(DynamicLayer):  # type: ignore[misc]
    """One layer's keys and values, (1, heads, room, size): `length` tokens, then room for more.

    A forward pass writes behind them, and is forgotten unless `keep` follows: so a pass that ran out of memory half-way
    leaves nothing behind.
    """

    def __init__(self) -> None:
        super().__init__()
        self.length = 0

    def update(self, key_states: Any, value_states: Any, *_: Any, **__: Any) -> tuple[Any, Any]:
        """Write new keys and values; return them after those that are kept."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            self.keys, self.values = key_states[:, :, :0], value_states[:, :, :0]
        size = self.length + key_states.shape[2]
        self.keys, self.values = self._with(self.keys, key_states), self._with(self.values, value_states)
        return self.keys[:, :, :size], self.values[:, :, :size]

    def _with(self, room: Any, new: Any) -> Any:
        size = self.length + new.shape[2]
        if size > room.shape[2]:
            wider = room.new_empty(*room.shape[:2], size + size // 4, room.shape[3])
            wider[:, :, : self.length] = room[:, :, : self.length]
            room = wider
        room[:, :, self.length : size] = new
        return room

    def keep(self, first: int, slots: Any) -> None:
        """Keep the `first` tokens, and after them those in `slots`, if any."""
        self.length = first + (0 if slots is None else len(slots))
        if slots is not None and self.is_initialized:
            for room in (self.keys, self.values):
                room[:, :, first : self.length] = room[:, :, slots]

    def get_seq_length(self) -> int:
        return self.length


class Memory:
    """A model, and the keys and values of what it has read: on every layer a slot per token."""

    def __init__(self, model: Any) -> None:
        """Begin empty. Raises ConfigError if a layer keeps anything but each token's keys and values."""
        self.model = model
        self.windows = windows_of(model.config)
        self.limits_logits = "logits_to_keep" in inspect.signature(model.forward).parameters
        self.clear()

    def clear(self) -> None:
        layers = len(DynamicCache(config=self.model.config).layers)
        self.cache = Cache(layers=[Layer() for _ in range(layers)])
        self.depths = torch.empty(0, dtype=torch.long, device=self.model.device)

    @property
    def length(self) -> int:
        return int(self.depths.shape[0])

    def read(self, tokens: Any, depths: Any, sees: Any, rows: Any) -> Any:
        """Return logits (rows, vocabulary) after the tokens with the indices `rows`; `keep` must follow.

        tokens, depths: (new,); depths are positions in the text. sees: (new, kept + new), whether a new token attends
        to another one.
        """
        with torch.inference_mode():
            self._all = torch.cat([self.depths, depths])
            logits = self.model(
                input_ids=tokens[None],
                position_ids=depths[None],
                attention_mask=self._masks(sees, depths),
                use_cache=True,
                **{cache_argument(self.model): self.cache},
                **({"logits_to_keep": rows} if self.limits_logits else {}),
            ).logits[0]
            return logits if self.limits_logits else logits[rows]

    def keep(self, slots: list[int] | None = None) -> None:
        """Keep the tokens in `slots`, ascending indices of the kept and new ones; None keeps all."""
        with torch.inference_mode():
            length = len(self._all) if slots is None else len(slots)
            # Only the end of a path of thousands of tokens has to move, and nothing while texts are written.
            first = length if slots is None else bisect_right(range(length), 0, key=lambda k: slots[k] - k)
            indices = torch.tensor(slots[first:], device=self._all.device) if slots and first < length else None
            for layer in self.cache.layers:
                layer.keep(first, indices)
            depths = self._all[:first]
            self._all = self.depths = depths if indices is None else torch.cat([depths, self._all[indices]])

    def _masks(self, sees: Any, depths: Any) -> Any:
        """Return the mask to add to attention, (1, 1, new, kept + new), or one for each of two kinds of layers.

        Not all implementations of attention take boolean masks.
        """
        masks = {}
        for kind, window in self.windows.items():
            visible = sees if window is None else sees & (depths[:, None] - self._all < window)
            mask = torch.zeros(visible.shape, dtype=self.model.dtype, device=visible.device)
            masks[kind] = mask.masked_fill_(~visible, torch.finfo(mask.dtype).min)[None, None]
        return masks if len(masks) > 1 else next(iter(masks.values()))


def cache_argument(model: Any) -> str:
    """Return what a model's `forward` calls what it has read: before transformers 5.24 the keys and values alone."""
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"


def windows_of(config: Any) -> dict[str, int | None]:
    """Return the kinds of attention layers, each with its window in tokens, None for full attention.

    Raises ConfigError for other layers, such as recurrent ones, and for windows that differ.
    """
    decoder = config.get_text_config(decoder=True)
    kinds = set(getattr(decoder, "layer_types", None) or ())
    if getattr(decoder, "attention_chunk_size", None):  # transformers caches it like a window
        kinds.add("chunked_attention")
    if others := sorted(kinds - {"full_attention", "sliding_attention"}):
        raise ConfigError(f"it has layers of {others[0]}")
    windows_by_kind: dict[str, set[int | None]] = {}
    for layer in DynamicCache(config=config).layers:
        if type(layer) is DynamicLayer:
            windows_by_kind.setdefault("full_attention", set()).add(None)
        elif type(layer) is DynamicSlidingWindowLayer:
            windows_by_kind.setdefault("sliding_attention", set()).add(layer.sliding_window)
        else:
            raise ConfigError(f"it has layers with a {type(layer).__name__}")
    if not windows_by_kind or any(len(windows) > 1 for windows in windows_by_kind.values()):
        raise ConfigError("its layers differ")
    return {kind: windows.pop() for kind, windows in windows_by_kind.items()}
