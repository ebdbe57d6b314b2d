"""CLadder: questions on all three rungs of causation, about small networks that are told as stories."""

from __future__ import annotations

from harness.tasks.benchmark import Benchmark, lazily

BENCHMARK = Benchmark(
    name="cladder",
    title="CLadder",
    source="Jin et al., CLadder: Assessing Causal Reasoning in Language Models, NeurIPS 2023",
    year=2023,
    defaults={"perturbation": "none"},
    setting_words={
        "perturbation": {"none": "as it is", "nonsense": "in invented words", "letters": "in letters"},
    },
    perturbations={"none": "original", "nonsense": "nonsense", "letters": "letters"},
    explanations="harness.tasks.cladder.explain:QuestionExplanations",
)

__getattr__ = lazily(__name__, CLadder="harness.tasks.cladder.task")
