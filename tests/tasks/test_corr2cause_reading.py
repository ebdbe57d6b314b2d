from __future__ import annotations

import pytest
from support.corr2cause_help import PERTURBATIONS, corr2cause, meaning

from harness.causal.dag import from_integer
from harness.causal.relations import Relation
from harness.causal.separation import independences
from harness.tasks.corr2cause import text
from harness.tasks.corr2cause.enumerate import public_test
from harness.tasks.corr2cause.text import (
    Hypothesis,
    Premise,
    UnreadableText,
    follows,
    read_class,
    read_hypothesis,
    read_premise,
)

OPENING = "Suppose there is a closed system of 3 variables, A, B and C. All the statistical relations among these 3 "
OPENING += "variables are as follows:"
WRITTEN = [("v2", name) for name in PERTURBATIONS] + [("v1", "none"), ("v1", "permutation")]


@pytest.mark.parametrize(("version", "perturbation"), WRITTEN)
def test_every_test_item_reads_back_to_its_claim(version, perturbation):
    # Two texts are in one wording for two claims ("B directly causes A"); where the claim's own arguments come in
    # the list's order, they are read back as they were.
    for item in corr2cause(version=version, perturbation=perturbation).items():
        names = read_premise(item.fields["premise"]).names
        read = read_hypothesis(item.fields["hypothesis"], names)
        written = Hypothesis(Relation(item.fields["relation"]), item.fields["var_i"], item.fields["var_j"])
        assert meaning(read.relation, read.i, read.j) == meaning(written.relation, written.i, written.j)
        if names.index(written.i) < names.index(written.j):
            assert read == written


@pytest.mark.parametrize(("perturbation", "names"), [("none", "ABCDEF"), ("refactorization", "ZYXWVU")])
def test_a_premise_reads_back_to_its_independences(perturbation, names):
    items = corr2cause(perturbation=perturbation).items()
    for claim, item in zip(public_test("v2"), items, strict=True):
        expected = frozenset(independences(from_integer(claim.n, claim.number)))
        assert read_premise(item.fields["premise"]) == Premise(tuple(names[: claim.n]), expected)


@pytest.mark.parametrize(("version", "perturbation"), WRITTEN)
def test_what_follows_from_the_text_is_the_derived_label(version, perturbation):
    for item in corr2cause(version=version, perturbation=perturbation).items():
        premise = read_premise(item.fields["premise"])
        assert follows(premise, read_hypothesis(item.fields["hypothesis"], premise.names)) == item.labels["audited"]


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("paraphrased", [False, True])
def test_a_hypothesis_is_found_inside_a_prompt(relation, paraphrased):
    claim = text.hypothesis(relation, "B", "C", paraphrased=paraphrased).removesuffix(".")
    prompt = f"Question: {OPENING} A correlates with B.\nCan we deduct the following: {claim}? Just answer."
    assert read_hypothesis(prompt, ("A", "B", "C")) == Hypothesis(relation, "B", "C")


@pytest.mark.parametrize(
    ("words", "names", "relation", "i", "j"),
    [
        ("B directly causes A.", None, "child", "A", "B"),
        ("B directly causes A.", ("A", "B"), "child", "A", "B"),
        ("B directly causes A.", ("B", "A"), "parent", "B", "A"),
        ("Z directly causes Y.", ("Z", "Y"), "parent", "Z", "Y"),
        ("Z directly causes Y.", None, "child", "Y", "Z"),
        ("B influences A through some mediator(s).", None, "descendant", "A", "B"),
        ("B influences A through some mediator(s).", ("B", "A"), "ancestor", "B", "A"),
        ("B causes something else which causes A.", None, "ancestor", "B", "A"),
        ("A is a cause for B, but not a direct one.", None, "descendant", "B", "A"),
        ("B and A together cause some other variable(s).", None, "collider", "B", "A"),
    ],
)
def test_the_argument_that_the_list_has_first_comes_first(words, names, relation, i, j):
    assert read_hypothesis(words, names) == Hypothesis(Relation(relation), i, j)


def test_one_endless_word_is_read_in_no_time():
    with pytest.raises(
        UnreadableText, match="no hypothesis in the words of"
    ):  # in hours, were a name tried at each sign
        read_hypothesis(f"A {'x' * 200_000} B")


def test_names_may_be_words():
    premise = read_premise(
        "Suppose there is a closed system of 3 variables, smoking, tar_2 and lung-cancer. All the statistical "
        "relations among these 3 variables are as follows: smoking correlates with tar_2. smoking correlates with "
        "lung-cancer. tar_2 correlates with lung-cancer. However, smoking and lung-cancer are independent given tar_2."
    )
    assert premise == Premise(("smoking", "tar_2", "lung-cancer"), frozenset({(0, 2, (1,))}))
    claim = read_hypothesis("smoking directly causes lung-cancer.", premise.names)
    assert claim == Hypothesis(Relation.PARENT, "smoking", "lung-cancer")
    assert not follows(premise, claim)


@pytest.mark.parametrize(
    ("words", "departure"),
    [
        ("", "no .closed system"),
        ("A correlates with B.", "no .closed system"),
        (OPENING.replace("of 3", "of 4"), "4 variables are announced, 'A, B and C' are listed"),
        (OPENING.replace("C.", "A."), "3 variables are announced, 'A, B and A' are listed"),
        (f"{OPENING} A causes B.", "sentence 'A causes B'"),
        (f"{OPENING} A correlates with B. Perhaps C, too.", "sentence 'Perhaps C, too'"),
        (f"{OPENING} A and B are independent given C? No.", "sentence|not among"),
        (f"{OPENING} A correlates with D.", "'D' is not among the premise's variables"),
        (f"{OPENING} A and B are independent given C and E.", "'E' is not among the premise's variables"),
        (f"{OPENING} A correlates with B. However, A is independent of B.", "that it correlates and that it is indep"),
        (f"{OPENING} B is independent of A. A correlates with B.", "that it correlates and that it is indep"),
    ],
)
def test_a_premise_in_other_words_is_unreadable(words, departure):
    with pytest.raises(UnreadableText, match=departure):
        read_premise(words)


@pytest.mark.parametrize(
    ("words", "names", "departure"),
    [
        ("", None, "no hypothesis"),
        ("A and B are friends.", None, "no hypothesis in the words of Tables 2 and 9 in 'A and B are friends.'"),
        ("A indirectly causes.", None, "no hypothesis"),
        ("A directly causes D.", ("A", "B", "C"), "'D' is not among the premise's variables A, B, C"),
        ("word " * 50, None, "…"),
    ],
)
def test_a_hypothesis_in_other_words_is_unreadable(words, names, departure):
    with pytest.raises(UnreadableText, match=departure):
        read_hypothesis(words, names)


@pytest.mark.parametrize(
    "statements",
    [
        {(0, 1, ()), (0, 2, ()), (1, 2, ()), (0, 1, (2,))},
        {(0, 1, (2,)), (0, 2, (1,))},
    ],
)
def test_independences_that_no_graph_has_are_refused(statements):
    premise = Premise(("A", "B", "C"), frozenset(statements))
    with pytest.raises(UnreadableText, match="no directed acyclic graph has exactly"):
        read_class(premise)


def test_a_premise_that_says_nothing_of_a_pair_is_unreadable():
    premise = read_premise(f"{OPENING} A correlates with B. However, A and C are independent given B.")
    with pytest.raises(UnreadableText, match="the premise says nothing of B and C"):
        follows(premise, Hypothesis(Relation.PARENT, "A", "B"))
