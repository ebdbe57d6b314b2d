"""Everything that researchers have met on the wire between them and a model: each kind of fault by its name.

Four families: body, connection, status, protocol. A kind is a function that writes bytes, and
says what is allowed to come of it (`kind.ENDS`).
"""

from __future__ import annotations

from collections.abc import Mapping

from support.wire_faults import bodies, connections, replies, statuses
from support.wire_faults.kind import Kind

_ALL = [kind for module in (bodies, connections, statuses, replies) for kind in module.family.kinds]
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _ALL}
assert len(KINDS) == len(_ALL), "two kinds of one name"
assert not any("," in name for name in KINDS), "lists of names have commas between them"
FAMILIES = tuple(dict.fromkeys(kind.family for kind in _ALL))


def chosen(names: str) -> list[Kind]:
    """Return the kinds that a comma-separated list names: `all`, families, kinds, or beginnings of kinds' names.

    Raises SystemExit for what names none.
    """
    kinds: dict[str, Kind] = {}
    for name in names.split(","):
        some = [kind for kind in _ALL if name in ("all", kind.family, kind.name)]
        some = some or [kind for kind in _ALL if kind.name.startswith(name)]
        if not some:
            raise SystemExit(f"there is no kind or family {name!r}: families are {', '.join(FAMILIES)}.")
        kinds |= {kind.name: kind for kind in some}
    return list(kinds.values())
