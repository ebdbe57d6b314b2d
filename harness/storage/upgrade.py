"""The one step by which what an earlier version left is read: a manifest as today's version would have written it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.types import Role

MOVED: Mapping[str, str] = {
    "harness.causal.discovery.boss.BOSS": "harness_discovery.algorithms.BOSS",
    "harness.causal.discovery.pc.PC": "harness_discovery.algorithms.PC",
    "harness.plugins.discovery.causal_learn.BOSS": "harness_discovery.algorithms.BOSS",
    "harness.plugins.discovery.causal_learn.PC": "harness_discovery.algorithms.PC",
    "harness.plugins.cladder.reasoner.LadderReasoner": "harness.tasks.cladder.reasoner.LadderReasoner",
    "harness.plugins.cladder.shortcut.LadderShortcut": "harness.tasks.cladder.shortcut.LadderShortcut",
    "harness.plugins.cladder.task.CLadder": "harness.tasks.cladder.CLadder",
    "harness.plugins.fresh.pairs.Pairs": "harness.tasks.corr2cause.fresh.pairs.Pairs",
    "harness.plugins.fresh.task.Fresh": "harness.tasks.corr2cause.fresh.task.Fresh",
    "harness.plugins.fresh.trees.Trees": "harness.tasks.corr2cause.fresh.trees.Trees",
    "harness.plugins.papers.latent.Latent": "harness_papers.latent.Latent",
    "harness.plugins.papers.story_tasks.Stories": "harness_papers.stories.Stories",
    "harness.plugins.papers.story_tasks.StoryWriting": "harness_papers.stories.StoryWriting",
    "harness.plugins.papers.strength.Strength": "harness_papers.strength.Strength",
    "harness.plugins.papers.strength_baselines.Ranker": "harness_papers.mutual_information.Ranker",
}
"""Classes that a config named at another place: the old name, and today's."""
GONE = frozenset(("context", "share_prefixes", "tokens_per_minute", "trust_remote_code", "window"))
"""Settings of models on which no answer depended, and which are no more."""
UNSET = frozenset(("whole",))
"""Settings of tasks that are no more: a run that did not use them is one without them."""


def upgraded(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest with today's names of classes, its role and how it asked. Its digests are those of the file."""
    config = manifest.get("config")
    if isinstance(config, Mapping):
        manifest = {**manifest, "config": {name: _renamed(section) for name, section in config.items()}}
    if manifest.get("configuration") and not manifest.get("role"):
        manifest = {**manifest, "role": _role(manifest)}
    if method := _method(manifest):
        configuration = manifest["configuration"]
        model = {**configuration["model"], "method": method}
        manifest = {**manifest, "configuration": {**configuration, "model": model}}
    return dict(manifest)


def _method(manifest: Mapping[str, Any]) -> str:
    """Return how a local causal model was asked whose configuration does not say it; "" for all others."""
    model = _part(manifest, "configuration", "model")
    if model.get("kind") != "causal_lm" or "method" in model:
        return ""
    settings, makes = _part(manifest, "config", "model"), _part(manifest, "words").get("makes") or ["choice"]
    kinds = [kind for kind in makes if kind in ("choice", "chat")]
    ranked = settings.get("method", "rank") == "rank" and kinds[:1] == ["choice"]
    return "rank" if ranked else "generate"


def _role(manifest: Mapping[str, Any]) -> Role:
    return "model" if _part(manifest, "config").get("algorithm") is None else "algorithm"


def _part(manifest: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """Return a part of a manifest, empty where it is not there or no mapping: the file may be damaged."""
    for name in names:
        part = manifest.get(name)
        manifest = part if isinstance(part, Mapping) else {}
    return manifest


def _renamed(section: Any) -> Any:
    """Return a part's settings with today's name of its class, and without those that a model of ours has no more."""
    target = section.get("_target_") if isinstance(section, Mapping) else None
    if not isinstance(target, str):
        return section
    gone = GONE if target.startswith("harness.models.") else frozenset[str]()
    kept = {name: value for name, value in section.items() if name not in gone and (value or name not in UNSET)}
    return kept | {"_target_": MOVED.get(target, target)}
