"""What a user gets who makes a mistake: one sentence, and nothing of it harms the terminal."""

from __future__ import annotations

import pytest
from support.cli_help import sentence
from support.openai_server import KEY, error
from support.thinned import few

TYPED = {
    "model=gpt4o_min": "did you mean 'gpt4o_mini'",
    "prompt=plian": "did you mean 'plain'",
    "promt=plain": "did you mean 'prompt'",
    "+task.limt=3": "did you mean 'task.limit'",
    "+foo=3": "no setting 'foo'",
    "results=null": "results=None",
    "model=gpt_9": "harness --help models lists all",
    "model=openai/gpt-4o": "of a provider it is model=openai model.model=gpt-4o",
    "judge=anthropic/claude-9": "of a provider it is judge=anthropic judge.model=claude-9",
    "task.limt=3": "harness --help task=NAME lists all",
    "hydra/launcher=slurm": "starts the jobs of a sweep (-m)",
    "cache=null": "cache= takes one name: frozen, off, on, refresh.",
    "model=": "model= takes one name: harness --help model= lists",
    "model.name=${x}.csv": "(in a text, ${ is written \\${)",
    "task=questions task.path=q.csv task.name=a/b": "task.name=a/b: a name without / is needed",
    "cache.mode=frozn": "did you mean 'frozen'?",
    "cache.pth=x": "did you mean 'cache.path'",
    "model.extra.foo=1 model=openai model.model=m": "+model.extra.foo",
    "model=openai model.model=m model.base_url=localhost": "is no address",
    "task.limit=-1": "greater than 0",
    "task.limit=many": "valid integer",
    "task.num_nodes=[1]": "greater than or equal to 2",
    "task.split=tset": "did you mean 'test'?",
    "task.version=v1 task.split=train": "task.version=v1",
    "task.labels=published task.split=dev": "derived labels",
    "task.relations=[child] task.num_nodes=[2] task.split=train": "no item is left",
    "prompt=pair": "These do: cls, confidence, cot",
    "prompt=nowhere.yaml": "there is no such file",
    "prompt=empty.yaml": "name no field of the item",
    "model=gpt4": "set the environment variable OPENAI_API_KEY",
    "model=openai": "model.model has to be given",
    "model=nli": "model.path has to be given",
    "model=nli model.path=/nowhere": "no such folder",
    "model.name=[": "model.name=[ cannot be read as a setting: a list is [a,b]",
    "model.name=..": "model.name='..' is no name of a row",
    "results=blocked/here": "results folder",
    "model=gpt4 cache.path=blocked/c api_key=1": "api_key",
    "task.source=file task.path=missing.csv": "missing.csv does not exist",
    "task.source=file task.path=empty.csv": "no rows",
    "task.source=file task.path=labels.csv": "row 2 has the label 'maybe'",
    "task.source=file task.path=columns.csv": "row 1 needs the columns",
}


@pytest.mark.parametrize(("arguments", "message"), few(TYPED.items(), 8))
def test_bad_input_gets_one_sentence(harness, tmp_path, arguments, message):
    (tmp_path / "blocked").write_text("a file where a folder should be")
    (tmp_path / "empty.csv").write_text("input,label\n")
    (tmp_path / "empty.yaml").write_text("source: mine\nmakes: [chat]\nuser: Is it so?\n")
    text = (
        '"Premise: Suppose there is a closed system of 2 variables, A and B. All the statistical relations among these '
        '2 variables are as follows: A correlates with B.\nHypothesis: A directly causes B."'
    )
    (tmp_path / "labels.csv").write_text(f"input,label\n{text},0\n{text},maybe\n")
    (tmp_path / "columns.csv").write_text("question,label\nWhy?,1\n")
    key = KEY if "base_url" in arguments else ""
    assert message in sentence(harness(*arguments.split(), OPENAI_API_KEY=key))


def test_debug_shows_the_traceback(harness):
    process = harness("task.limit=-1", "debug=true")
    assert process.returncode == 1 and "Traceback" in process.stderr and "ConfigError" in process.stderr


def test_a_refused_key_and_an_unreachable_server_are_sentences(harness, serve):
    server = serve(lambda *_: error(401, "Incorrect API key provided"))
    process = harness("model=gpt4", f"model.base_url={server.url}", OPENAI_API_KEY=KEY)
    assert "refuses the key" in sentence(process) and KEY not in process.stderr
    assert len(server.calls) <= 64
    process = harness("model=gpt4", "model.base_url=http://127.0.0.1:9/v1", "model.max_wait=0.1", OPENAI_API_KEY=KEY)
    assert "cannot be reached" in sentence(process)


def test_mistakes_in_a_config_file_of_the_users_own_are_sentences(harness, tmp_path):
    (tmp_path / "configs/model").mkdir(parents=True)
    for name, content, message in (
        ("bare", "name: bare\n", "configs/model/bare.yaml says no class: begin it with `defaults: [openai, _self_]`"),
        ("wrong", "defaults: [opnai, _self_]\n", "did you mean 'openai'"),
        ("torn", "name: [\n", "not YAML"),
    ):
        (tmp_path / f"configs/model/{name}.yaml").write_text(content)
        assert message in sentence(harness(f"model={name}"))
        (tmp_path / f"configs/model/{name}.yaml").unlink()


@pytest.mark.slow
def test_other_words_under_the_same_prompt_name_are_said(harness, tmp_path):
    (tmp_path / "mine.yaml").write_text("source: mine\nmakes: [chat]\nuser: '{input} So?'\n")
    assert harness("prompt=mine.yaml", "task.limit=5").returncode == 0
    (tmp_path / "mine.yaml").write_text("source: mine\nmakes: [chat]\nuser: '{input} Well?'\n")
    assert "other words of the prompt mine" in sentence(harness("prompt=mine.yaml", "task.limit=5"))


@pytest.mark.slow
def test_errors_of_others_do_nothing_to_a_terminal(harness, serve):
    server = serve(lambda *_: error(401, "no\x1b[2A\x1b]0;title\x07 \u202eway"))
    process = harness("model=gpt4", f"model.base_url={server.url}", "task.limit=5", OPENAI_API_KEY=KEY)
    assert process.returncode == 1 and "no" in process.stderr and "way" in process.stderr
    assert not set(process.stderr) & set("\x1b\x07\u202e")


MENDED = {
    "model=always_no,always_yes": "for a run with each of them put -m first, harness -m model=always_no,always_yes.",
    "task=causalbench/causality task.networks=asia,cancer": "one list of them is 'task.networks=[asia,cancer]'",
    "model=Qwen/Qwen3-8B": "is model=causal_lm model.path=Qwen/Qwen3-8B or, through vLLM, model=vllm model.path=Qw",
    "--help model=Qwen/Qwen3-8B": "is model=causal_lm model.path=Qwen/Qwen3-8B or, through vLLM,",
    "model=openai model.model=m model.max_tokens=100": "'model.max_tokens': write max_tokens=….",
    "budget=5": "budget=5 does not say of what: write budget.usd=…, budget.requests=…",
    "model=always_no dry_run": "dry_run alone is no setting: write dry_run=true",
    "results": "there is no command 'results'",
    "model = always_no": "a setting is written without spaces, model=always_no",
    "version": "write harness --version",
    "task=causalbench": "(did you mean 'causalbench/causality' or 'causalbench/correlation' or",
}


@pytest.mark.parametrize(("arguments", "message"), few(MENDED.items(), 6))
def test_first_mistakes_are_mended_by_what_is_said(harness, arguments, message):
    said = sentence(harness(*arguments.split()))
    assert message in said and said.count("\n") <= 1 and "this should not have been" not in said
