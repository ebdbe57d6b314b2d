"""A run's model in batches, where it is set to be (`harness.prepare.Wrapping`): all that every run imports."""

from __future__ import annotations

from harness.cache import CachedModel, Store
from harness.errors import ConfigError
from harness.plugins.batches.tables import under_way
from harness.prepare import Prepared
from harness.protocols import Model


def wrap(prepared: Prepared, model: Model, store: Store | None) -> Model | None:
    """Return the model as it is asked in batches; None where it is asked call by call."""
    if (service := model.traits.service) is None:
        return None
    if service.batch_window is None:
        if store is not None and prepared.settings.cache.mode != "frozen" and (said := under_way(store, model.name)):
            prepared.progress.say(said)
        return None
    if store is None:
        raise ConfigError(
            "model.batch with cache=off: what is sent in batches is remembered in the cache's file, so that no end of "
            "this process loses it: use cache=on (or cache=refresh)."
        )
    from harness.plugins.batches.endpoints import endpoint_of
    from harness.plugins.batches.model import Batched

    key = CachedModel(model, store).key
    return Batched(endpoint_of(model), store, key, task=prepared.task.name, say=prepared.progress.say)
