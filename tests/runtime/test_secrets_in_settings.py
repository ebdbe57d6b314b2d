"""One decision on what is a key: drawn keys in drawn places are refused and masked, drawn harmless settings are not."""

from __future__ import annotations

import string
import time
from itertools import pairwise
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from harness.errors import ConfigError
from harness.runtime.secrets import mask_keys, mask_keys_in_yaml, refuse_arguments, refuse_config, secret_in

SIGNS = string.ascii_letters + string.digits


def _mixed(least: int, most: int) -> st.SearchStrategy[str]:
    """Letters and digits, one of each at least, and maybe dashes, points and underlines between them."""
    inner = st.text(f"{SIGNS}-_.", min_size=least - 4, max_size=most - 4)
    ends = st.tuples(*[st.sampled_from(signs) for signs in (string.ascii_letters, string.digits)] * 2)
    return st.builds(lambda ends, inner: f"{ends[0]}{ends[1]}{inner}{ends[3]}{ends[2]}", ends, inner)


KEYS = st.one_of(
    _mixed(8, 60),
    st.text("0123456789abcdef", min_size=32, max_size=32).filter(lambda key: not key.isdigit()),
    _mixed(20, 40).map(lambda key: f"sk-proj-{key}"),
    _mixed(16, 30).map(lambda key: f"token-{key}"),
)
NAMES = st.builds(
    lambda owner, what: f"{owner}{what}",
    st.sampled_from(["", "HF_", "AZURE_OPENAI_", "VLLM_", "MY_", "WANDB_", "DB_"]),
    st.sampled_from(["API_KEY", "TOKEN", "SECRET", "PASSWORD", "ACCESS_KEY", "AUTH", "KEY", "SECRET_KEY"]),
)
Place = tuple[list[str], dict[str, Any]]
"""A command line with a key, and the config that it makes."""


def _setup(line: str) -> Place:
    lines = ["module load python", line]
    return [f"workers.setup={lines}"], {"workers": {"setup": lines}}


def _additional(content: dict[str, Any]) -> Place:
    return [f"+workers.additional={content}"], {"workers": {"additional": content}}


def _args(*words: str) -> Place:
    return [f"model.args={[*words]}"], {"model": {"args": [*words]}}


def _command(words: str) -> Place:
    return [f"model.command='{words}'"], {"model": {"command": words}}


PLACES = {
    "export": lambda name, key: _setup(f"export {name}={key}"),
    "export in quotes": lambda name, key: _setup(f'export {name}="{key}"'),
    "export among others": lambda name, key: _setup(f"export A=1 {name}={key} B=2; cd /work"),
    "for one command": lambda name, key: _setup(f"{name}={key} python serve.py"),
    "setenv": lambda name, key: _setup(f"setenv {name} {key}"),
    "fish": lambda name, key: _setup(f"set -x {name} {key}"),
    "header": lambda name, key: _setup(f"curl -H 'Authorization: Bearer {key}' http://h"),
    "flag of a line": lambda name, key: _setup(f"login --token {key} --yes"),
    "sbatch": lambda name, key: _additional({"export": f"ALL,{name}={key}"}),
    "sbatch, alone": lambda name, key: _additional({"export": f"{name}={key}"}),
    "a parameter": lambda name, key: _additional({name.lower(): key}),
    "nested": lambda name, key: _additional({"env": {"more": [{name: key}]}}),
    "flag": lambda name, key: _args("--max-model-len", "8192", f"--api-key={key}"),
    "flag and value": lambda name, key: _args("--api-key", key, "--max-model-len", "8192"),
    "flags in one": lambda name, key: _args(f"--port 1 --api-key {key}"),
    "env": lambda name, key: _command(f"env {name}={key} vllm"),
    "address": lambda name, key: (
        [f"model.base_url=http://me:{key}@h/v1"],
        {"model": {"base_url": f"http://me:{key}@h/v1"}},
    ),
    "query": lambda name, key: (
        [f"model.base_url=http://h/v1?token={key}"],
        {"model": {"base_url": f"http://h/v1?token={key}"}},
    ),
    "judge": lambda name, key: ([f"+judge.extra.{name}={key}"], {"judge": {"extra": {name: key}}}),
    "a list of mappings": lambda name, key: ([f"+x=[{{{name}: {key}}}]"], {"x": [{name: key}]}),
}


@settings(max_examples=600)
@given(st.sampled_from([*PLACES]), NAMES, KEYS)
def test_a_drawn_key_in_a_drawn_place_is_refused_and_masked(place, name, key):
    arguments, config = PLACES[place](name, key)
    with pytest.raises(ConfigError, match="looks like a key") as refused:
        refuse_config({"task": {"limit": 5}, **config})
    assert key not in str(refused.value)
    with pytest.raises(ConfigError) as refused:
        refuse_arguments(["task.limit=5", *arguments])
    assert key not in str(refused.value)
    for shown in (
        mask_keys(f"error: {' '.join(arguments)} is none"),
        mask_keys(repr(config)),
        mask_keys_in_yaml(yaml.safe_dump(config, width=1000)),
    ):
        assert key not in shown


