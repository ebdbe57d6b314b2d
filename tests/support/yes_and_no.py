"""A task of Yes and No with every kind of breakdown."""

from __future__ import annotations

from collections.abc import Iterable

from harness.scoring import summary
from harness.types import Record, Result


class YesAndNo:
    name = headline = "audited"
    remarks = ()

    def summarize(self, records: Iterable[Record]) -> Result:
        return summary.summarize(
            records,
            headline="audited",
            orders={"size": ("small", "large")},
            unreadable="wrong",
            crossed=[("size", "kind")],
            within=lambda record: record.groups["kind"],
            unit="kinds",
        )
