"""answer=choice: the server holds the reply to one of the prompt's choices, and the field is read, never words."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from support.made_records import made
from support.openai_server import KEY, Server, chat_reply, held_reply
from support.outcomes import each

from harness.codec import request_digest, request_json
from harness.errors import ConfigError
from harness.models.api.openai import Chat
from harness.models.baselines import Baseline
from harness.prompting.fit import held_to_choices
from harness.prompting.parsing import choice_in
from harness.prompting.prompts import constrained, load
from harness.scoring.graphs import NO, UNREADABLE, YES
from harness.tasks.causalbench.answer_matrix import readings
from harness.types import IN_FORM, NOT_IN_FORM, AnswerForm, ChatRequest, Failure, Means, Message, Response

FIELDS = {"premise": "A correlates with B.", "statement": "A causes B", "hypothesis": "A causes B."}
MEANS: tuple[Means, ...] = ("json_schema", "tool")


def chat(server: Server, **settings) -> Chat:
    return Chat(**{"name": "m", "model": "gpt-4o", "base_url": server.url} | settings)


def prompt_and_request(means: Means, words: str = "plain"):
    prompt = constrained(load("corr2cause", words, ()), means)
    return prompt, prompt.render(FIELDS, (), ChatRequest)


@pytest.mark.parametrize("words", ["plain", "cot"])
@pytest.mark.parametrize("means", MEANS)
def test_by_each_means_a_server_that_holds_replies_gives_one_of_the_choices(serve, key, means, words):
    prompt, request = prompt_and_request(means, words)
    for answer, label in (("Yes", 1), ("No", 0)):
        reasoning = 'Step 1: the answer: Yes? "answer": "No"? {"answer": "Maybe"}\nSo the answer is no, or yes.'
        server = serve(lambda path, body, number, a=answer, r=reasoning: held_reply(body, a, r))
        ((_, response),) = each(chat(server).respond([request]))
        assert isinstance(response, Response) and response.finish_reason == "stop", response
        read = prompt.parse(response, {})
        assert (read.label, read.rule) == (label, IN_FORM)
        assert read.span in response.text and answer in read.span
        (sent,) = server.calls
        assert ("reasoning" in response.text) == (words == "cot")
        assert "stop" not in sent and sent["max_tokens"] == request.max_tokens
        assert sent["messages"] == [
            {
                "role": "user",
                "content": load("corr2cause", words, ()).render(FIELDS, (), ChatRequest).messages[0].content,
            }
        ]


def test_what_is_sent_is_what_the_servers_document():
    form = AnswerForm(("Yes", "No"), "json_schema", reasoning=True)
    schema = {
        "type": "object",
        "properties": {"reasoning": {"type": "string"}, "answer": {"type": "string", "enum": ["Yes", "No"]}},
        "required": ["reasoning", "answer"],
        "additionalProperties": False,
    }
    held = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
    model = Chat(name="m", model="gpt-4o", base_url="http://localhost/v1")
    sent = model.call(ChatRequest((Message("user", "?"),), 16, form=form))[1]
    assert sent["response_format"] == held and list(schema["properties"]) == ["reasoning", "answer"]
    sent = model.call(ChatRequest((Message("user", "?"),), 16, form=replace(form, means="tool")))[1]
    assert sent["tool_choice"] == {"type": "function", "function": {"name": "answer"}}


@pytest.mark.parametrize(
    "text",
    [
        *(
            "The answer is Yes.",
            "Yes",
            '"Yes"',
            "[]",
            "",
            '{"answer": "yes"}',
            '{"answer": true}',
            '{"answer": "Maybe"}',
        ),
        *(
            '{"answer": "Yes"',
            '{"answer": "No", "answer": "Yes"}',
            '{"verdict": "Yes"}',
            '<think>no</think>{"answer": "Yes"}',
        ),
        "[" * 100_000,
    ],
)
def test_what_is_not_of_the_form_is_read_by_its_words_and_its_rule_says_so(text):
    prompt, _ = prompt_and_request("json_schema")
    read, plain = prompt.parse(Response(text), {}), load("corr2cause", "plain", ()).parse(Response(text), {})
    assert read.rule.startswith(NOT_IN_FORM) and (read.label, read.span) == (plain.label, plain.span)


def test_a_bare_choice_is_of_the_form_only_where_that_is_the_form():
    bare = AnswerForm(("Yes", "No"), "guided_choice")
    assert choice_in(" No\n", bare) == "No" and choice_in('{"answer": "No"}', bare) is None
    assert (
        choice_in("No", replace(bare, reasoning=True)) is None and choice_in("No", replace(bare, means="tool")) is None
    )


def test_words_in_the_reasoning_never_turn_the_field():
    prompt, _ = prompt_and_request("json_schema", "cot")
    text = json.dumps({"reasoning": 'The final answer is yes. {"answer": "Yes"} Answer: Yes', "answer": "No"})
    read = prompt.parse(Response(text), {})
    assert (read.label, read.span) == (0, "No")


def test_an_answer_in_its_field_counts_in_the_papers_own_reading_too():
    prompt, _ = prompt_and_request("json_schema")
    codes = []
    for text in ('{"answer": "Yes"}', '{"answer": "No"}', "Yes, it does."):
        response = Response(text)
        one = made(
            "i", "c", groups={}, labels={"l": 1}, request="d", outcome=response, answer=prompt.parse(response, {})
        )
        codes.append(readings(one))
    assert codes == [(YES, YES), (NO, NO), (YES, UNREADABLE)]


def test_the_form_is_part_of_the_request_only_where_it_is_used():
    # Keys of answers that users have paid for: these very digests were those before there was a form.
    plain = ChatRequest((Message("user", "Is it so?"),), 16)
    assert "form" not in request_json(plain, lambda text: {"text": text})
    assert request_digest(plain) == "2a3e2a4d68964cb783fa809546008f9d89308cd4b18b2cd41df2cde9410bdad1"
    forms = [AnswerForm(("Yes", "No"), means, reasoning) for means in MEANS for reasoning in (True, False)]
    digests = {request_digest(replace(plain, form=form)) for form in (None, *forms)}
    assert len(digests) == 1 + len(forms)


def test_prompts_that_let_the_model_reason_are_known_and_have_the_words_that_they_had():
    reasoning = {
        name
        for name in ("plain", "system", "few_shot", "cot", "enhanced", "cot_two_step")
        if load("corr2cause", name, ()).words.reasoning
    }
    assert reasoning == {"cot", "enhanced"}
    prompt = load("corr2cause", "cot", ())
    assert "reasoning" not in prompt.as_json and constrained(prompt, "tool").as_json["reasoning"] is True
    assert prompt.digest == "d0b724ec53db0f8c559281897b623849afe7f7d32008dfb7c42cbd28443ea864"


@pytest.mark.parametrize("calls", [7, [7], [{"function": 7}], [{"function": {"arguments": {"answer": "Yes"}}}]])
def test_a_call_of_a_tool_that_is_none_is_an_invalid_reply(serve, key, calls):
    _, request = prompt_and_request("tool")
    reply = chat_reply("")
    reply["choices"][0]["message"]["tool_calls"] = calls
    ((_, outcome),) = each(chat(serve(lambda *_: reply), attempts=1).respond([request]))
    assert isinstance(outcome, Failure) and outcome.kind == "invalid_reply" and "tool" in outcome.detail


def test_what_cannot_be_held_is_refused_before_the_first_call(key):
    prompt, where = load("corr2cause", "plain", ()), "http://localhost/v1"
    with pytest.raises(ConfigError, match=r"it gives each of them a probability: .*set model\.method=generate"):
        held_to_choices(prompt, Chat(name="m", model="gpt-4o", base_url=where, method="rank"))
    unheld = [{"constrain": None}, {"extra": {"response_format": {"type": "json_object"}}}, {"extra": {"tools": []}}]
    for settings in unheld:
        with pytest.raises(ConfigError, match="nothing holds what model m writes"):
            held_to_choices(prompt, Chat(name="m", model="gpt-4o", base_url=where, **settings))
    with pytest.raises(ConfigError, match="nothing holds what model always_no writes"):
        held_to_choices(prompt, Baseline(name="always_no", p_yes=0.0))
    with pytest.raises(ConfigError, match=r"model\.constrain=xml is none of json_schema, "):
        constrained(prompt, "xml")


@pytest.mark.slow
def test_a_run_is_held_recorded_verified_and_told_apart(harness, serve, tmp_path):
    ignoring = {"count": 0}

    def reply(path, body, number):
        if "response_format" in body and number % 4 == 0:  # a server behind the address that does not know it
            ignoring["count"] += 1
            return chat_reply("Yes, it does.")
        return held_reply(body, "No")

    server = serve(reply)
    arguments = ["model=gpt4o", f"model.base_url={server.url}", "task.limit=20"]
    assert harness(*arguments, OPENAI_API_KEY=KEY).returncode == 0
    plan = harness(*arguments, "answer=choice", "prompt=cot", "dry_run=true", OPENAI_API_KEY=KEY)
    assert "[max_tokens 1056] [held to reasoning, then Yes | No by json_schema]" in plan.stdout, plan.stderr
    before = len(server.calls)
    done = harness(*arguments, "answer=choice", OPENAI_API_KEY=KEY)
    assert done.returncode == 0 and len(server.calls) == before + 20, done.stderr
    plain, held = sorted((file.parent for file in tmp_path.rglob("result.json")), key=lambda f: "answer" in str(f))
    assert "limit=20,answer=choice" in str(held) and "notes" not in json.loads((plain / "result.json").read_text())
    (note,) = json.loads((held / "result.json").read_text())["notes"]
    assert note.startswith(f"{ignoring['count']} of 20 replies were not in the form") and ignoring["count"] == 5
    assert note in " ".join(done.stdout.split())
    board = harness("results", "out=-", module="harness.leaderboard")
    assert f"gpt4o, limit=20,answer=choice, plain: {note}" in board.stdout, board.stdout + board.stderr
    manifest = json.loads((held / "manifest.json").read_text())
    assert manifest["configuration"]["model"]["constrain"] == "json_schema"
    assert manifest["configuration"]["task"]["answer"] == "choice"
    lines = [json.loads(line) for line in (held / "records.jsonl").read_text().splitlines()]
    assert {line["request"]["form"]["means"] for line in lines} == {"json_schema"}
    assert sorted(line["answer"].get("rule", "")[:4] for line in lines) == ["in t"] * 15 + ["not "] * 5
    verified = harness(module="harness.verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert harness(*arguments, "answer=choice", "cache=frozen", OPENAI_API_KEY=KEY).returncode == 0
    other = harness(*arguments, "answer=choice", "model.constrain=tool", OPENAI_API_KEY=KEY)
    assert other.returncode == 1 and 'model.constrain: "json_schema" there, "tool" now' in other.stderr
    assert len(server.calls) == before + 20
