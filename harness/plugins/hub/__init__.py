"""Out to others and back: tasks as data sets of the Hugging Face Hub, and answers that others have recorded as runs."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Exporter, Plugin

PLUGIN = Plugin(
    name="hub",
    home=Path(__file__).parent,
    commands={
        "import": Command(
            summary="answers that others have recorded, as runs: CSV, JSON lines, Inspect, lm-eval, verifiers",
            module="harness.plugins.hub.command",
        )
    },
    exporters={
        "hub": Exporter(
            summary="items of all benchmarks as a data set for the Hugging Face Hub",
            write="harness.plugins.hub.dataset:write",
            of_items=True,
        ),
        "eval_results": Exporter(
            summary="a model repository's .eval_results/*.yaml, of runs that hold",
            write="harness.plugins.hub.eval_results:write",
            needs="dataset",
        ),
    },
)
