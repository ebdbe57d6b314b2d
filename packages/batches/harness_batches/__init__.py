"""Answers in batches: requests go out as files, at half the price, and their answers come hours later."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import ConfigError
from harness.plugin import Command, Plugin

if TYPE_CHECKING:
    from harness.cache.store import Store
    from harness.prepare import Prepared
    from harness.protocols import Model

PLUGIN = Plugin(
    name="batches",
    home=Path(__file__).parent,
    commands={"batches": Command(summary="what is at servers in batches", module="harness_batches.command")},
    wrappers=("harness_batches:wrap",),
)


def wrap(prepared: Prepared, model: Model, store: Store | None) -> Model | None:
    """Return the model as it is asked in batches; None where it is asked call by call (`harness.prepare.Wrapping`)."""
    if (service := model.traits.service) is None:
        return None
    if service.batch_window is None:
        from harness_batches.journal import under_way

        if store is not None and prepared.settings.cache.mode != "frozen" and (notice := under_way(store, model.name)):
            prepared.progress.say(notice)
        return None
    from harness.cache.model import CachedModel
    from harness_batches.model import Batched, settings_of

    settings_of(model)
    if store is None:
        if prepared.settings.cache.mode == "off":
            raise ConfigError("model.batch with cache=off: what is sent is remembered in the cache: use cache=on.")
        return None  # it was to be checked
    key = CachedModel(model, store).key
    return Batched(model, store, key, task=prepared.task.name, say=prepared.progress.say)
