"""Where the items of a run come from: Every Eval Ever's source_data."""

from __future__ import annotations

import json
from typing import Any

from harness.storage.runs import Run
from harness.tasks.find import benchmark_of


def source_data(run: Run) -> dict[str, Any]:
    """Return the source of a run's items: a data set of the Hugging Face Hub, an address, or `other`."""
    task = run.place["task"]
    configuration = run.manifest.get("configuration") or {}
    items = run.manifest.get("items") or {}
    facts = {
        "settings": configuration.get("task"),
        "data": configuration.get("data") or None,
        "items": items.get("count"),
        "items_sha256": items.get("sha256"),
    }
    details = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in facts.items()
        if value is not None
    }
    data_set = {"dataset_name": task}
    settings = (run.manifest.get("config") or {}).get("task") or {}
    origin = benchmark_of(task).origin(settings)
    if origin.addresses:
        return {**data_set, "source_type": "url", "url": [*origin.addresses], "additional_details": details}
    if origin.data_set:
        details |= {"hf_revision": origin.revision} if origin.revision else {}
        return {
            **data_set,
            "source_type": "hf_dataset",
            "hf_repo": origin.data_set,
            "hf_split": origin.split,
            "additional_details": details,
        }
    return {**data_set, "source_type": "other", "additional_details": details}
