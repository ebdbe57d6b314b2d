"""task=corr2cause/latent: its items, the reasoner's answers, and what it refuses."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from harness_papers.latent import LatentReasoner
from support.thinned import few

from harness.prompting import prompts
from harness.run import ask
from harness.settings import build
from harness.types import ChatRequest, Message

SECTION = {
    "_target_": "harness_papers.latent.Latent",
    "name": "corr2cause/latent",
    "prompts": ["plain", "pair"],
}


def latent(**settings):
    return build(SECTION | settings, "task")


def replies(*texts: str) -> list[str]:
    requests = [ChatRequest((Message("user", text),), max_tokens=9) for text in texts]
    return [response.text for outcomes in LatentReasoner().respond(requests) for _, response in outcomes]


def test_six_hypotheses_about_every_pair_of_every_class():
    items = list(latent(draw="all", num_nodes=[2, 3, 4]).items())
    assert len(items) == len({item.id for item in items}) == 6 * (2 * 1 + 5 * 3 + 24 * 6)
    assert Counter(item.groups["num_nodes"] for item in items) == {"2": 12, "3": 90, "4": 864}
    assert sum(item.labels["audited"] for item in items) == 18
    assert len({item.cluster for item in items}) == 31
    assert len(list(latent(hidden=1, draw="all", num_nodes=[2, 3, 4]).items())) == 6 * (2 + 15 + 22 * 6)
    follow = {h: sum(item.labels["audited"] for item in latent(hidden=h, num_nodes=4).items()) for h in (0, 1, 2)}
    assert follow == {0: 57, 1: 13, 2: 18}
    five = {h: latent(hidden=h, draw="all", num_nodes=5).items() for h in (0, 1, 2)}
    assert {h: len(items) for h, items in five.items()} == {0: 60 * 142, 1: 60 * 182, 2: 60 * 253}
    needed = Counter(item.groups["hidden_needed"] for item in items if item.labels["audited"])
    relations = Counter(item.groups["relation"] for item in items if item.labels["audited"])
    assert needed == {"0": 6, "1": 2, "2": 10} and relations["confounder"] == 10


@pytest.mark.parametrize("hidden", few([1, 0, 2], 1))
def test_by_default_as_many_follow_as_do_not(hidden):
    items = latent(hidden=hidden).items()
    counts = Counter((item.groups["num_nodes"], item.groups["relation"], item.labels["audited"]) for item in items)
    everything = latent(hidden=hidden, draw="all").items()
    assert sum(item.labels["audited"] for item in items) == sum(item.labels["audited"] for item in everything)
    assert all(counts[size, relation, 0] == counts[size, relation, 1] for size, relation, _ in counts)
    other = {item.id for item in latent(hidden=hidden, seed=1).items()}
    valid = {item.id for item in items if item.labels["audited"]}
    assert valid < other and len(other & {item.id for item in items}) < 0.8 * len(items)
    limited = list(latent(hidden=hidden, limit=100).items())
    assert len(limited) == 100 and max(Counter(item.groups["relation"] for item in limited).values()) <= 40


@pytest.mark.parametrize(("hidden", "prompt"), few([(1, "cot"), (0, "plain"), (2, "cot"), (2, "plain")], 1))
def test_the_reasoner_answers_all_of_it(hidden, prompt):
    task = latent(hidden=hidden)
    words = prompts.load(task.name, prompt, task.examples())
    records = list(ask(task.items(), words, LatentReasoner(), ChatRequest))
    assert len(records) == len(task.items())
    assert all(record.answer.label == record.labels["audited"] for record in records)
    result = task.summarize(iter(records))
    assert result.overall["f1"] == 1 and set(result.scores["audited"]) >= {"relation", "num_nodes", "hidden_needed"}


def test_a_premise_in_words():
    item = next(item for item in latent(num_nodes=4, draw="all").items() if item.cluster == "h2-n4-c0")
    assert item.fields["premise"].startswith(
        "Suppose there is a system of 4 observed variables, A, B, C and D, and at most 2 hidden variables, of which no "
        "statistics are known. A cause is called direct if no other observed variable lies between it and its effect. "
        "All the statistical relations among these 4 variables are as follows: A is independent of B. "
    )
    assert "at most 1 hidden variable, of" in next(iter(latent(hidden=1, draw="all").items())).fields["premise"]


def premise(names: str, hidden: int, *independent: str, apart: str = "") -> str:
    """Return a premise: all pairs correlate but those `apart`, and what is independent in words."""
    listed = f"{', '.join(names[:-1])} and {names[-1]}".replace(", and", " and")
    pairs = [f"{a} correlates with {b}." for a, b in combinations(names, 2) if a + b not in apart.split()]
    return (
        f"Premise: Suppose there is a system of {len(names)} observed variables, {listed}, and at most {hidden} hidden "
        "variables, of which no statistics are known. All the statistical relations among these "
        f"{len(names)} variables are as follows: {' '.join([*pairs, *independent])}\nHypothesis: "
    )


def test_the_reasoner_reads_other_names_and_says_what_it_cannot_answer():
    given = [f"{a} and w are independent given {c}." for a, b in ("xy", "yx") for c in ("z", f"{b} and z")]
    y = premise("xyzw", 2, "However, x is independent of y.", *given, apart="xy")
    collider = "There exists at least one collider (i.e., common effect) of x and y."
    assert replies(y + "z directly causes w.", y + "x directly causes z.", y + collider) == ["Yes", "No", "No"]
    five = premise("abcde", 2, "a is independent of b.", apart="ab") + "c directly causes a."
    assert replies(five) == ["No"]
    silent = premise("abc", 2, "a is independent of b.", "b is independent of c.", apart="ab ac bc")
    for text, said in (
        (silent + "a directly causes b.", "the premise says nothing of a and c"),
        (premise("abcdef", 2) + "a directly causes b.", "6 observed and 2 hidden variables are more"),
        (premise("ab", 1) + "a is nice.", "no hypothesis"),
    ):
        assert replies(text)[0].startswith(f"Unreadable: {said}")
