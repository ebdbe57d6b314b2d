"""The stages of reading one by one: what is not the reply, its decoration, its options, the statement, its clauses."""

from __future__ import annotations

import pytest

from harness.prompting.reading.clauses import clauses
from harness.prompting.reading.context import Context
from harness.prompting.reading.normalise import normalised
from harness.prompting.reading.options import choices_marked, listed_words
from harness.prompting.reading.own_words import next_questions, own_words
from harness.prompting.reading.statement_forms import marked
from harness.prompting.reading.verdicts import verdicts

NEXT = ("Can we deduct the following",)


@pytest.mark.parametrize(
    ("reply", "own"),
    [
        ("<think>a</think>b", "b"),
        ("<thinking effort=high>a</thinking> b", "b"),
        ("<seed:think>a</seed:think>b", "b"),
        ("<|begin_of_thought|>a<|end_of_thought|><|begin_of_solution|>b<|end_of_solution|>", "b"),
        ("<|START_THINKING|>a<|END_THINKING|>b", "b"),
        ("[THINK]a[/THINK]b", "b"),
        ("◁think▷a◁/think▷b", "b"),
        ("a</think>b", "b"),
        ("<think>a", ""),
        ("x<think>a</think>y<think>b", "x y"),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b", "b"),
        ("<|channel|>analysis<|message|>a", ""),
        ("analysisWe think a.assistantfinalb", "b"),
        ("analysisWe think a", ""),
        ("b<|endoftext|>a", "b"),
        ("<|im_start|>assistant\nb<|im_end|>\n<|im_start|>user\na", "b"),
        ("b\n\nUser: a", "b"),
        ("b\n### Human\na", "b"),
    ],
)
def test_what_is_not_the_reply_is_taken_off(reply, own):
    text = own_words(reply)
    assert " ".join(text.replace("<|end_of_solution|>", "").replace("<|begin_of_solution|>", "").split()).removeprefix(
        "<|im_start|>assistant "
    ) == " ".join(own.split())


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Yes\n\nQuestion: a", [(5, 0), (5, 0)]),
        ("Question: is it? Yes", []),
        ("Yes\nCan we deduct the following: a", [(4, 0)]),
        ("I see.\nAnswer: No\nContext: a", [(18, 7)]),
        ("So, can we deduct the following: a? Yes", []),
    ],
)
def test_where_a_base_model_may_have_begun_the_next_question(text, places):
    assert list(next_questions(text, NEXT)) == places


@pytest.mark.parametrize(
    ("reply", "plain"),
    [
        ("**Yes**, `no` _maybe_", "yes , no maybe"),
        ("ＹＥＳ！", "yes!"),
        ("Yes。", "yes."),
        ("No\u200b\u00a0way", "no way"),
        ("<p>Yes</p>", "yes"),
        ("<answer>No</answer>", "answer: no"),
        ("$$\\boxed{\\text{No}}$$", "answer: no"),
        ("A \\rightarrow B -> C ⟶ D", "a → b → c → d"),
        ('{"a": "Yes", "b": ["no"], "c": true}', "a: yes\nb: no\nc: true"),
        ("| claim | verdict |\n|---|---|\n| it | No |", "claim : verdict\nit : no"),
        ("~~Yes~~ No", "no"),
        ("- [ ] Yes\n- [x] No", "-\n- no"),
        ("☑ Yes ☐ No", "yes"),
        ("=== Yes ===", "yes"),
        ("e.g. this, i.e. that", "eg this, ie that"),
        ("No. of edges", "of edges"),
        ("asia_tub's don't", "asia_tub's don't"),
        ("Yes\\n\\nBecause", "yes\nbecause"),
    ],
)
def test_decoration_is_taken_off(reply, plain):
    assert [" ".join(line.split()) for line in normalised(reply).split("\n")] == plain.split("\n")


def test_letters_and_words_of_choices_are_marked_where_they_may_answer():
    assert listed_words("the choices are (a) yes and (b) no. i pick (a).") == ("yes", "no")
    assert listed_words("option b: no") == ()
    marks = lambda text: choices_marked(text, ("It rained", "no", "A dog barked"))  # noqa: E731
    assert marks("answer: c") == "answer: C2" and marks("(b) no") == "C1" and marks("it rained.") == "C0."
    assert marks("a cat slept") == "a cat slept" and marks("b. it rained") == "C1 or C0"
    assert marks("a) it rained\nb) no\nc) a dog barked\n\nanswer: b").strip() == "answer: C1"


def test_an_article_is_no_letter_of_a_choice():
    assert choices_marked("z is a collider", ("Chain", "Fork", "Collider")) == "z is a C2"


def test_the_statement_is_marked_in_its_forms():
    statement = "A directly causes B"
    assert marked("thus a directly causes b.", statement) == "thus H1."
    assert marked("a is a direct cause of b", statement) == marked("a → b", statement) == "H1"
    assert marked("a does not directly cause b", statement) == "H0"
    assert marked("b directly causes a", statement) == "b directly causes a"
    assert marked("data directly causes b", statement) == "data directly causes b"


@pytest.mark.parametrize(
    ("sentence", "labels"),
    [
        ("the hypothesis is valid.", [1]),
        ("the hypothesis is not necessarily true.", [0]),
        ("it does not follow.", [0]),
        ("it can be deduced.", [1]),
        ("it cannot be deduced.", [0]),
        ("there is not enough information to conclude that H1.", [0]),
        ("we can conclude that a and c are correlated.", []),
        ("if it can be deduced, fine.", []),
        ("although we cannot infer it from the marginals, c is a collider.", []),
        ("it is not true that this cannot be deduced.", [1]),
        ("the hypothesis may hold.", []),
        ("the hypothesis holds in some of the dags.", []),
        ("the hypothesis is both valid and invalid.", []),
        ("we cannot deduce the reverse.", []),
        ("does the hypothesis hold?", []),
    ],
)
def test_what_a_sentence_says_of_the_statement(sentence, labels):
    assert [label for label, _, _ in clauses(Context(sentence, ""))] == labels


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the answer is yes.", [("announced", 1, False)]),
        ("the answer would be yes.", [("announced", 1, True)]),
        ("if so, the answer is yes.", []),
        ("the answer is yes if c is one.", []),
        ("is a linked to b? answer: yes.", [("announced", 1, False)]),
        ("some would say yes.", []),
        ("just answer yes or no.", []),
        ("no, it is open.", [("opening", 0, False)]),
        ("no variable is left.", []),
        ("deducible: no", [("announced", 0, False)]),
    ],
)
def test_what_asserts_and_what_only_supposes(text, found):
    assert [(verdict.kind, verdict.label, verdict.weak) for verdict in verdicts(text)[0]] == found
