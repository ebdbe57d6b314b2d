"""Files of the working directory with a shipped name: used, told, and never mixed with what ships."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from harness import __main__ as main_command
from harness import evaluate
from harness.cli import hydra_app, own_configs
from harness.config_files import CONFIGS, PROMPTS, listed, prompt_files, roots, settings_in

MODEL = (CONFIGS / "model/always_no.yaml").read_text().replace("p_yes: 0", "p_yes: 1")
PROMPT = "source: mine\nmakes: [chat]\nuser: '{premise} {hypothesis} So?'\n"


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["harness", *arguments])
        code = hydra_app.launch(main_command.job, "config", main_command.sweep)
        return code, *capsys.readouterr()

    return run


def put(name: str, content: str | bytes) -> str:
    """Write a file below the working directory; return its digest."""
    content = content.encode() if isinstance(content, str) else content
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def composed(*arguments: str) -> dict:
    return hydra_app.composed("config", arguments)


@pytest.mark.slow
def test_the_nearer_file_is_used_and_said(command):
    model, prompt = put("configs/model/always_no.yaml", MODEL), put("prompts/corr2cause/plain.yaml", PROMPT)
    own = {"configs/model/always_no.yaml": model, "prompts/corr2cause/plain.yaml": prompt}
    said = f"Own files: {', '.join(f'{path} (sha256 {digest[:12]})' for path, digest in own.items())}."
    code, out, _ = command("model=always_no", "task.limit=40")
    assert code == 0 and said in out and "100.00" in out  # a Yes to everything finds every Yes
    manifest = json.loads(Path("results/corr2cause/limit=40/plain/always_no/manifest.json").read_text())
    assert manifest["own_files"] == own and "own_files" not in manifest["config"]
    assert said in command("model=always_no", "task.limit=40", "dry_run=true")[1]
    assert said in command("-m", "model=always_no,always_yes", "task.limit=40", "dry_run=true")[1]
    assert evaluate("always_no", limit=40, results="fourth").manifest.own_files == own


def test_a_file_of_the_folder_is_used_by_its_name_and_by_what_extends_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    openai, corr2cause = ((CONFIGS / name).read_text() for name in ("model/openai.yaml", "task/corr2cause.yaml"))
    put("configs/model/openai.yaml", openai.replace("temperature: 0", "temperature: 0.3"))
    put("configs/model/mine.yaml", "defaults: [openai, _self_]\nmodel: m\n")
    put("configs/task/corr2cause.yaml", corr2cause.replace("limit: null", "limit: 3"))
    put("configs/config.yaml", "task: of another program\n")
    gpt4, mine = composed("model=gpt4"), composed("judge=mine")
    assert (gpt4["model"]["temperature"], gpt4["task"]["limit"]) == (0.3, 3)
    assert mine["judge"]["temperature"] == 0.3 and mine["judge"]["model"] == "m"
    both = {"configs/model/openai.yaml", "configs/task/corr2cause.yaml"}
    assert set(gpt4["own_files"]) == both and set(mine["own_files"]) == {*both, "configs/model/mine.yaml"}


def test_in_the_checkout_itself_nothing_is_ones_own(monkeypatch):
    monkeypatch.chdir(CONFIGS.parent)
    assert "own_files" not in composed("model=gpt4")
    assert listed(CONFIGS, "model")["gpt4"] == CONFIGS / "model/gpt4.yaml"
    assert prompt_files("corr2cause")["plain"] == PROMPTS / "corr2cause/plain.yaml"


def test_a_module_of_the_folder_comes_after_all_that_is_installed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    put("yaml.py", "raise SystemError\n")
    put("mine_beside.py", "LIMIT = 3\n")
    put(
        "mine_task.py",
        "import yaml\nfrom mine_beside import LIMIT\nfrom harness.tasks.corr2cause.task import Corr2Cause\n",
    )
    put("configs/task/mine.yaml", "defaults: [corr2cause, _self_]\n_target_: mine_task.Corr2Cause\nlimit: 3\n")
    assert len(evaluate("always_no", "mine").manifest.own_files) == 1


@pytest.mark.slow
def test_a_broken_file_that_nobody_asked_for_stops_nothing(command):
    put("prompts/corr2cause/latin.yaml", "source: mir\nuser: 'für {premise}'\n".encode("latin-1"))
    put("prompts/corr2cause/torn.yaml", "makes: [chat\n")
    put("prompts/corr2cause/empty.yaml", "")
    put("prompts/corr2cause/twice.yaml", "makes: [chat]\nuser: '{premise}'\nuser: '{hypothesis}'\n")
    put("prompts/corr2cause/number.yaml", "makes: [chat]\nuser: 12\n")
    put("configs/model/torn.yaml", "name: [\n")
    put("configs/model/latin.yaml", "name: für\n".encode("latin-1"))
    put("configs/task/torn.yaml", "name: [\n")
    for name, braces in (("zero", "{0}"), ("inside", "{premise.__class__}")):
        put(f"prompts/corr2cause/{name}.yaml", f"source: ours\nmakes: [chat]\nuser: '{braces} {{premise}}'\n")
    assert command("model=always_no", "task.limit=40")[0] == 0
    code, _, err = command("model=gpt4", "prompt=pair", "dry_run=true")
    assert code == 1 and "prompt pair does not fit model gpt4" in err and "plain" in err
    for asked, said in (
        (("prompt=latin",), "prompts/corr2cause/latin.yaml is not UTF-8"),
        (("prompt=torn",), "prompts/corr2cause/torn.yaml is not YAML"),
        (("prompt=zero",), "zero.yaml: {0…} is no field's name"),
        (("prompt=inside",), "inside.yaml: {premise.__class__…} is no field's name"),
        (("prompt=twice",), "twice.yaml is not YAML: user stands twice"),
        (("prompt=number",), 'true, false or null takes quotes: user: "…")'),
        (("prompt=empty",), "prompts/corr2cause/empty.yaml holds no words"),
        (("model=torn",), "configs/model/torn.yaml is not YAML"),
        (("model=latin",), "configs/model/latin.yaml is not UTF-8"),
    ):
        code, _, err = command("model=always_no", *asked)
        assert code == 1 and said in err and err.count("\n") == 1, err


def test_files_that_ship_are_read_by_libyaml_and_hold_what_omegaconf_reads(tmp_path, monkeypatch):
    files = sorted(file for root in roots(CONFIGS) for file in root.rglob("*.yaml"))[::5]
    for file in files:
        assert settings_in(file, own_configs.loader()) == OmegaConf.to_container(OmegaConf.load(file))
    slowly: list[str] = []
    load = OmegaConf.load
    monkeypatch.setattr(OmegaConf, "load", lambda file: slowly.append(getattr(file, "name", "own")) or load(file))
    monkeypatch.chdir(tmp_path)
    hydra_app.run_settings(["task=corr2cause"])
    assert slowly and not [name for name in slowly if "hydra/conf" not in name]  # Hydra's own files
