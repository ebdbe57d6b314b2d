"""Questions of the user's own, from a file: Yes or No, or one of several choices. No Python is needed."""

from __future__ import annotations

from harness.tasks.benchmark import Benchmark, lazily

BENCHMARK = Benchmark(name="questions", title="Questions")

__getattr__ = lazily(__name__, Questions="harness.tasks.questions.task")
