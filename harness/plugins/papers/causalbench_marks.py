"""Table VIII of Zhou et al. (CausalBench): which questions does a model understand at all, names only up to data?"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from importlib import resources

from harness.tasks.causalbench.networks import load
from harness.tasks.causalbench.preset_parts import LLMS
from harness.tasks.presets import MarkColumn, Marks

_CAUSALITY = "causalbench/causality"


def _printed() -> Mapping[str, Mapping[str, bool | None]]:
    """Return the marks by model; None where the paper's text has lost one."""
    text = (resources.files("harness") / "data" / "published" / "causalbench_marks.csv").read_text(encoding="utf-8")
    marks = {"yes": True, "no": False, "": None}
    return {
        line["model"]: {column.key: marks[line[column.key]] for column in COLUMNS}
        for line in csv.DictReader(text.splitlines())
    }


COLUMNS = (
    MarkColumn("Correlation", "correlation", "causalbench/correlation", {"format": "variable_name"}),
    MarkColumn("Causal skeleton", "skeleton", "causalbench/skeleton", {"format": "variable_name"}),
    *(
        MarkColumn(
            title, key, _CAUSALITY, {"format": key}, over="Causality", sizes="rows" if key.endswith("data") else ""
        )
        for title, key in (
            ("Var.", "variable_name"),
            ("Var. + B. K.", "background"),
            ("Var. + T. D.", "data"),
            ("Var. + B. K. + T. D.", "background_data"),
        )
    ),
)
MARKS = Marks(
    name="VIII",
    benchmark="causalbench",
    title="Fine-grained analysis: which questions models understand (B. K. background knowledge, T. D. training data)",
    columns=COLUMNS,
    printed=_printed,
    easiest=("scale", "small"),
    nodes=lambda network: len(load(network).variables),
    prompts=LLMS,
    contradictions=(
        "OPT2D7B: a cross everywhere, but the text excepts the BERT models and OPT1D3B alone, and Tables XIII to XX "
        "print its scores",
        "GPT3.5-Turbo, with both: a cross, but Table VII prints its scores on three networks",
        "Section V-A: GPT3.5-Turbo up to 7 × 500 and GPT4-Turbo up to 78 × 500, but no network has 7 or 78 variables "
        "(Asia has 8, Win95PTS 76)",
        "LLAMA30B and OPT60B are LLAMA33B and OPT66B in every other table",
    ),
    command="python -m harness -m model=gpt4 task=causalbench/causality task.scale=small "
    "task.format=variable_name,background,data,background_data",
)
