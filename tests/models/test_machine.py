"""Device, dtype and cores of a local model by the machine that it runs on."""

from __future__ import annotations

import pytest

from harness.models.local import checkpoint
from harness.models.local.checkpoint import cores, dtype_of


@pytest.mark.parametrize(
    "flags, device, expected",
    [
        ("fpu avx2", "cpu", "float32"),
        ("fpu avx512_bf16", "cpu", "bfloat16"),
        ("fpu amx_bf16 amx_tile", "cpu", "bfloat16"),
        ("fpu amx_bf16", "mps", "float32"),
    ],
)
def test_low_precision_is_chosen_where_the_machine_multiplies_in_it(flags, device, expected, monkeypatch):
    monkeypatch.setattr(checkpoint, "_read", lambda file: iter([f"processor\t: 0\nflags\t\t: {flags}\nbugs\t\t:\n"]))
    checkpoint._cpu_flags.cache_clear()
    assert dtype_of("auto", device) == expected
    assert dtype_of("float32", device) == "float32"
    checkpoint._cpu_flags.cache_clear()


@pytest.mark.parametrize(("capability", "expected"), [((9, 0), "bfloat16"), ((8, 6), "bfloat16"), ((7, 5), "float32")])
def test_a_gpu_computes_in_bfloat16_where_it_has_the_hardware(capability, expected, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.get_device_capability", lambda: capability)
    assert dtype_of("auto", "cuda") == expected
    assert dtype_of("bfloat16", "cuda") == "bfloat16"


@pytest.mark.parametrize("quota, expected", [("max 100000", 8), ("200000 100000", 2), ("50000 100000", 1), (None, 8)])
def test_cores_are_those_of_the_container(quota, expected, monkeypatch):
    monkeypatch.setattr(checkpoint, "_read", lambda file: iter([quota] if quota else []))
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(8)), raising=False)
    assert cores() == expected
