"""Records written by hand."""

from __future__ import annotations

from harness.codec import asked
from harness.types import Asked, Record, parts_of


def made(item, cluster, groups, labels, request, outcome, answer, sample=0, judge=None, unit=""):
    """Return a record; of a request the digest is enough."""
    if request is not None:
        request = Asked(digest=request, kind="chat") if isinstance(request, str) else asked(request)
    about = {"item": item, "cluster": cluster, "unit": unit, "groups": groups, "labels": labels, "sample": sample}
    return Record(**about, request=request, **parts_of(outcome), answer=answer, judge=judge)


def recorded(item, outcome, answer=None, request="r"):
    """Return the record of an item that was answered so."""
    return made(item.id, item.cluster, item.groups, item.labels, request, outcome, answer, unit=item.unit)
