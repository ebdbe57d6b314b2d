"""Every labelled Markov equivalence class up to six nodes, by what follows in it: its sheet of answers.

A claim is one of four kinds about two nodes: an edge i → j, a directed path of two or more edges, a common effect, a
common cause (`harness.causal.relations`; child and descendant are an edge and a path seen from their other end). A
class answers each with Yes where it holds in all of its members. A sheet is these answers as bits of two words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from harness.causal.dag import DAG, children, from_integer
from harness.causal.equivalence import members, representatives
from harness.causal.relations import Relation, common_relations

LARGEST = 6
"""n = 7 has more than 300 million labelled classes."""
_DIRECTED = (Relation.PARENT, Relation.ANCESTOR)
_SYMMETRIC = (Relation.COLLIDER, Relation.CONFOUNDER)
_OTHER_END = {Relation.CHILD: Relation.PARENT, Relation.DESCENDANT: Relation.ANCESTOR}
_BLOCK = 1 << 15
"""Sheets that are looked at together: as many as the processor's cache holds."""

Claim = tuple[Relation, int, int]


def canonical(relation: Relation, i: int, j: int) -> Claim:
    """Return a claim, equal for all that mean the same: from cause to effect, or the smaller node first."""
    if relation in _OTHER_END:
        return _OTHER_END[relation], j, i
    return (relation, min(i, j), max(i, j)) if relation in _SYMMETRIC else (relation, i, j)


@cache
def places(n: int) -> dict[Claim, int]:
    """Return the bit of each of the 3n(n-1) canonical claims about n nodes."""
    claims = [(relation, i, j) for relation in _DIRECTED for i, j in permutations(range(n), 2)]
    claims += [(relation, i, j) for relation in _SYMMETRIC for i, j in combinations(range(n), 2)]
    return {claim: place for place, claim in enumerate(claims)}


