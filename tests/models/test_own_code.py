"""Checkpoints that bring Python code of their own, written as those of 2023 are."""

from __future__ import annotations

import json
import shutil

import pytest
from support.conftest_models import own_code_checkpoint
from support.outcomes import each

from harness.errors import ConfigError
from harness.models.local import checkpoint
from harness.models.local.causal_lm import CausalLM
from harness.types import ChatRequest, ChoiceRequest, Message

REQUEST = ChoiceRequest((Message("user", "A correlates with B. Answer:"),), ("Yes", "No"))


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    return own_code_checkpoint(tmp_path / "own")


def lm(path, **settings) -> CausalLM:
    defaults = {"name": "tiny", "path": str(path), "dtype": "float32", "device": "cpu", "trust_remote_code": True}
    return CausalLM(**{**defaults, **settings})


def by_hand(path, ids):
    """Return the logits of the next token: what the checkpoint's code computes, computed here."""
    import torch
    from safetensors.torch import load_file

    weights = load_file(path / "model.safetensors")
    table = torch.cos(torch.arange(256).float()[:, None] * torch.arange(1, 9).float())
    return (weights["embed.weight"][ids] + table[: len(ids)]).mean(0) @ weights["head.weight"].T


def test_it_runs_only_where_it_is_trusted(path):
    with pytest.raises(
        ConfigError, match=r"brings Python code of its own: read it, and set model\.trust_remote_code=true"
    ):
        list(each(lm(path, trust_remote_code=False).respond([REQUEST])))
    (response,) = dict(each(lm(path).respond([REQUEST]))).values()
    assert set(response.logprobs) == {"Yes", "No"}


def test_tables_that_its_code_makes_are_not_left_to_chance(path):
    # Without own_code.restore_buffers the position table is whatever was in memory.
    import torch

    tokenizer, model = lm(path)._parts
    for text in ("A", "A correlates with B. Answer:"):
        ids = torch.tensor(tokenizer(text)["input_ids"])
        with torch.no_grad():
            assert torch.allclose(model(ids[None], use_cache=False).logits[0, -1], by_hand(path, ids), atol=1e-5)
    assert not any(weight.is_meta for weight in [*model.parameters(), *model.buffers()])


def test_it_runs_in_low_precision(path):
    low, exact = (dict(each(lm(path, dtype=dtype).respond([REQUEST])))[REQUEST] for dtype in ("bfloat16", "float32"))
    assert low.logprobs == pytest.approx(exact.logprobs, abs=0.2) and low.logprobs != exact.logprobs


def test_it_writes_in_batches_as_one_token_at_a_time(path):
    import torch

    requests = [ChatRequest((Message("user", text),), max_tokens=6) for text in ("A correlates with B. Answer:", "A")]
    first, again = (dict(each(lm(path, method="generate").respond(requests))) for _ in range(2))
    tokenizer, _ = lm(path)._parts
    for request in requests:
        ids = torch.tensor(tokenizer(request.messages[0].content)["input_ids"])
        start = len(ids)
        for _ in range(6):
            ids = torch.cat([ids, by_hand(path, ids).argmax().view(1)])
        assert first[request].text == again[request].text == tokenizer.decode(ids[start:])


def test_the_code_belongs_to_the_identity_where_it_may_run(path, tmp_path):
    other = shutil.copytree(path, tmp_path / "other")
    code = other / "modeling_tiny.py"
    code.write_text(code.read_text() + "\n# changed\n")
    assert lm(other).identity != lm(path).identity
    assert lm(other, trust_remote_code=False).identity == lm(path, trust_remote_code=False).identity
    assert lm(path).identity != lm(path, trust_remote_code=False).identity


def test_trust_changes_nothing_where_there_is_no_code(gpt2_path):
    assert lm(gpt2_path).identity == lm(gpt2_path, trust_remote_code=False).identity


def test_code_from_another_repository_is_refused(path):
    config = json.loads((path / "config.json").read_text())
    config["auto_map"]["AutoModelForCausalLM"] = "someone/else--modeling_tiny.TinyForCausalLM"
    (path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ConfigError, match=r"runs code of someone/else: put those Python files into its folder"):
        list(each(lm(path).respond([REQUEST])))


class Hub:
    """A Hub with one checkpoint; `cached` is what is on this machine."""

    def __init__(self, monkeypatch, cached, whole):
        self.asked: list[list[str]] = []
        self.cached, self.whole = cached, whole
        import huggingface_hub

        monkeypatch.setattr(huggingface_hub, "snapshot_download", self.download)
        monkeypatch.setattr(huggingface_hub, "HfApi", lambda: self)

    def list_repo_files(self, path, revision):
        return [file.name for file in self.whole.iterdir()]

    def download(self, path, revision, local_files_only=False, allow_patterns=()):
        if not local_files_only:
            self.asked.append(allow_patterns)
        return str(self.cached if local_files_only else self.whole)


def test_code_is_fetched_only_where_it_may_run(path, tmp_path, monkeypatch):
    # Programs with an InternLM of their own, for one, leave the weights in the Hub cache without the code.
    cached = shutil.copytree(path, tmp_path / "cached", ignore=shutil.ignore_patterns("modeling_*"))
    hub = Hub(monkeypatch, cached, path)
    assert checkpoint.locate("someone/tiny", None) == cached and not hub.asked
    assert checkpoint.locate("someone/tiny", None, code=True) == path
    assert "*.py" in hub.asked.pop() and not hub.asked
    hub.cached = tmp_path / "empty"
    hub.cached.mkdir()
    assert checkpoint.locate("someone/tiny", None) == path
    assert "*.py" not in hub.asked.pop()
