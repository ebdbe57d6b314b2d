"""The prompts of the benchmark as a task of inspect-ai: inspect eval inspect_api.py -T prompts=PROMPTS.jsonl"""

from inspect_ai import Task, task
from inspect_ai.dataset import Sample, json_dataset
from inspect_ai.scorer import exact
from inspect_ai.solver import generate


@task
def corr2cause(prompts: str, cache: bool = False) -> Task:
    dataset = json_dataset(prompts, lambda row: Sample(input=row["prompt"], target="No"))
    return Task(dataset=dataset, solver=generate(cache=cache), scorer=exact())
