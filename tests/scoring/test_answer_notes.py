import pytest
from support.made_records import made

from harness.scoring.replies import AnswerNotes
from harness.types import IN_FORM, NOT_IN_FORM, Answer, Response


def notes_on(*rules):
    """Return the notes on replies that were read by these rules."""
    notes = AnswerNotes()
    for number, rule in enumerate(rules):
        answer = Answer(1, span="Yes", rule=rule)
        item = made(str(number), "c", {}, {"published": 1}, f"{number:064x}", Response("Yes"), answer)
        notes.add(item)
    return notes.notes()


@pytest.mark.parametrize(
    ("in_form", "not_in_form", "beginning", "reading"),
    [
        (19, 1, "1 of 20 replies was not in the form that the server was to hold it to ", "was read by its words"),
        (0, 1, "1 of 1 reply was not in the form that the server was to hold it to ", "was read by its words"),
        (0, 2, "2 of 2 replies were not in the form that the server was to hold them to ", "were read by their words"),
    ],
)
def test_replies_that_were_not_in_their_form_are_counted_in_a_sentence(in_form, not_in_form, beginning, reading):
    (note,) = notes_on(*[IN_FORM] * in_form, *[f"{NOT_IN_FORM}, first word"] * not_in_form)
    assert note.startswith(beginning) and reading in note


def test_replies_in_their_form_are_worth_no_note():
    assert notes_on(IN_FORM, IN_FORM) == ()
