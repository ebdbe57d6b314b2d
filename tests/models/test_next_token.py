"""Ranking by the first token that a chat model would write: one call, every spelling of each choice."""

from __future__ import annotations

import json
import math

import pytest
from support.openai_server import KEY, Server, chat_reply, error, ranked_reply
from support.outcomes import each

from harness.codec import response_from_json, response_json
from harness.cost.size import size
from harness.errors import ConfigError, RunStopped
from harness.models.api.openai import Chat, Completions
from harness.models.api.ranking import by_next_token, choices_begun
from harness.prompting.parsing import choice
from harness.types import ChatRequest, ChoiceRequest, Failure, Message, Response

REQUEST = ChoiceRequest((Message("user", "Is it so?"),), ("Yes", "No"))


def ranker(server: Server, api: type = Chat, **settings):
    return api(**{"name": "m", "model": "gpt-4o", "base_url": server.url, "method": "rank"} | settings)


def ranked(server: Server, api: type = Chat, **settings) -> Response | Failure:
    ((request, outcome),) = each(ranker(server, api, **settings).respond([REQUEST]))
    assert request == REQUEST
    return outcome


@pytest.mark.parametrize(
    ("tokens", "choices"),
    [
        (("Yes", " Yes", "yes", "YES", "Y", "Ye", "ĠYes", "▁yes", "\nYes", '"Yes', "**Yes", "Yes.", "yes,"), ("Yes",)),
        (("No", " no", "N", "nO", "No\n", "No.", "(No"), ("No",)),
        (("", " ", "Ġ", "**", "Not", "None", "Nope", "no-one", "Yesterday", "I", "The", "Based", "�"), ()),
    ],
)
def test_a_token_counts_for_the_choice_that_it_begins(tokens, choices):
    assert {token: choices_begun(token, ("Yes", "No")) for token in tokens} == dict.fromkeys(tokens, choices)


def test_a_token_that_may_begin_several_choices_counts_for_none():
    assert choices_begun("Pos", ("Positive", "Possible")) == ("Positive", "Possible")
    response = by_next_token([("Pos", math.log(0.9)), ("Posi", math.log(0.1))], ("Positive", "Possible"), Response(""))
    assert response.outside == 0.9 and response.bounded == ("Possible",)


def test_one_call_of_one_token_and_every_spelling_counts(serve, key):
    told = {"Yes": 0.5, " yes": 0.1, "Y": 0.05, "No": 0.2, "NO": 0.05, "It": 0.04, "Not": 0.03}
    server = serve(lambda *_: ranked_reply(told))
    response = ranked(server)
    (sent,) = server.calls
    assert (sent["max_tokens"], sent["logprobs"], sent["top_logprobs"]) == (1, True, 20)
    assert sent["messages"] == [{"role": "user", "content": "Is it so?"}] and "stop" not in sent
    assert {name: math.exp(p) for name, p in response.logprobs.items()} == pytest.approx({"Yes": 0.65, "No": 0.25})
    assert (response.outside, response.bounded, response.text) == (0.1, (), "Yes")
    assert response.finish_reason == "stop"  # it was not cut off: it was asked for one token
    assert choice(response, ("Yes", "No")).probability == pytest.approx(0.65 / 0.9)
    assert response_from_json(json.loads(json.dumps(response_json(response))), cached=False) == response


def test_the_token_that_was_drawn_counts_once_also_where_it_is_none_of_the_likeliest(serve, key):
    reply = ranked_reply({"Yes": 0.5, "It": 0.3})
    reply["choices"][0]["logprobs"]["content"][0] |= {"token": "No", "logprob": math.log(0.1), "bytes": None}
    response = ranked(serve(lambda *_: reply))
    assert {name: math.exp(p) for name, p in response.logprobs.items()} == pytest.approx({"Yes": 0.5, "No": 0.1})
    same = ranked(serve(lambda *_: ranked_reply({"Yes": 0.5, "No": 0.1}, written="No")))
    assert same.logprobs == pytest.approx(response.logprobs)


