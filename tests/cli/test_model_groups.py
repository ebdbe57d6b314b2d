"""The groups in which the help lists the models."""

from __future__ import annotations

from harness.cli.setting_lines import models_by_kind
from harness.config_files import CONFIGS, listed


def test_every_model_is_in_one_group(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "configs" / "model" / "mine.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("# Mine\ndefaults: [mine, _self_]\nname: mine\n")
    files = listed(CONFIGS, "model")
    groups = models_by_kind(files)
    assert sorted(name for _, members in groups for name in members) == sorted(files)
    place = {name: number for number, (_, members) in enumerate(groups) for name in members}
    assert [place[name] for name in ("mine", "claude", "llama_3_1_8b", "reasoner")] == list(range(len(groups)))
    for same in (["claude", "gpt4", "azure", "ollama"], ["causal_lm", "vllm"], ["reasoner", "shortcut", "always_no"]):
        assert len({place[name] for name in same}) == 1
