"""Prompts as a user has them: other room for replies, files of one's own, and parsers."""

from __future__ import annotations

import pytest

from harness import evaluate
from harness.cli.help_text import help_of_choices
from harness.errors import ConfigError
from harness.prompting.prompts import load
from harness.types import Response
from harness.verify.run import problems_of


def test_another_limit_is_another_variant_and_verifies(serve, key, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    server = serve()
    settings = {"model.base_url": server.url, "model.model": "m", "limit": 3}
    plain = evaluate(model="openai", **settings)
    wide = evaluate(model="openai", max_tokens=64, **settings)
    same = evaluate(model="openai", max_tokens=16, **settings)
    assert [call["max_tokens"] for call in server.calls] == [16] * 3 + [64] * 3
    assert (plain.place["variant"], wide.place["variant"]) == ("limit=3", "limit=3,max_tokens=64")
    assert same.folder == plain.folder, "what the prompt's file says already is no other run"
    assert list(problems_of(wide.folder)) == []
    held = evaluate(model="openai", max_tokens=64, answer="choice", **settings)
    assert held.place["variant"] == "limit=3,max_tokens=64,answer=choice"
    assert list(problems_of(held.folder)) == [] and server.calls[-1]["max_tokens"] == 96


def test_it_is_refused_where_nothing_is_written(key):
    with pytest.raises(ConfigError, match=r"max_tokens=64: .* writes no reply"):
        evaluate(model="openai", method="rank", max_tokens=64, limit=3, **{"model.model": "m"})


def test_a_first_try_of_a_prompt_needs_no_source(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("makes: [chat]\nuser: '{premise} {hypothesis}?'\n")
    prompt = load("corr2cause", str(file), ())
    assert not prompt.words.source and "source" not in prompt.as_json
    cited = tmp_path / "cited.yaml"
    cited.write_text(f"source: somebody, 2020\n{file.read_text()}")
    assert load("corr2cause", str(cited), ()).digest == prompt.digest


def test_a_copy_with_other_words_is_after_its_source(tmp_path):
    shipped, file = load("corr2cause", "plain", ()), tmp_path / "copy.yaml"
    text = shipped.where.read_text()
    file.write_text(text)
    assert load("corr2cause", str(file), ()).words.source == shipped.words.source
    file.write_text(text.replace("Just answer", "Kindly answer"))
    assert load("corr2cause", str(file), ()).words.source == "after Jin et al. 2024, Appendix A"
    assert "a manifest says 'after Jin et al." in help_of_choices([("prompt", str(file))])


@pytest.mark.parametrize(("parser", "fails"), [("json:loads", "fails on 'No'"), ("builtins:str", "gives str, where")])
def test_a_parser_of_ones_own_that_fails_is_named_with_its_file(tmp_path, parser, fails):
    file = tmp_path / "mine.yaml"
    file.write_text(f"makes: [chat]\nuser: '{{premise}}?'\nparser: {parser}\n")
    with pytest.raises(ConfigError, match=rf"mine\.yaml: its parser {parser} {fails}"):
        load("corr2cause", str(file), ()).parse(Response("No"), {})
    file.write_text("makes: chat\nuser: '{premise}?'\n")
    with pytest.raises(ConfigError, match=r"makes is a list: makes: \[chat\]"):
        load("corr2cause", str(file), ())