def test_a_choice_that_is_not_among_the_tokens_has_the_most_that_it_can_have(serve, key):
    response = ranked(serve(lambda *_: ranked_reply({"Yes": 0.9, "It": 0.06, "The": 0.02})))
    assert response.bounded == ("No",) and math.exp(response.logprobs["No"]) == pytest.approx(0.02)
    assert response.outside == pytest.approx(0.1)
    sure = by_next_token([("Yes", 0.0)], ("Yes", "No"), Response(""))
    assert sure.logprobs["Yes"] == 0 and -30 < sure.logprobs["No"] < -20 and choice(sure, ("Yes", "No")).label == 1


def test_where_neither_choice_is_among_the_tokens_there_is_no_answer(serve, key):
    response = ranked(serve(lambda *_: ranked_reply({"Based": 0.9, "The": 0.1})))
    assert (response.logprobs, response.outside, response.text) == ({}, 1.0, "Based")
    assert choice(response, ("Yes", "No")).label is None and choice(response, ("Yes", "No")).probability is None
    assert response_from_json(response_json(response), cached=False) == response


@pytest.mark.parametrize(
    ("refusal", "kind"),
    [
        (error(400, "odd"), "bad_request"),
        (error(400, "This model's maximum context length is 5 tokens, logprobs or not", "context_length_exceeded"),
         "context_length"),
    ],
)  # fmt: skip
def test_another_refusal_is_told_as_ever(serve, key, refusal, kind):
    assert ranked(serve(lambda *_: refusal)).kind == kind


@pytest.mark.parametrize("parts", [{"reasoning_content": "Let"}, {"reasoning": "Let"}, {"content": "<think>"}])
def test_a_model_that_thinks_first_is_told_before_more_is_paid(serve, key, parts):
    reply = ranked_reply({"<think>": 1.0})
    reply["choices"][0]["message"] |= parts
    with pytest.raises(RunStopped, match="thinks before it answers"):
        ranked(serve(lambda *_: reply))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"model": "o3-mini"}, r"use model\.method=generate .*model\.reasoning_effort=none"),
        ({"model": "openai/gpt-5-mini"}, r"use model\.method=generate .*model\.reasoning_effort=none"),
        ({"temperature": 0.7}, r"changed by model\.temperature=0\.7\. Leave it out\."),
    ],
)
def test_what_has_no_first_token_or_bends_it_is_refused_before_the_first_call(key, serve, settings, words):
    with pytest.raises(ConfigError, match=words):
        ranker(serve(), **settings)
    assert ranker(serve(), **settings | {"reasoning": False, "temperature": None})


def test_one_that_can_leave_thinking_out_is_asked_for_one_token(serve, key):
    server = serve(lambda *_: ranked_reply({"Yes": 0.7, "No": 0.3}))
    assert ranked(server, model="gpt-5.1", reasoning_effort="none", temperature=0).text == "Yes"
    (sent,) = server.calls
    assert (sent["max_completion_tokens"], sent["reasoning_effort"]) == (1, "none") and "max_tokens" not in sent


def test_the_way_is_part_of_the_identity_of_those_that_rank_alone(serve, key):
    server = serve()
    plain = ranker(server, method="generate")
    assert plain.identity == ranker(server, method="generate", top_logprobs=5, constrain=None).identity
    assert "rank" not in plain.identity and ranker(server).identity["rank"] == "next token"
    written, several = ranker(server, Completions, method="generate"), ranker(server, Completions)
    assert written.identity == ranker(server, Completions, method="generate", top_logprobs=9).identity
    ranking = {"rank": "next token", "top_logprobs": 5, "several_tokens": "echo"}
    assert several.identity == written.identity | ranking and not ranking.keys() & written.identity.keys()
    assert ranker(server).identity != ranker(server, top_logprobs=5).identity
    assert ranker(server).accepts == (ChoiceRequest, ChatRequest) and plain.accepts == (ChatRequest,)


