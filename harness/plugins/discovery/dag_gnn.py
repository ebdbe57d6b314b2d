"""DAG-GNN: an autoencoder whose weights between variables are forced to be acyclic, by torch."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module, metadata
from math import inf, log10
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.causal.dag import DAG, from_edges
from harness.causal.learned_graph import Pattern
from harness.errors import ConfigError
from harness.plugins.discovery.algorithm import Shuffled
from harness.runtime.environment import installing
from harness.runtime.under_way import STEPS
from harness.types import JSON

if TYPE_CHECKING:
    from torch import Tensor

_TOLERANCE, _PROGRESS, _GROWTH, _MOST_PENALTY = 1e-8, 0.25, 10.0, 1e20
"""As in the authors' code: when h counts as zero, when as enough smaller, the penalty's factor and its end."""


@dataclass(frozen=True)
class DAGGNN(Shuffled):
    """DAG-GNN after Yu, Chen, Gao and Yu (2019, "DAG-GNN: DAG Structure Learning with Graph Neural Networks", ICML).

    A variable is its state as a one-hot vector, decoded by a softmax; encoder and decoder are perceptrons that all
    variables share (§3.2, discrete variables); the constraint is that of §3.3. As in the authors' code
    (https://github.com/fishmoon1234/DAG-GNN), which differs from the paper there, a latent value is its mean, without a
    draw, so that A stands in the divergence alone; with draws nothing of the data was left in the latent values here.
    From the code are also A = sinh 3W, the penalty on loops, the updates of multiplier, penalty and learning rate, and
    all defaults but `epochs` (theirs: 200). Ours: the loss of discrete variables, which the code lacks, is
    cross-entropy; rows are shuffled in each epoch; columns come in an order drawn from the seed; and where edges above
    the threshold still make a cycle, the weakest go until the graph is acyclic.
    """

    threshold: Annotated[float, Field(ge=0)] = 0.3
    """The smallest absolute weight that is an edge."""
    hidden: Annotated[int, Field(ge=1)] = 64
    """Units of the hidden layers."""
    epochs: Annotated[int, Field(ge=1)] = 60
    """Passes over the data between two updates of the Lagrangian."""
    updates: Annotated[int, Field(ge=1)] = 100
    """The greatest number of updates of the multiplier."""
    batch_size: Annotated[int, Field(ge=1)] = 100
    learning_rate: Annotated[float, Field(gt=0)] = 3e-3
    """Divided by log₁₀ of the penalty, and kept between 0.0001 and 0.01."""

    @property
    def identity(self) -> Mapping[str, JSON]:
        settings = {name: value for name, value in asdict(self).items() if name != "name"}
        return {"kind": "dag-gnn", **settings, "torch": _version()}

    def search(self, data: NDArray[np.int64], arities: tuple[int, ...], seed: int) -> Pattern:
        """Return the DAG that was learned, every edge directed. Raises ConfigError where torch is missing."""
        torch = _torch()
        # One thread: small matrices, and the same sums on every machine with as many cores or fewer.
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                weights = _Training(torch, data, max(arities), self).weights()
        finally:
            torch.set_num_threads(threads)
        return Pattern.of(acyclic(weights, self.threshold))


class _Training:
    """The autoencoder of one table, in training."""

    def __init__(self, torch: ModuleType, data: NDArray[np.int64], states: int, settings: DAGGNN) -> None:
        self._torch, self._settings = torch, settings
        self._states, self._variables = torch.from_numpy(data), data.shape[1]
        self._one_hot = torch.nn.functional.one_hot(self._states, states).double()
        self._raw = torch.zeros(self._variables, self._variables, dtype=torch.float64, requires_grad=True)
        self._encoder, self._decoder = self._layers(states), self._layers(states)
        parameters = [self._raw, *self._encoder.parameters(), *self._decoder.parameters()]
        self._optimizer = torch.optim.Adam(parameters, lr=settings.learning_rate)

    def weights(self) -> NDArray[np.float64]:
        """Return the weight of each edge (cause, effect) at the end of the augmented Lagrangian."""
        multiplier, penalty, before, best = 0.0, 1.0, inf, inf
        done = 0
        for _ in range(self._settings.updates):
            while penalty < _MOST_PENALTY:
                loss = self._fit(multiplier, penalty)
                best, done = min(best, loss), done + 1
                STEPS.tell(done, self._settings.updates, f"rounds of training at most (cycles: {self._cycles():.1e})")
                if loss > 2 * best or self._cycles() <= _PROGRESS * before:
                    break
                penalty *= _GROWTH
            before = self._cycles()
            multiplier += penalty * before
            if before <= _TOLERANCE or penalty >= _MOST_PENALTY:
                break
        STEPS.end()
        weights: NDArray[np.float64] = self._adjacency().detach().numpy().astype(np.float64)
        return weights

    def _fit(self, multiplier: float, penalty: float) -> float:
        """Train for the epochs of one round; return the mean loss of the last one, without the constraint."""
        losses: list[float] = []
        rate = self._settings.learning_rate / (log10(penalty) + 1e-10)
        self._optimizer.param_groups[0]["lr"] = min(max(rate, 1e-4), 1e-2)
        for _ in range(self._settings.epochs):
            losses = []
            for rows in self._torch.randperm(len(self._states)).split(self._settings.batch_size):
                self._optimizer.zero_grad()
                adjacency = self._adjacency()
                fit, cycles = self._loss(adjacency, rows), self._h(adjacency)
                constraint = multiplier * cycles + penalty / 2 * cycles**2 + 100 * (adjacency.diagonal() ** 2).sum()
                total: Any = fit + constraint
                total.backward()
                self._optimizer.step()
                losses.append(float(fit.detach()))
        return sum(losses) / len(losses)

    def _loss(self, adjacency: Tensor, rows: Tensor) -> Tensor:
        """Return the negative evidence lower bound of a batch, a row's on average."""
        values = self._encoder(self._one_hot[rows])
        latent = values - adjacency.T @ values
        # The decoder begins with (I − Aᵀ)⁻¹, which makes of the latent values what the encoder's perceptron gave.
        logits = self._decoder(values)
        entropy = self._torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), self._states[rows].flatten(), reduction="sum"
        )
        total: Tensor = (entropy + latent.square().sum() / 2) / len(rows)
        return total

    def _adjacency(self) -> Tensor:
        weights: Tensor = self._torch.sinh(3 * self._raw)
        return weights

    def _h(self, adjacency: Tensor) -> Tensor:
        """Return tr (I + A∘A / n)ⁿ − n, zero iff the weights make no cycle (§3.3)."""
        n = self._variables
        power: Tensor = self._torch.matrix_power(self._torch.eye(n, dtype=adjacency.dtype) + adjacency**2 / n, n)
        cycles: Tensor = power.trace() - n
        return cycles

    def _cycles(self) -> float:
        return float(self._h(self._adjacency().detach()))

    def _layers(self, states: int) -> Any:
        nn = self._torch.nn
        layers = nn.Sequential(
            nn.Linear(states, self._settings.hidden), nn.ReLU(), nn.Linear(self._settings.hidden, states)
        ).double()
        for layer in (layers[0], layers[2]):
            nn.init.xavier_normal_(layer.weight)
        return layers


def acyclic(weights: NDArray[np.float64], threshold: float) -> DAG:
    """Return the edges whose absolute weight is at least the threshold, less the weakest that make a cycle.

    Edges are taken strongest first; one that would close a cycle is left out.
    """
    n, edges, strengths = len(weights), list[tuple[int, int]](), np.abs(weights)
    for place in np.argsort(-strengths, axis=None, kind="stable"):
        u, v = divmod(int(place), n)
        if u != v and strengths[u, v] >= threshold:
            with suppress(ValueError):
                from_edges(n, [*edges, (u, v)])
                edges.append((u, v))
    return from_edges(n, edges)


def _missing() -> ConfigError:
    return ConfigError(f"algorithm=dag_gnn needs torch, which is not installed: {installing('discovery-torch')}.")


def _torch() -> ModuleType:
    try:
        return import_module("torch")
    except ImportError as error:
        raise _missing() from error


def _version() -> str:
    try:
        return metadata.version("torch").partition("+")[0]
    except metadata.PackageNotFoundError:
        raise _missing() from None
