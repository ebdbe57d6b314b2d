"""A reply in JSON: its answer, and not what its other members say."""

from __future__ import annotations

import re

from harness.prompting.reading.words import compiled

_BEGINS = r"""\{\s*(["'])[\w -]{1,60}\1\s*:|\A\s*(")\w[\w -]{0,60}"\s*:(?=\s*")"""
_TOKENS = r"""{0}(?:[^{0}\\]|\\.)*+{0}|{0}|[{{}}\[\],:]|[\w.+-]+"""
_ANSWER = r"""(?i)["'](?:[a-z]{2,12}[ _-]){0,2}(?:«answer»|value|text)(?:[ _-][a-z]{2,12})?["']"""
_NOTHING = frozenset(('""', "''", "null", "None"))


def of_json(text: str) -> str:
    """Return a reply with the answer alone of the JSON in it: without it, where it was cut off before its answer.

    The answer is a member of the outermost object, or of an object in the place of its answer: those of steps are not.
    JSON that names no answer stays.
    """
    begins = compiled(_BEGINS).search(text)
    if begins is None:
        return text
    quote = begins[1] or begins[2]
    of_answer = [True] if begins[2] else []  # of each object or list that is open
    last, value_is_next, empty, end = "", False, False, len(text)
    answers: list[str] = []
    for token in re.compile(_TOKENS.format(quote)).finditer(text, begins.start()):
        sign = token[0]
        if sign in "{[":
            of_answer.append(value_is_next or not of_answer)
            value_is_next = value_is_next and sign == "["
            continue
        if sign in "}]":
            del of_answer[-1:]
        elif value_is_next and sign != quote:
            empty = empty or sign in _NOTHING
            answers += [] if sign in _NOTHING else [f"{last}: {sign}"]
        if sign == quote or not of_answer:
            end = token.end()
            break
        value_is_next = sign == ":" and of_answer[-1] and compiled(_ANSWER).fullmatch(last) is not None
        last = sign if sign != ":" else last
    if answers:
        return "\n".join([text[: begins.start()], *answers, text[end:]])
    return text[: begins.start()] if of_answer or empty else text
