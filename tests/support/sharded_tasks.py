"""Tasks whose runs are dealt to shards."""

from __future__ import annotations

ROWS = [f"Is {k} odd?,{'Yes' if k % 2 else 'No'},c{k // 3}" for k in range(23)]


TASKS = {
    "corr2cause": ("task.limit=24",),
    "conversations": (
        "task=causalbench/causality",
        "task.networks=[asia,cancer,earthquake,sachs]",
        "task.format=data",
        "task.limit=20",
    ),
    "samples": ("task=questions", "task.path=q.csv", "prompt=q.yaml", "samples=3", "model.temperature=1"),
}
