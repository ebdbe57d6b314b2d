"""Letters of choices and the statement are marked where they stand, before a verdict is looked for."""

from __future__ import annotations

from harness.prompting.reading.options import choices_marked, listed_words
from harness.prompting.reading.statement_forms import marked


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
