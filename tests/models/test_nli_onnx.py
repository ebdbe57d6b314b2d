"""Exported NLI models: the words as transformers reads them, the numbers as torch computes them, and no torch."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from support.conftest_models import mlm_checkpoint, nli_checkpoint

from harness.errors import ConfigError
from harness.models.local.checkpoint import shipped
from harness.models.local.nli import NLI
from harness.models.local.nli_onnx import OnnxNLI, TokenizerFile
from harness.tasks.corr2cause.claim import ItemWriter
from harness.tasks.corr2cause.enumerate import public_test
from harness.types import PairRequest

PREMISES = ["A correlates with B. However, A is independent of C.", "A", "A and B are independent given C and D."]
CLAIMS = ["A directly causes B.", "There exists at least one collider (i.e., common effect) of A and B.", ""]


WITHOUT_TORCH = """
import sys

class Missing:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in ("torch", "transformers"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
from harness.__main__ import main
main()
"""


def pairs(count: int) -> list[PairRequest]:
    items = [ItemWriter("none", 0).item(claim) for claim in public_test("v2")[:: 1162 // count]]
    return [PairRequest(str(item.fields["premise"]), str(item.fields["hypothesis"])) for item in items]


@pytest.mark.parametrize("kind", ["words", "bert", "roberta", "deberta"])
def test_a_tokenizer_file_reads_what_transformers_reads(tmp_path, kind):
    from transformers import AutoTokenizer

    folder = nli_checkpoint(tmp_path, {0: "a", 1: "b"}) if kind == "words" else mlm_checkpoint(tmp_path, kind)
    theirs, ours = AutoTokenizer.from_pretrained(folder), TokenizerFile(folder)
    for arguments, more in (
        ((PREMISES, CLAIMS), {}),
        ((PREMISES,), {}),
        (("", CLAIMS[0]), {}),
        ((PREMISES[0], CLAIMS[0]), {"truncation": "only_first", "max_length": 14}),
        ((PREMISES, CLAIMS), {}),
    ):
        read, expected = ours(*arguments, **more), dict(theirs(*arguments, **more))
        assert {name: read[name] for name in expected} == expected
    rows = [{name: values[k] for name, values in ours(PREMISES, CLAIMS).items()} for k in range(3)]
    padded = theirs.pad([{name: row[name] for name in theirs.model_input_names} for row in rows], return_tensors="np")
    for name, array in padded.items():
        assert (ours.pad(rows)[name] == array).all(), name
    assert ours.model_max_length == theirs.model_max_length


def test_the_numbers_are_those_of_torch():
    pytest.importorskip("onnxruntime")
    requests = pairs(100)
    requests.append(PairRequest(" ".join([requests[-1].premise] * 20), requests[-1].hypothesis))  # is cut
    settings = {"name": "tiny", "path": "builtin:tiny"}
    models = OnnxNLI(**settings), NLI(**settings, dtype="float32", device="cpu")
    exported, computed = (dict(pair for landed in model.respond(requests) for pair in landed) for model in models)
    for request in requests:
        assert exported[request].logprobs == pytest.approx(computed[request].logprobs, abs=1e-4)
        assert exported[request].finish_reason == computed[request].finish_reason
        assert exported[request].usage == computed[request].usage
    assert exported[requests[-1]].finish_reason == "premise_truncated"


@pytest.mark.slow
def test_no_torch_is_needed(tmp_path):
    pytest.importorskip("onnxruntime")
    settings = ["model=nli_onnx", "model.path=builtin:tiny", "model.name=tiny", "task.limit=60", f"results={tmp_path}"]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, *settings], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    (result,) = tmp_path.rglob("result.json")
    assert json.loads(result.read_text())["complete"] and "| all " in done.stdout


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"dtype": "bfloat16"}, "in the numbers that it was exported with"),
        ({"device": "cuda"}, "is computed on the CPU"),
        ({"file": "model.onnx"}, "has no model.onnx: export it, or name the exported file"),
    ],
)
def test_what_cannot_be_is_a_sentence(settings, sentence):
    with pytest.raises(ConfigError) as error:
        OnnxNLI(name="tiny", path="builtin:tiny", **settings).identity  # noqa: B018
    assert sentence in str(error.value)


def test_without_the_runtime_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr("harness.models.local.nli_onnx.find_spec", lambda name: None)
    monkeypatch.setattr(OnnxNLI, "folder", shipped("tiny"))
    with pytest.raises(ConfigError, match=r"needs onnxruntime and tokenizers: .*pip install .*\[onnx\]"):
        list(OnnxNLI(name="tiny", path="builtin:tiny").respond(pairs(2)))
