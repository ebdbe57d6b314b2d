"""Several processes, one for each GPU, that train one model together."""

from __future__ import annotations

import os


def leads() -> bool:
    """Return whether this is the one of several processes, by `accelerate launch`, that writes and prints."""
    return os.environ.get("RANK", "0") == "0"