@dataclass(frozen=True)
class Sheets:
    """All distinct sheets of the labelled classes over n nodes, and the classes that have each."""

    n: int
    words: NDArray[np.uint64]
    """(2, sheets), sorted."""
    first: NDArray[np.int64]
    """(sheets + 1,): where the classes of each sheet begin."""
    graphs: NDArray[np.uint32]
    """(classes,): essential graphs as `essential_graph` has them, those of one sheet together."""

    def flips(self, answers: NDArray[np.uint64], asked: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return how many of the asked answers differ from the nearest sheet, for each row of `answers` (rows, 2).

        All rows have equally many Yes: a sheet with k more or fewer is no nearer than k, and those far off are left
        out.
        """
        best = np.full(len(answers), 255, np.uint8)
        if not len(answers):
            return best.astype(np.int64)
        masked = self.words & asked[:, None]
        apart = np.abs(_ones(masked).astype(np.int16) - int(np.bitwise_count(answers[0]).sum())).astype(np.uint8)
        order = np.argsort(apart, kind="stable")
        for start in range(0, len(order), _BLOCK):
            block = order[start : start + _BLOCK]
            if apart[block[0]] >= best.max():
                break
            low, high = masked[:, block]
            for row, (a, b) in enumerate(answers):
                best[row] = min(best[row], (np.bitwise_count(low ^ a) + np.bitwise_count(high ^ b)).min())
        return best.astype(np.int64)

    def nearest(self, answers: NDArray[np.uint64], asked: NDArray[np.uint64]) -> tuple[int, NDArray[np.int64]]:
        """Return the fewest asked answers that differ from a sheet's, and which sheets these are. `answers`: (2,)."""
        distances = _ones((self.words ^ answers[:, None]) & asked[:, None])
        return int(distances.min()), np.flatnonzero(distances == distances.min())

    def classes(self, chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """Return the classes that have one of the chosen sheets: which sheet, and the essential graph."""
        counts = self.first[chosen + 1] - self.first[chosen]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.repeat(chosen, counts), self.graphs[np.repeat(self.first[chosen], counts) + within]

    def apart(self, chosen: NDArray[np.int64], words: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """Return in how many of all claims each chosen sheet differs from one that `packed` has made."""
        return _ones(self.words[:, chosen] ^ words[:, None])


def _ones(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    counts = np.bitwise_count(words)
    return np.asarray(counts[0] + counts[1], np.uint8)


def packed(answers: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return rows of up to 128 bits as rows of two words."""
    padded = np.zeros((len(answers), 128), np.bool_)
    padded[:, : answers.shape[1]] = answers
    return np.packbits(padded, axis=1).view(np.uint64)


def sheet(dag: DAG) -> NDArray[np.bool_]:
    """Return the answers of a DAG's class to all claims, in the order of `places`."""
    holds = common_relations(members(dag))
    return np.array([holds[relation][i] >> j & 1 for relation, i, j in places(len(dag))], np.bool_)


def essential_graph(dag: DAG) -> int:
    """Return the essential graph of a DAG's class as a number (Andersson, Madigan and Perlman 1997).

    Of the k-th pair i < j bit k says that i → j is in some member, bit n(n-1)/2 + k that j → i is.
    """
    compelled = common_relations(members(dag))[Relation.PARENT]
    below = children(dag)
    pairs = list(combinations(range(len(dag)), 2))
    number = 0
    for k, (i, j) in enumerate(pairs):
        if (dag[i] | below[i]) >> j & 1:
            number |= (1 - (compelled[j] >> i & 1)) << k | (1 - (compelled[i] >> j & 1)) << k + len(pairs)
    return number


def marks(n: int, graph: int) -> Iterator[tuple[int, int, str]]:
    """Yield each pair i < j with what joins it in an essential graph: "→", "←", "–", or "" for nothing."""
    pairs = list(combinations(range(n), 2))
    for k, (i, j) in enumerate(pairs):
        yield i, j, ("", "→", "←", "–")[graph >> k & 1 | (graph >> k + len(pairs) & 1) << 1]


def hamming(n: int, graphs: NDArray[np.uint32], graph: int) -> NDArray[np.uint8]:
    """Return the structural Hamming distance of each essential graph from one: pairs whose mark differs.

    Tsamardinos, Brown and Aliferis (2006), section 3.
    """
    pairs = n * (n - 1) // 2
    differing = graphs ^ np.uint32(graph)
    return np.asarray(np.bitwise_count((differing | differing >> np.uint32(pairs)) & np.uint32((1 << pairs) - 1)))


@cache
def sheets(n: int) -> Sheets:
    """Return all sheets over n nodes, n = 2 … 6: 527,222 of 1,067,825 classes for n = 6, made in two seconds."""
    if not 2 <= n <= LARGEST:
        raise ValueError(f"all classes over {n} nodes are not at hand: 2 to {LARGEST}")
    dags = [from_integer(n, number) for number in representatives(n)]
    pairs = n * (n - 1) // 2
    graph_bits = [[graph >> k & 1 for k in range(2 * pairs)] for graph in map(essential_graph, dags)]
    rows = np.hstack([np.array([sheet(dag) for dag in dags]), np.array(graph_bits, np.bool_)])
    words, graphs = [], []
    for new in permutations(range(n)):
        renamed = rows[:, _columns(n, new)]
        words.append(packed(renamed[:, : -2 * pairs]))
        graphs.append(renamed[:, -2 * pairs :] @ (1 << np.arange(2 * pairs, dtype=np.uint32)))
    return _distinct(n, np.concatenate(words), np.concatenate(graphs))


def _columns(n: int, new: tuple[int, ...]) -> list[int]:
    """Return for each column of a renamed class the one it had: a claim about i, j is that about new[i], new[j]."""
    where, pairs = places(n), list(combinations(range(n), 2))
    columns = [where[canonical(relation, new[i], new[j])] for relation, i, j in where]
    ends = [*pairs, *((j, i) for i, j in pairs)]
    marks_at = {end: len(where) + k for k, end in enumerate(ends)}
    return columns + [marks_at[new[i], new[j]] for i, j in ends]


def _distinct(n: int, words: NDArray[np.uint64], graphs: NDArray[np.uint32]) -> Sheets:
    """Return the classes without those that come twice, as they do where a renaming changes nothing."""
    order = np.lexsort((graphs, words[:, 1], words[:, 0]))
    words, graphs = words[order], graphs[order]
    new_sheet = np.append(True, (words[1:] != words[:-1]).any(axis=1))
    new_class = np.append(True, graphs[1:] != graphs[:-1]) | new_sheet
    first = np.flatnonzero(new_sheet[new_class])
    return Sheets(n, words[new_sheet].T.copy(), np.append(first, new_class.sum()), graphs[new_class])