@settings(max_examples=300)
@given(st.sampled_from([*PLACES]), NAMES, KEYS)
def test_what_is_refused_is_masked_and_what_was_masked_is_no_key(place, name, key):
    text = " ".join(PLACES[place](name, key)[0])
    assert secret_in(text)
    masked = mask_keys(text)
    assert masked != text and mask_keys(masked) == masked and not secret_in(masked)


SETUP = [
    "module load python/3.11",
    "export OMP_NUM_THREADS=8",
    "export HF_HOME=/scratch/me/hf",
    "source ~/venv/bin/activate",
    "export HF_TOKEN=$HF_TOKEN",
    "export HF_TOKEN=${MY_TOKEN}",
    "export VLLM_API_KEY=$(cat ~/.vllm)",
    "export TOKENIZERS_PARALLELISM=false",
    "export HF_TOKEN_PATH=/home/me/.cache/huggingface/token",
    "set -euo pipefail",
    "export AWS_SHARED_CREDENTIALS_FILE=credentials-of-the-group.ini",
    "ulimit -n 65536",
    "export NCCL_DEBUG=INFO",
    "export SSH_AUTH_SOCK=/run/user/1000/keyring/ssh",
    "echo keys: 12 tokens: 4096",
    "export PATH=/opt/cuda12/bin:$PATH",
    "export MASTER_ADDR=node0123456789 MASTER_PORT=29500",
    "conda activate token-study-2026",
    "export AUTH_METHOD=kerberos5",
]
ARGS = [
    "--tensor-parallel-size",
    "4",
    "--max-model-len",
    "8192",
    "--tokenizer=mistralai/Mistral-7B-Instruct-v0.3",
    "--enable-prefix-caching",
    "--kv-cache-dtype=fp8",
    "--max-num-batched-tokens=16384",
    "--served-model-name",
    "gpt2x4b8",
    "--chat-template",
    "/srv/templates/keys1234.jinja",
    "--stop-token=token12345",
    "--sort-key",
    "timestamp_2026_01_01",
    "--api-key",
    "none",
    "--api-key=$VLLM_API_KEY",
    "--ssl-keyfile=/etc/ssl/private/key12345.pem",
    "--no-auth-token-warning",
]
ADDITIONAL = {
    "qos": "long",
    "constraint": "a100&ib400gbps1",
    "signal": "USR1@120",
    "export": "ALL,HF_HOME=/scratch/hf2026",
    "account": "p_causality2026",
    "mail_user": "me@example.org",
    "reservation": "maintenance_2026_11",
    "partition_key": "gpu12345",
}


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(SETUP), max_size=6),
    st.lists(st.sampled_from(ARGS), max_size=8),
    st.dictionaries(st.sampled_from([*ADDITIONAL]), st.none(), max_size=5),
)
def test_drawn_harmless_settings_are_not_refused(setup, args, chosen):
    # What stands behind --api-key is one, whatever it looks like.
    assume(all(before != "--api-key" or after == "none" for before, after in pairwise(args)))
    additional = {name: ADDITIONAL[name] for name in chosen}
    refuse_config({"workers": {"setup": setup, "additional": additional}, "model": {"args": args, "command": "vllm"}})
    refuse_arguments([f"workers.setup={setup}", f"+workers.additional={additional}", f"model.args={args}"])


@pytest.mark.parametrize(
    "sentence",
    [
        "1. To use it as a list, use key=[value1,value2] 2. To use it as string, quote the value: key='value1,value2'",
        "there is no setting --auth-token: harness --help lists them",
        "the key of the cache is its digest, and a token: of a model ends a reply",
        "max(rows, key=len) and sorted(names, key=operator.itemgetter)",
        "set the environment variable OPENAI_API_KEY (export OPENAI_API_KEY=…), or say model.api_key_env=null if this",
        "`harness cache key=` is none; --api-key settings are read from the environment",
        "'header: 0' and header=0",
    ],
)
def test_sentences_are_left_as_they_are(sentence):
    assert mask_keys(sentence) == sentence.replace("header=0", "header=[a key]")
    assert not secret_in(sentence)


TOKENS = [
    "a",
    "=",
    ":",
    "-",
    "--",
    " ",
    "key=",
    "--key ",
    "token: ",
    "eyJ-",
    "eyJ.",
    "sk-",
    "://",
    "@",
    "'",
    "[",
    "a=",
    "\n",
    "Bearer ",
    "export ",
    "key: -",
    "- ",
    "\t",
    "{key:",
    "x.",
    "\\",
    "set -x ",
    "key='[",
    "hf_",
    "Basic ",
]


@settings(max_examples=40)
@given(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=3))
def test_looking_for_keys_takes_linear_time(tokens):
    def seconds(size: int) -> float:
        text = ("".join(tokens) * size)[:size]
        began = time.process_time()
        mask_keys_in_yaml(text)
        secret_in(text)
        return time.process_time() - began

    seconds(1_000)
    assert min(seconds(16_000) for _ in range(2)) < 6 * min(seconds(4_000) for _ in range(2)) + 0.05