def test_completions_rank_by_the_next_token(serve, key):
    told = {" Yes": math.log(0.3), " No": math.log(0.5), "\n": math.log(0.2)}
    choice = {"text": " No", "finish_reason": "length", "logprobs": {"top_logprobs": [told]}}
    server = serve(lambda *_: {"choices": [choice], "usage": {"prompt_tokens": 4, "completion_tokens": 1}})
    response = ranked(server, Completions)
    assert (response.text, response.outside) == ("No", 0.2) and math.exp(response.logprobs["Yes"]) == pytest.approx(0.3)
    (sent,) = server.calls
    assert (sent["max_tokens"], sent["logprobs"], sent["prompt"]) == (1, 5, "Is it so?") and "echo" not in sent


# The forms in which servers write log-probabilities: each becomes the same numbers, or a sentence.

TOLD = {" Yes": 0.5, "No": 0.3, "It": 0.1}
LOGS = {token: math.log(p) for token, p in TOLD.items()}
ENTRIES = [{"id": 7, "token": token, "logprob": p, "bytes": list(token.encode())} for token, p in LOGS.items()]
FIRST, *REST = ENTRIES
BYTE = {"token": "<0x59>", "logprob": math.log(0.5)}
LETTERS = FIRST | {"token": "ĠYes"}
SAME = [{"token": "Yes", "logprob": math.log(p), "bytes": None} for p in (0.3, 0.2)]
UNBYTED = [entry | {"bytes": None} for entry in ENTRIES]


def told(first: dict, top: object) -> dict:
    return {"content": [first | {"top_logprobs": top}]}


SHAPES = {
    "chat": told(FIRST, ENTRIES),
    "chat, without bytes": told({"token": " Yes", "logprob": LOGS[" Yes"]}, UNBYTED),
    "chat, a dictionary": told(FIRST, LOGS),
    "completions": {"tokens": [" Yes"], "token_logprobs": [LOGS[" Yes"]], "top_logprobs": [LOGS], "text_offset": [9]},
    "completions, only the likeliest": {"top_logprobs": [LOGS]},
    "completions, entries": {"tokens": [" Yes"], "top_logprobs": [ENTRIES]},
    "completions, the one drawn is not among them": {
        "tokens": ["No"], "token_logprobs": [LOGS["No"]], "top_logprobs": [{k: LOGS[k] for k in (" Yes", "It")}]},
    "a bare list of places": [FIRST | {"top_logprobs": ENTRIES}],
    "in the vocabulary's own letters": told(LETTERS, [LETTERS, *REST]),
    "the one drawn rounded otherwise": told(FIRST | {"logprob": LOGS[" Yes"] - 0.001}, ENTRIES),
    "the one drawn written in another way": {"tokens": ["Yes"], "token_logprobs": [-0.7], "top_logprobs": [LOGS]},
    "told twice": told(FIRST, [*ENTRIES, *ENTRIES]),
    "two tokens that read the same": told({"token": "Yes", "logprob": math.log(0.3)}, [*SAME, *REST]),
    "a byte": told(BYTE, [BYTE, *REST]),
    "minus infinity beside": told(FIRST, [*ENTRIES, {"token": "yes", "logprob": -math.inf}]),
}  # fmt: skip
NONE = [None, {}, [], {"content": []}, {"content": [None]}, {"top_logprobs": [None]}, {"top_logprobs": None}, "yes", 5]
NONE += [{"content": [{"token": "Yes", "logprob": -0.1}]}, {"content": [{**ENTRIES[0], "top_logprobs": []}]}]
INVALID = {
    "null": told(FIRST, [{"token": "Yes", "logprob": None}]),
    "NaN": {"top_logprobs": [{"Yes": math.nan, "No": -1.0}]},
    "a list for a token": told(FIRST, [{"token": ["Yes"], "logprob": [1]}]),
    "no object": told(FIRST, ["Yes", None]),
    "more than one": {"top_logprobs": [{"Yes": -0.1, "No": -0.1}]},
    "nothing at all": {"top_logprobs": [{"Yes": -math.inf, "No": -9999.0}]},
}


