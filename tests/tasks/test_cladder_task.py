"""task=cladder: fresh items without end, the authors' own, label sets, perturbations; and its reasoner."""

from __future__ import annotations

import pytest
from support.cladder_help import task
from support.thinned import few

from harness.config_files import PROMPTS
from harness.errors import ConfigError
from harness.prompting.prompts import load
from harness.tasks.cladder.reasoner import LadderReasoner
from harness.types import ChatRequest, Message


def answers(items):
    """What the reasoner says of each item."""
    requests = [ChatRequest((Message("user", f"{item.fields['text']}\n\nJust answer."),), 4) for item in items]
    return [outcome.text for outcomes in LadderReasoner().respond(requests) for _, outcome in outcomes]


@pytest.mark.parametrize("perturbation", few(["none", "nonsense", "letters"], 1))
def test_the_reasoner_reads_every_fresh_question_and_is_right(perturbation):
    items = list(task(limit=700, perturbation=perturbation).items())
    assert answers(items) == ["Yes" if item.labels["stated"] else "No" for item in items]
    assert all(item.labels["stated"] == item.labels["exact"] for item in items)


@pytest.mark.parametrize("name", sorted(file.stem for file in (PROMPTS / "cladder").glob("*.yaml")))
def test_the_reasoner_finds_the_question_in_every_prompt_that_ships(name):
    chosen = task(limit=40)
    prompt = load("cladder", name, chosen.examples())
    for item in chosen.items():
        request = prompt.render(item.fields, (), ChatRequest)
        ((_, response),) = next(iter(LadderReasoner().respond([request])))
        assert prompt.parse(response, item.fields).label == item.labels["stated"]


@pytest.mark.slow
def test_of_the_authors_own_questions_it_reads_all_that_do_not_say_two_things():
    items = list(task(split="sample", limit=900).items())
    for said, item in zip(answers(items), items, strict=True):
        expected = {1: "Yes", 0: "No", None: None}[item.labels.get("stated")]
        assert said == expected or (expected is None and said not in ("Yes", "No")), item.id


def test_fresh_items_are_the_same_at_every_call_and_a_smaller_limit_takes_some_of_them():
    first, again = (list(task(limit=300, seed=3).items()) for _ in range(2))
    assert first == again and len(first) == len(task(limit=300, seed=3).items()) == 300
    smaller = {item.id for item in task(limit=100, seed=3).items()}
    assert smaller < {item.id for item in first}
    other = list(task(limit=300, seed=4).items())
    assert not {item.fields["text"] for item in other} >= {item.fields["text"] for item in first}


def test_perturbed_questions_are_the_same_questions():
    plain, other = (list(task(split="sample", limit=200, perturbation=name).items()) for name in ("none", "letters"))
    for one, two in zip(plain, other, strict=True):
        assert (one.id, one.labels, one.groups, one.cluster) == (two.id, two.labels, two.groups, two.cluster)
        assert one.fields["text"] != two.fields["text"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"labels": "published"}, "nobody has published answers"),
        ({"variants": ["commonsense", "hard"]}, "twice"),
        ({"variants": ["x"]}, "commonsense"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, said):
    with pytest.raises(ConfigError, match=said):
        list(task(**settings).items())
