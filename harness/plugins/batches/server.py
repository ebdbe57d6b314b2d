"""The server of an endpoint, asked for batches."""

from __future__ import annotations

from harness.models.api.server import Server


class BatchServer(Server):
    """What its failures are called where batches are at stake."""

    subject = "files or batches"
    lost = "; `python -m harness.cache batches forget DIGEST` gives up what the server has lost"
