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


@pytest.mark.parametrize(("hidden", "prompt"), few([(1, "cot"), (0, "plain"), (2, "cot"), (2, "plain")], 1))
def test_the_reasoner_answers_all_of_it(hidden, prompt):
    task = latent(hidden=hidden)
    words = prompts.load(task.name, prompt, task.examples())
    records = list(ask(task.items(), words, LatentReasoner(), ChatRequest))
    assert len(records) == len(task.items())
    assert all(record.answer.label == record.labels["audited"] for record in records)
    result = task.summarize(iter(records))
    assert result.overall["f1"] == 1 and set(result.scores["audited"]) >= {"relation", "num_nodes", "hidden_needed"}


def test_the_seed_names_the_variables_and_nothing_else():
    first, second = ({item.id: item for item in latent(seed=seed, draw="all").items()} for seed in (0, 1))
    assert first.keys() == second.keys()
    assert {name: item.labels for name, item in first.items()} == {name: item.labels for name, item in second.items()}
    changed = sum(first[name].fields["input"] != second[name].fields["input"] for name in first)
    assert changed > 700 and len(first) > 1000


def test_a_premise_in_words():
    item = next(item for item in latent(num_nodes=4, draw="all").items() if item.cluster == "h2-n4-c0")
    assert item.fields["premise"].startswith(
        "Suppose there is a system of 4 observed variables, A, B, C and D, and at most 2 hidden variables, of which no "
        "statistics are known. A cause is called direct if no other observed variable lies between it and its effect. "
        "All the statistical relations among these 4 variables are as follows: A is independent of B. "
    )
    assert "at most 1 hidden variable, of" in next(iter(latent(hidden=1, draw="all").items())).fields["premise"]


PREMISE = (
    "Premise: Suppose there is a system of {} observed variables, {}, and at most {} hidden variables, of which no "
    "statistics are known. All the statistical relations among these {} variables are as follows: {}\nHypothesis: {}"
)


def test_the_reasoner_reads_other_names_and_says_what_it_cannot_answer():
    y = "x correlates with z. y correlates with z. x correlates with w. y correlates with w. z correlates with w. "
    y += "However, x is independent of y. x and w are independent given z. x and w are independent given y and z. "
    y += "y and w are independent given z. y and w are independent given x and z."
    claims = (
        "z directly causes w.",
        "x directly causes z.",
        "There exists at least one collider (i.e., common effect)",
    )
    texts = [PREMISE.format(4, "x, y, z and w", 2, 4, y, claim) for claim in (*claims[:2], f"{claims[2]} of x and y.")]
    assert replies(*texts) == ["Yes", "No", "No"]
    none = PREMISE.format(
        3, "a, b and c", 2, 3, "a is independent of b. b is independent of c.", "a directly causes b."
    )
    assert replies(none)[0].startswith("Unreadable: the premise says nothing of a and c")
    six = " ".join(f"{a} correlates with {b}." for a, b in combinations("abcdef", 2))
    assert replies(PREMISE.format(5, "a, b, c, d and e", 2, 5, "a is independent of b. " + " ".join(
        f"{a} correlates with {b}." for a, b in combinations("abcde", 2) if a + b != "ab"
    ), "c directly causes a.")) == ["No"]  # fmt: skip
    many = PREMISE.format(6, "a, b, c, d, e and f", 2, 6, six, "a directly causes b.")
    assert replies(many)[0].startswith("Unreadable: 6 observed and 2 hidden variables are more")
    odd = PREMISE.format(2, "a and b", 1, 2, "a correlates with b.", "a is nice.")
    assert replies(odd)[0].startswith("Unreadable: no hypothesis")


def test_a_limit_keeps_relations_and_labels():
    items = list(latent(limit=100, draw="all", num_nodes=[2, 3, 4]).items())
    assert len(items) == 100 and sum(item.labels["audited"] for item in items) in (1, 2, 3)
    assert set(Counter(item.groups["relation"] for item in items).values()) <= {16, 17}
