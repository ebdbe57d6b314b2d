"""What runs left, for papers and for other programs: figures, and files in the forms of other tools."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Exporter, Plugin

_HERE = "harness.plugins.figures"

PLUGIN = Plugin(
    name="figures",
    home=Path(__file__).parent,
    commands={"plot": Command(summary="figures for a paper: PDF, SVG, PNG", module=f"{_HERE}.plot.__main__")},
    exporters={
        "hf": Exporter(summary='a data set: datasets.load_from_disk("FOLDER")', module=f"{_HERE}.hf"),
        "inspect": Exporter(
            summary="a log for each run: inspect view --log-dir inspect_logs", module=f"{_HERE}.inspect_log"
        ),
        "eee": Exporter(
            summary="Every Eval Ever: data/…/UUID.json and UUID_samples.jsonl",
            module=f"{_HERE}.eee",
            takes_bare_runs=True,
        ),
        "lm_eval": Exporter(
            summary="results_….json and samples_….jsonl, as lm_eval leaves them",
            module=f"{_HERE}.lm_eval",
            takes_bare_runs=True,
        ),
    },
)
