"""What of a call a server refuses: a parameter, a form of the reply, log-probabilities; and the setting that helps.

Which words refuse a parameter, and which setting changes it, is data: harness/data/server_errors.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import get_args

from harness.models.api.faults import RefusedError, in_words, kind, message_of, pattern, status, table
from harness.types import JSON, ChatRequest, ChoiceRequest, Means, Request

_QUESTION = frozenset(("model", "messages", "prompt"))
"""What a call is about: no setting leaves it out."""
_LENGTHS = ("max_tokens", "max_completion_tokens")
_UNSUPPORTED = frozenset((400, 403, 404, 422, 500, 501))
"""Statuses with which servers turn away what they cannot do; older ones of llama.cpp say 500."""
_OF_FORM = re.compile(
    r"response_?format|json|schema|structured|guided|grammar|sampler|regex|\btools?\b|tool_choice|function"
    r"|requested parameters",
    re.IGNORECASE,
)
_OF_LOGPROBS = re.compile(r"log_?prob|requested parameters", re.IGNORECASE)


def refusal(
    error: BaseException, request: Request, where: str, model: str, known: tuple[Means, ...] | None = None
) -> str | None:
    """Return a sentence for a server that refuses to hold replies to a form, or to give log-probabilities.

    None where it refuses something else. `known`: the means that its dialect has.
    """
    message = message_of(error)
    if status(error) not in _UNSUPPORTED or kind(error):
        return None
    reply = in_words(error)
    if isinstance(request, ChoiceRequest) and _OF_LOGPROBS.search(message):
        return (
            f"{where} does not give the log-probabilities of {model} that are asked for ({reply}): set "
            "model.top_logprobs to what it allows, or use model.method=generate (with answer=choice where the server "
            "can hold replies to the choices)."
        )
    if isinstance(request, ChatRequest) and request.form is not None and _OF_FORM.search(message):
        others = ", ".join(means for means in known or get_args(Means) if means != request.form.means)
        return (
            f"{where} does not hold the replies of {model} to the choices by model.constrain={request.form.means} "
            f"({reply}): set model.constrain to what it knows ({others}), or leave answer=choice out."
        )
    return None


def refused_parameters(error: BaseException, sent: Mapping[str, JSON], extra: Iterable[str]) -> list[str]:
    """Return those of the parameters that were sent which a server names as refused; none where it names none.

    `extra` are the names that came from model.extra.
    """
    rows = table()["parameters"]
    if not isinstance(error, RefusedError) or error.status not in rows["status"] or error.kind is not None:
        return []
    words = error.words
    names = [name for name in dict.fromkeys((*sent, *extra)) if name not in _QUESTION]
    if not pattern(rows["words"]).search(words):
        return [name for name in names if name == error.parameter]
    return [name for name in names if name == error.parameter.rpartition(".")[2] or _named(name, words)]


def sentence(error: RefusedError, refused: list[str], where: str, model: str, extra: Iterable[str]) -> str:
    parts = [f"model.extra without {name}" if name in extra else _setting(name, error.words) for name in refused]
    settings = " and ".join(dict.fromkeys(parts))
    names = f"parameter{'s' * (len(refused) > 1)} {', '.join(refused)}"
    return f"{where} refuses the {names} for {model} ({in_words(error).rstrip('.')}): set {settings}."


def _setting(name: str, words: str) -> str:
    if name not in _LENGTHS:
        return str(table()["parameters"]["settings"].get(name, f"model.extra without {name}"))
    other = _LENGTHS[name == _LENGTHS[0]]
    if name == "max_completion_tokens":
        if re.search(r"too (?:large|high|big)|at most|less than", words, re.IGNORECASE):
            return "model.reasoning_tokens to less"
        return f"model.limit_parameter={other}"
    if other in words or not re.search(r"too (?:large|high|big)|at most|less than|greater than|at least", words):
        return f"model.limit_parameter={other} (and model.reasoning=true if the model thinks before it answers)"
    return "max_tokens in the prompt's file to what it allows"


def _named(name: str, words: str) -> bool:
    """Test whether words name a parameter: in quotes or as a field, and without them where the name is no English word.

    "Use 'max_completion_tokens' instead" names what is not refused.
    """
    found = rf"(?<![\w.]){re.escape(name)}(?!\w)"
    if not (matches := list(re.finditer(found, words))):
        return False
    if name in table()["parameters"]["plain"] or "_" in name:
        return any(not re.search(r"\buse\W+$", words[: match.start()], re.IGNORECASE) for match in matches)
    quotes = "'\"`[:\\"
    return any(
        (words[match.start() - 1 : match.start()] in quotes and match.start())
        or words[match.end() : match.end() + 1] in ("'", '"', "`", "]", ":", "\\")
        or re.search(r"(?:parameters?|arguments?|fields?|name|body\.)\W*$", words[: match.start()], re.IGNORECASE)
        for match in matches
    )
