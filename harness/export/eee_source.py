"""Where the items of a run come from: Every Eval Ever's source_data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.storage.runs import Run
from harness.tasks.corr2cause.sources import HUB_PATH, HUB_REVISION

NETWORKS = "https://www.bnlearn.com/bnrepository/"
"""The Bayesian Network Repository (harness/data/networks/README.md)."""


def source_data(run: Run) -> dict[str, Any]:
    """A data set of the Hugging Face Hub, an address, or `other`."""
    task = run.place["task"]
    configuration = run.manifest.get("configuration") or {}
    items = run.manifest.get("items") or {}
    said = {
        "settings": configuration.get("task"),
        "data": configuration.get("data") or None,
        "items": items.get("count"),
        "items_sha256": items.get("sha256"),
    }
    details = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in said.items()
        if value is not None
    }
    named = {"dataset_name": task}
    if task.startswith("causalbench/"):
        return {**named, "source_type": "url", "url": [NETWORKS], "additional_details": details}
    if (hub := _hub(run)) is not None:
        place, split, revision = hub
        details |= {"hf_revision": revision} if revision else {}
        return {
            **named,
            "source_type": "hf_dataset",
            "hf_repo": place,
            "hf_split": split,
            "additional_details": details,
        }
    return {**named, "source_type": "other", "additional_details": details}


def _hub(run: Run) -> tuple[str, str, str | None] | None:
    """Data set, split and revision: where it was read from there, or is that test split made here, item by item."""
    config = (run.manifest.get("config") or {}).get("task") or {}
    if run.place["task"] != "corr2cause" or not config:
        return None
    split, path = str(config.get("split")), config.get("path")
    if config.get("source") == "hub":
        place = str(path or HUB_PATH)
        if place.count("/") != 1 or place.startswith((".", "/", "~")) or Path(place).exists():
            return None
        return place, split, config.get("revision") or (HUB_REVISION if place == HUB_PATH else None)
    made_here = config.get("source") == "builtin" and split == "test" and config.get("version") == "v2"
    return (HUB_PATH, split, HUB_REVISION) if made_here and config.get("perturbation") == "none" else None
