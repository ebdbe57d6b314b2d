"""Stories drawn by a small grammar: a true one passes the check, one that says something else does not."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from itertools import combinations

import pytest
from harness_papers.stories import builtin, check_story, claims
from harness_papers.story_text import read, read_claim

from harness.causal.relations import Relation
from harness.tasks.corr2cause.claim import Claim, ItemWriter
from harness.tasks.corr2cause.text import read_premise

NAMES = ("rainfall", "ticket sales", "the price of bread", "sleep", "Road traffic", "fame", "mood", "plant height")
NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}
OPENINGS = (
    "A town keeps records of {} variables: {}.",
    "Suppose there are {} factors, {}.",
    "Of every house {} things are noted: {}.",
)
CORRELATED = (
    "{a} is correlated with {b}.",
    "{a} correlates with {b}.",
    "{a} goes together with {b}.",
    "There is a link between {a} and {b}.",
    "Also, {a} and {b} are associated with each other.",
)
INDEPENDENT = ("{a} is independent of {b}", "{a} and {b} are independent of each other", "{a} is unrelated to {b}")
GIVEN = ("{claim} given {given}.", "Once {given} are known, {claim}.", "However, given {given}, {claim}.")
CLOSED = ("There are no other variables.", "Nothing else plays a part.", "There is nothing else in the system.")
CLAIMS = {
    Relation.PARENT: ("{i} directly affects {j}.", "{i} has a direct effect on {j}.", "{j} is directly caused by {i}."),
    Relation.ANCESTOR: (
        "{i} causes something else which causes {j}.",
        "{i} influences {j} through some mediator(s).",
        "{i} is a cause for {j}, but not a direct one.",
    ),
    Relation.COLLIDER: ("{i} and {j} have at least one common effect.", "{i} and {j} together cause something else."),
    Relation.CONFOUNDER: ("Something else causes both {i} and {j}.", "There is a common cause of {i} and {j}."),
}  # fmt: skip


@dataclass(frozen=True)
class Content:
    """What a story says, apart from its words: variables by number."""

    number: int
    correlated: frozenset[tuple[int, int]]
    independent: frozenset[tuple[int, int, tuple[int, ...]]]
    claim: tuple[Relation, int, int]
    """Parent and ancestor from cause to effect, the symmetric two in ascending order."""


def canonical(relation: Relation, i: int, j: int) -> tuple[Relation, int, int]:
    if relation in (Relation.CHILD, Relation.DESCENDANT):
        relation, i, j = (Relation.PARENT if relation is Relation.CHILD else Relation.ANCESTOR), j, i
    if relation in (Relation.COLLIDER, Relation.CONFOUNDER):
        i, j = min(i, j), max(i, j)
    return relation, i, j


def content_of(claim: Claim) -> Content:
    stated = read_premise(ItemWriter("none", 0).item(claim).fields["premise"]).independences
    marginal = {(i, j) for i, j, condition in stated if not condition}
    correlated = frozenset(combinations(range(claim.n), 2)) - marginal
    return Content(claim.n, correlated, stated, canonical(claim.relation, claim.i, claim.j))


def listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def written(content: Content, draw: random.Random) -> tuple[str, str]:
    names = draw.sample(NAMES, content.number)
    sentences = [draw.choice(OPENINGS).format(NUMBERS[content.number], listed(names))]
    statements = [draw.choice(CORRELATED).format(a=names[i], b=names[j]) for i, j in sorted(content.correlated)]
    for i, j, given in sorted(content.independent):
        words = draw.choice(INDEPENDENT).format(a=names[i], b=names[j])
        condition = listed([names[k] for k in given]) if given else ""
        statements.append(draw.choice(GIVEN).format(claim=words, given=condition) if given else f"{words}.")
    draw.shuffle(statements)
    relation, i, j = content.claim
    if relation in (Relation.COLLIDER, Relation.CONFOUNDER) and draw.random() < 0.5:
        i, j = j, i
    hypothesis = draw.choice(CLAIMS[relation]).format(i=names[i], j=names[j])
    return " ".join([*sentences, *statements, draw.choice(CLOSED)]), hypothesis


@pytest.mark.slow
def test_a_story_passes_the_check_of_its_claim_and_of_none_that_says_something_else():
    draw, refused = random.Random(0), 0
    of_size = {n: [claim for claim in claims().values() if claim.n == n] for n in (2, 3, 4, 5)}
    for _ in range(500):
        claim = draw.choice(draw.choice(list(of_size.values())))
        content, story = content_of(claim), written(content_of(claim), draw)
        assert check_story(claim, *story).problems == [], story
        premise = [other for other in of_size[claim.n] if other.number == claim.number]
        for other in (draw.choice(premise), draw.choice(of_size[claim.n])):  # another hypothesis, another premise
            refused += (differs := content_of(other) != content)
            assert check_story(other, *story).holds is not differs, (claim, other, story)
    assert refused > 350


def test_words_that_are_not_understood_are_not_passed():
    draw = random.Random(1)
    added = (
        "It was shown by an experiment that {a} is correlated with {b}.",
        "In an experiment, {a} was raised.",
        "{a} is not independent of {b}.",
        "Nothing else but {a} plays a part.",
        "The council was surprised.",
        "{a} might be correlated with {b}.",
    )
    negated = ("{i} never directly affects {j}.", "{i} does not directly cause {j}.", "No: {i} causes {j}.",
               "{i} may have a direct effect on {j}.", "{i} and {j} have no common effect.")  # fmt: skip
    for _ in range(200):
        claim = claims()[draw.choice([name for name in claims() if claims()[name].n <= 4])]
        premise, hypothesis = written(content_of(claim), draw)
        a, b = draw.sample(read(premise).names, 2)
        opening, _, body = premise.partition(". ")
        more = draw.choice(added).format(a=a, b=b)
        assert "read" in check_story(claim, f"{opening}. {more} {body}", hypothesis).problems, more
        turned = draw.choice(negated).format(i=a, j=b)
        assert "hypothesis" in check_story(claim, premise, turned).problems and read_claim(turned, (a, b)) is None


def test_before_the_list_nothing_is_said_of_the_variables():
    story = list(builtin())[3]
    premise = f"Rainfall is independent of soil moisture. {story['premise']}"
    assert "read" in check_story(claims()[story["item"]], premise, story["hypothesis"]).problems
    premise = story["premise"].replace("A gardener writes down", "By forcing one after the other a gardener measures")
    assert "read" in check_story(claims()[story["item"]], premise, story["hypothesis"]).problems


def test_a_shipped_story_says_that_there_is_nothing_else():
    for story in builtin():
        claim, (open_system, _, _) = claims()[story["item"]], story["premise"].rpartition(". ")
        assert read(story["premise"]).closed and story["labels"] == "audited"
        problems = check_story(claim, f"{open_system}.", story["hypothesis"]).problems
        assert problems == (["closed"] if claim.derived else []), "a No stays one where more variables may be there"


def test_a_long_text_is_read_in_time_that_grows_with_its_length():
    opening = "There are three things: rain, haze and snow. "
    for part in ("rain and ", "rain is correlated with haze and ", "given rain ", "also ", "a (", "two things ", "§0 ",
                 "rain (A) ", "is are ", "however ", "no other ", "the ", ". ", "rain, ", "  ", "\n"):  # fmt: skip
        for text in (opening + part * (24_000 // len(part)), part * (24_000 // len(part))):
            begin = time.process_time()
            read(text)
            read_claim(text, ("rain", "haze"))
            assert time.process_time() - begin < 1, part
