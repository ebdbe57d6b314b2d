"""The one step by which what an earlier version left is read: a manifest as today's version would have written it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOVED: Mapping[str, str] = {
    "harness.causal.discovery.boss.BOSS": "harness_discovery.algorithms.BOSS",
    "harness.causal.discovery.pc.PC": "harness_discovery.algorithms.PC",
    "harness.plugins.cladder.reasoner.LadderReasoner": "harness.tasks.cladder.reasoner.LadderReasoner",
    "harness.plugins.cladder.shortcut.LadderShortcut": "harness.tasks.cladder.shortcut.LadderShortcut",
    "harness.plugins.cladder.task.CLadder": "harness.tasks.cladder.CLadder",
    "harness.plugins.fresh.pairs.Pairs": "harness.tasks.corr2cause.fresh.pairs.Pairs",
    "harness.plugins.fresh.task.Fresh": "harness.tasks.corr2cause.fresh.task.Fresh",
    "harness.plugins.fresh.trees.Trees": "harness.tasks.corr2cause.fresh.trees.Trees",
}
"""Classes that a config named at another place: the old name, and today's."""
GONE = frozenset(("limit_parameter", "max_total_wait", "tokens_per_minute", "context", "trust_remote_code", "window"))
"""Settings of models on which no answer depended, and which are no more."""
NULL = frozenset(("classes", "dialect", "endpoint", "graphs", "top_p"))  # no more, where they were not set
UNSET: Mapping[str, str] = {"harness.plugins.fresh.task.Fresh": "whole"}
"""Settings that a class, by its old name, has no more: a run that did not use them is one without them."""


def upgraded(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest with today's names of classes, and its role. Its digests are those of the file."""
    config = manifest.get("config")
    if isinstance(config, Mapping):
        manifest = {**manifest, "config": {name: _renamed(section) for name, section in config.items()}}
    if manifest.get("configuration") and not manifest.get("role"):
        learned = isinstance(config, Mapping) and config.get("algorithm") is not None
        manifest = {**manifest, "role": "algorithm" if learned else "model"}
    return dict(manifest)


def _renamed(section: Any) -> Any:
    """Return a part's settings with today's name of its class, and without those that a model of ours has no more."""
    target = section.get("_target_") if isinstance(section, Mapping) else None
    if not isinstance(target, str):
        return section
    gone = GONE if target.startswith("harness.models.") else frozenset[str]()
    kept = {
        name: value
        for name, value in section.items()
        if name not in gone and (value or name != UNSET.get(target)) and (value is not None or name not in NULL)
    }
    return kept | {"_target_": MOVED.get(target, target)}
