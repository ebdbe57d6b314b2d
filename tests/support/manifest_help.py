"""Manifests for results that tests write by hand: as the run that left such a result would have written them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.codec import digest
from harness.prompting.version import reading_version
from harness.storage.result_json import counts
from harness.types import Result, Role


def write_manifest(
    folder: Path,
    run: Mapping[str, str],
    result: Result,
    *,
    complete: bool = True,
    items: str | None = None,
    configuration: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
    role: Role = "model",
) -> None:
    """Write manifest.json beside the result.json of `folder`; `items` is the SHA-256 of the items."""
    item_digest = {"count": result.overall.items, **({"sha256": items} if items else {})}
    manifest = {
        "run": run,
        "role": role,
        "configuration": configuration or {},
        "configuration_digest": digest(configuration or {}),
        "items": item_digest,
        "counts": counts(result),
        "complete": complete,
        "reading": reading_version(),
        **({"config": config} if config else {}),
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