def reply_of(kind: type, logprobs, text="Yes"):
    if kind is Chat:
        return chat_reply(text, logprobs=logprobs)
    return {"model": "m", "choices": [{"text": text, "finish_reason": "length", "logprobs": logprobs}]}


@pytest.mark.parametrize("kind", [Chat, Completions])
def test_each_form_gives_the_same_numbers_or_a_sentence_at_both_endpoints(serve, key, kind):
    current = []
    server = serve(lambda *_: reply_of(kind, current[-1]))
    for name, logprobs in SHAPES.items():
        current.append(logprobs)
        outcome = ranked(server, kind, attempts=1)
        assert not isinstance(outcome, Failure), (name, outcome)
        found = {choice: math.exp(p) for choice, p in outcome.logprobs.items()}
        assert found == pytest.approx({"Yes": 0.5, "No": 0.3}, rel=1e-6), name
        assert outcome.outside == pytest.approx(0.2), name
    for name, logprobs in INVALID.items():
        current.append(logprobs)
        outcome = ranked(server, kind, attempts=1)
        assert isinstance(outcome, Failure) and outcome.kind == "invalid_reply", name
        assert "log-probabilities are" in outcome.detail, name
    for logprobs in NONE:
        current.append(logprobs)
        with pytest.raises(RunStopped, match=r"gives no log-probabilities .*model\.method=generate"):
            ranked(server, kind, attempts=1)


@pytest.mark.parametrize("kind", [Chat, Completions])
def test_thoughts_are_seen_in_the_first_token_also_where_the_text_hides_them(serve, key, kind):
    thought = {"token": "<think>", "logprob": -0.01}
    thinking = told(thought, [thought])
    for text in ("", "<think>"):
        with pytest.raises(RunStopped, match="thinks before it answers"):
            ranked(serve(lambda *_, text=text: reply_of(kind, thinking, text)), kind, attempts=1)


def test_such_a_call_is_one_of_one_token_in_plan_and_budget(serve, key):
    server = serve()
    one = size(REQUEST, ranker(server))
    assert (one.calls, one.output_least, one.output_most) == (1, 1, 1)
    assert size(REQUEST, ranker(server, Completions)) == one


@pytest.mark.slow
def test_a_run_has_the_scores_of_probabilities_and_says_what_lies_outside(harness, serve, tmp_path):
    def reply(path, body, number):
        yes = 0.05 + 0.5 * (number % 7) / 7
        return ranked_reply({"Yes": yes, "No": 0.6 - yes, "Based": 0.3} if number % 5 else {"Based": 1.0})

    server = serve(reply)
    arguments = ["model=gpt4o", f"model.base_url={server.url}", "model.method=rank", "task.limit=30"]
    plan = harness(*arguments, "dry_run=true", OPENAI_API_KEY=KEY)
    assert "30 calls" in plan.stdout and " 30 out." in plan.stdout and "[ranked] Yes | No" in plan.stdout, plan.stdout
    done = harness(*arguments, OPENAI_API_KEY=KEY)
    assert done.returncode == 0 and len(server.calls) == 30, done.stderr
    (folder,) = [file.parent for file in tmp_path.rglob("result.json")]
    result = json.loads((folder / "result.json").read_text())
    scores = result["scores"][result["headline"]]["overall"]["all"]
    assert all(0 < scores[name] < 1 for name in ("auroc", "average_precision", "brier"))
    assert scores["unreadable"] == 6 and result["usage"]["output"] == 30
    outside, without = result["notes"]
    assert outside.startswith("On average 52.0% of the first token's probability lies outside the choices, in 6 of 30")
    assert without.startswith("In 6 of 30 answers no choice was among the likeliest tokens")
    lines = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    assert {line["response"]["outside"] for line in lines} == {0.4, 1.0}
    assert {line["request"]["kind"] for line in lines} == {"choice"}
    verified = harness(module="harness.verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert harness(*arguments, "cache=frozen", OPENAI_API_KEY=KEY).returncode == 0 and len(server.calls) == 30
