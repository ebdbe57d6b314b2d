"""What runs left, for papers and for other programs: figures, and files in the forms of other tools."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Exporter, Plugin

_HERE = "harness.plugins.figures"

PLUGIN = Plugin(
    name="figures",
    home=Path(__file__).parent,
    commands={"plot": Command(summary="figures for a paper: PDF, SVG, PNG", module=f"{_HERE}.plot")},
    exporters={
        "hf": Exporter(summary='a data set: datasets.load_from_disk("FOLDER")', write=f"{_HERE}.hf:write"),
        "inspect": Exporter(
            summary="a log for each run: inspect view --log-dir inspect_logs", write=f"{_HERE}.inspect_log:write"
        ),
        "eee": Exporter(
            summary="Every Eval Ever: data/…/UUID.json and UUID_samples.jsonl",
            write=f"{_HERE}.eee:write",
            takes_bare_runs=True,
        ),
        "lm_eval": Exporter(
            summary="results_….json and samples_….jsonl, as lm_eval leaves them",
            write=f"{_HERE}.lm_eval:write",
            takes_bare_runs=True,
        ),
        "mlflow": Exporter(
            summary="scores and settings as runs of MLflow",
            write=f"{_HERE}.trackers:write_mlflow",
            takes_bare_runs=True,
        ),
        "wandb": Exporter(
            summary="scores and settings as runs of W&B", write=f"{_HERE}.trackers:write_wandb", takes_bare_runs=True
        ),
    },
)
