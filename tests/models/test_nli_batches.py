"""How NLI pairs become batches: the pairs of the test split, a model of its own size."""

from __future__ import annotations

import pytest
from support.conftest_models import nli_checkpoint
from support.outcomes import each

from harness.models.local import loading
from harness.models.local.nli import NLI
from harness.prompting import prompts
from harness.tasks.corr2cause import Corr2Cause
from harness.types import PairRequest

LABELS = {0: "contradiction", 1: "neutral", 2: "entailment"}


@pytest.fixture(scope="module")
def pairs() -> list[PairRequest]:
    """Return all 1,162 pairs of the test split."""
    prompt = prompts.load("corr2cause", "pair", ())
    items = Corr2Cause(name="corr2cause", prompts=("pair",)).items()
    return [prompt.render(item.fields, (), PairRequest) for item in items]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Return a checkpoint that takes the longest of the pairs."""
    return nli_checkpoint(tmp_path_factory.mktemp("long"), LABELS, max_positions=1024)


def nli(path, **settings) -> NLI:
    return NLI(**{"name": "tiny", "path": str(path), "dtype": "float32", "device": "cpu", **settings})


def shares(model: NLI, pairs: list[PairRequest]) -> tuple[float, list[tuple[int, int]]]:
    """Return the share of padding in what goes into the model, and the shapes of the batches."""
    shapes: list[tuple[int, int]] = []
    tokens = 0

    def count(module, arguments, inputs):
        nonlocal tokens
        shapes.append(tuple(inputs["input_ids"].shape))
        tokens += int(inputs["attention_mask"].sum())

    hook = model._parts[1].register_forward_pre_hook(count, with_kwargs=True)
    assert {request for request, _ in each(model.respond(pairs))} == set(pairs)
    hook.remove()
    return 1 - tokens / sum(rows * longest for rows, longest in shapes), shapes


@pytest.mark.parametrize("cores", [2])
def test_padding_of_the_test_split_is_under_five_percent(path, pairs, cores, monkeypatch):
    monkeypatch.setattr(loading, "cores", lambda: cores)
    budget = min(8192, 512 * cores)
    padding, shapes = shares(nli(path), pairs)
    assert len(pairs) == 1162 and padding < 0.05
    assert all(count == 1 or count * longest <= budget for count, longest in shapes)
    assert sum(count for count, _ in shapes) == len(pairs) and len(shapes) < len(pairs) / 2


def test_bfloat16_decides_nearly_as_float32_does(path, pairs):
    exact, low = (dict(each(nli(path, dtype=dtype).respond(pairs[::40]))) for dtype in ("float32", "bfloat16"))
    assert sum(low[p].text == exact[p].text for p in exact) >= 0.95 * len(exact)
