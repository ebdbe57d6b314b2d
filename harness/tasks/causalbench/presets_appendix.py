"""Tables XIII to XXI of Zhou et al. (CausalBench)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.tasks.causalbench.preset_parts import (
    ACCURACY,
    CORRELATION_TYPES,
    F1,
    NETWORK,
    NETWORKS,
    PAPERS,
    SIDES,
    source,
)
from harness.tasks.presets import Number, Preset

REPEATED = (
    "The paper's numbers of GPT models on Alarm, Water and Hailfinder are the same for both methods (and those of "
    "GPT3.5-Turbo on Survey)."
)
SKELETONS = (
    "By the paper's convention F1 is macro F1, and both metrics are over a network's questions (docs/conventions.md); "
    "a run of the exact one stands in a set of its own, with F1 of Yes."
)


def _by_network(name: str, title: str, number: Number, task: str, command: str, note: str, **requires: str) -> Preset:
    """Lay out Tables XIII to XX: a row for each model, a column for each network."""
    return Preset(
        name=name,
        task=task,
        title=f"{title}, by model and network",
        rows=("model",),
        axis=NETWORK,
        columns=tuple(replace(number, title=title, key=key, best="high") for key, title in NETWORKS.items()),
        models=number.title,
        sources=source(**requires),
        note=note,
        command=command,
    )


def _pairs() -> Iterator[Preset]:
    """Return a table of F1 and one of accuracy."""
    tables: tuple[tuple[str, str, str, str, str, dict[str, str]], ...] = (
        ("XIII", "XIV", "causal skeleton identification", "causalbench/skeleton", "task.convention=paper", {}),
        (
            "XV",
            "XVI",
            "causality identification, first method",
            "causalbench/causality",
            "task.method=1",
            {"method": "1", "format": "variable_name"},
        ),
        (
            "XVII",
            "XVIII",
            "causality identification, second method",
            "causalbench/causality",
            "task.method=2",
            {"method": "2", "format": "variable_name"},
        ),
        (
            "XIX",
            "XX",
            "causality identification with background knowledge",
            "causalbench/causality",
            "task.method=2 task.format=background",
            {"method": "1|2", "format": "background"},
        ),
    )
    for f1, accuracy, what, task, setting, requires in tables:
        note = {
            "XIII": "Only runs with task.convention=paper are asked the paper's questions; others have questions, and "
            f"labels, of their own. {SKELETONS}",
            "XV": f"{REPEATED} {PAPERS}",
            "XVII": f"{REPEATED} {PAPERS}",
            "XIX": "The paper's text says that F1 is of the first method and accuracy of the second; its F1 scores of "
            "GPT models are those of Table VII (but GPT4's on Water, 0.4648 there), its accuracies on small networks "
            "mostly those of five questions a pair, as the first method has. Both methods are shown, apart. "
            f"{PAPERS}",
        }[f1]
        command = f"python -m harness -m model=gpt4 task={task} {setting}"
        yield _by_network(f1, f"F1 score of {what}", F1, task, command, note, **requires)
        yield _by_network(accuracy, f"Accuracy of {what}", ACCURACY, task, command, note, **requires)


PRESETS = (
    *_pairs(),
    Preset(
        name="XXI",
        task="causalbench/correlation",
        title="Sentence paraphrase, correlation identification",
        rows=("axis", "model"),
        models="LLMs",
        axis=replace(CORRELATION_TYPES, title="Correlation identification task"),
        columns=(replace(F1, title="F1"), ACCURACY),
        sources=source(kind="all", format="variable_name"),
        shown=dict(SIDES),
        note="The paper's accuracies of closed-source LLMs are, digit for digit, five of those in its Table IV, which "
        f"is about causality. {PAPERS}",
        command="python -m harness -m model=gpt4 task=causalbench/correlation",
    ),
)
