"""What a call may have cost although it gave no answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.models.replies import InvalidReplyError, usage_of
from harness.models.retry import code, status
from harness.types import Usage

_REFUSED = frozenset({401, 402, 403, 404, 429})
"""Statuses with which a server turns a call away before it has done any work."""


def usage_of_failed(error: BaseException) -> Usage | None:
    """Return what a server has counted for a call that failed.

    None where it has certainly done no work: it turned the call away, or was never reached. Without counts where
    nobody knows: a broken connection, no answer in time, an error of the server's own.
    """
    if isinstance(error, InvalidReplyError):
        return error.usage
    if status(error) in _REFUSED or "context_length" in code(error) or _unreached(error):
        return None
    return Usage()


def usage_of_any(reply: Any) -> Usage:
    """Return the usage that a reply tells, whatever else is wrong with it; without counts where there is none."""
    try:
        return usage_of(reply) if isinstance(reply, Mapping) else Usage()
    except (AttributeError, TypeError, ValueError):
        return Usage()


def _unreached(error: BaseException) -> bool:
    """Whether no connection was made, so that nothing can have been sent.

    Only aiohttp's own error tells: the SDK's transport calls it a timeout of connecting as well when a server hangs up
    in the middle of a call.
    """
    cause: BaseException | None = error
    while cause is not None and not any(kind.__name__ == "ClientConnectorError" for kind in type(cause).__mro__):
        cause = cause.__cause__
    return cause is not None
