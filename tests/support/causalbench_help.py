"""CausalBench's questions, answers to them, and what they come to."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path

import networkx as nx
import numpy as np

from harness.prompting import parsing, prompts
from harness.settings import build
from harness.tasks.causalbench import networks
from harness.tasks.causalbench.networks import edges
from harness.types import Failure, Item, Record, Response
from support.made_records import recorded
from support.openai_server import chat_reply

MISSED = Failure("timeout", "late")
COUNTED = ("f1", "precision", "recall", "accuracy")
PAPERS = ("macro_f1", "cell_accuracy", "cell_shd", "parent_set_errors", "cell_density", "degree")
DISTANCES = ("shd", "sid", "density", "average_in_degree", "average_out_degree", "acyclic")
SIZES = {
    "asia": 8, "cancer": 5, "earthquake": 5, "survey": 6, "sachs": 11, "child": 20, "insurance": 27, "water": 32,
    "mildew": 35, "alarm": 37, "barley": 48, "hailfinder": 56, "hepar2": 70, "win95pts": 76, "pathfinder": 109,
}  # fmt: skip
"""Variables of each network."""


def causalbench(task: str, /, **settings):
    name = "cot" if task == "Chains" else task.lower()
    section = {
        "_target_": f"harness.tasks.causalbench.{task}",
        "name": f"causalbench/{name}",
        "prompts": ["closed", "pair"],
    }
    return build(section | settings, "task")


def items(task: str, /, **settings) -> list[Item]:
    return list(causalbench(task, **settings).items())


ALL_SIX = [
    ("Correlation", {}),
    ("Correlation", {"kind": "direct"}),
    ("Causality", {}),
    ("Causality", {"method": 2}),
    ("Skeleton", {}),
    ("Skeleton", {"convention": "paper"}),
]
"""Every kind of question about networks."""


def record(item: Item, reply) -> Record:
    """Return the record of an item; `reply` is a text, a Failure or a Response."""
    if isinstance(reply, Failure):
        return recorded(item, reply)
    reply = Response(reply) if isinstance(reply, str) else reply
    if reply.logprobs is None:
        answer = parsing.verdict(reply, statement=str(item.fields.get("statement", "")))
    elif "entailment" in reply.logprobs:
        answer = parsing.entailment(reply)
    else:
        answer = parsing.choice(reply, ("Yes", "No"))
    return recorded(item, reply, answer)


def right(item: Item) -> str:
    return "Yes" if item.labels["exact"] else "No"


def records(task, says=right) -> list[Record]:
    return [record(item, says(item)) for item in task.items()]


def some(seed: int = 0, other: tuple = ()):
    """Return random answers, a tenth of them each of the `other` ones."""
    draw = random.Random(seed)

    def says(item: Item):
        place = draw.randrange(10)
        return other[place] if place < len(other) else draw.choice(["Yes", "No"])

    return says


def except_for(special: dict, otherwise=right):
    return lambda item: special.get(item.id) or otherwise(item)


def values(row) -> dict:
    return {metric.name: metric.value for metric in row.metrics}


def matrices(name: str):
    """Return (the names, the true graph, its closure), computed by networkx."""
    names = networks.load(name).variables
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from(edges(networks.load(name)))
    closure = nx.transitive_closure_dag(graph)
    true, closed = (nx.to_numpy_array(g, nodelist=names, dtype=int) for g in (graph, closure))
    return names, true, closed


def answers_of(found: list[Record], name: str, template: str, breakdown: str = "template") -> np.ndarray:
    """Return an n×n matrix: 1 where the answer was Yes."""
    names = networks.load(name).variables
    matrix = np.zeros((len(names), len(names)), dtype=int)
    for one in found:
        if one.groups["network"] == name and one.groups[breakdown] == template and one.answer:
            a, b = one.unit.split(" -> ")
            matrix[names.index(a), names.index(b)] = one.answer.label == 1
    return matrix


def pairs_that_differ(first: np.ndarray, second: np.ndarray) -> int:
    n = len(first)
    return sum(
        (first[a, b], first[b, a]) != (second[a, b], second[b, a]) for a in range(n) for b in range(a + 1, n)
    )  # fmt: skip


def table_of(text: str) -> tuple[list[str], dict[tuple[str, str], str]]:
    header, *rows = csv.reader(io.StringIO(text))
    return header[1:], {(row[0], b): cell for row in rows for b, cell in zip(header[1:], row[1:], strict=True)}


FIVE = [one for one in ALL_SIX if one != ("Correlation", {"kind": "direct"})]
HOLES = {"asia/cause/asia/tub": "Hard to say.", "asia/cause/smoke/lung": MISSED}
SENTENCE = (
    "You are a highly intelligent question-answering bot with profound knowledge of causal inference and causal "
    "discovery."
)
RECEIVED = "The part has been received and appended to the matrix."


def last(call: dict) -> str:
    return call["messages"][-1]["content"]


def is_part(call: dict) -> bool:
    return "part" in last(call) and "of the matrix:\n" in last(call)


def answers(path, body, number):
    """Reply to a part in words of its own, and Yes to a question."""
    return chat_reply(f"Noted: {last(body).count(chr(10)) - 1} rows." if is_part(body) else "Yes")


def load(task, name: str, **settings) -> prompts.Prompt:
    return prompts.load(task.name, name, task.examples(), format=task.prompt_format, **settings)


def result_in(place: Path) -> dict:
    return json.loads((place / "result.json").read_text())
