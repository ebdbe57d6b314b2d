"""Answers in batches: requests go out as files, at half the price, and their answers come hours later."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import ConfigError
from harness.plugin import Plugin

if TYPE_CHECKING:
    from harness.cache.store import Store
    from harness.prepare import Prepared
    from harness.protocols import Model

_HERE = "harness.plugins.batches"

PLUGIN = Plugin(
    name="batches",
    home=Path(__file__).parent,
    jobs={"cache requests": f"{_HERE}.commands:REQUESTS", "cache batches": f"{_HERE}.commands:BATCHES"},
    importers=(f"{_HERE}.commands:take_in",),
    wrappers=(f"{_HERE}:wrap",),
)


def wrap(prepared: Prepared, model: Model, store: Store | None) -> Model | None:
    """Return the model as it is asked in batches; None where it is asked call by call (`harness.prepare.Wrapping`)."""
    if (service := model.traits.service) is None:
        return None
    from harness.plugins.batches.journal import under_way

    if service.batch_window is None:
        if store is not None and prepared.settings.cache.mode != "frozen" and (notice := under_way(store, model.name)):
            prepared.progress.say(notice)
        return None
    if store is None:
        raise ConfigError(
            "model.batch with cache=off: what is sent in batches is remembered in the cache's file, so that no end of "
            "this process loses it: use cache=on (or cache=refresh)."
        )
    from harness.cache.model import CachedModel
    from harness.plugins.batches.model import Batched, endpoint_of

    key = CachedModel(model, store).key
    return Batched(endpoint_of(model), store, key, task=prepared.task.name, say=prepared.progress.say)
