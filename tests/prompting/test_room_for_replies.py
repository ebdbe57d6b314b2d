"""max_tokens=N: room for a reply from the command line, in place of the prompt file's."""

from __future__ import annotations

import pytest

from harness import evaluate
from harness.errors import ConfigError
from harness.prompting.prompts import load
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
