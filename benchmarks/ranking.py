"""What ranking costs a vLLM server: calls and prompt tokens of echo, and of one token; counts, which no load changes.

    python benchmarks/ranking.py http://127.0.0.1:8000/v1 MODEL [items]

Each way has a part of the server's prefix cache for itself (cache_salt), so that none finds what another one left.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import urllib.request
import uuid
from pathlib import Path

from harness import evaluate

COUNTS = {
    "calls": "vllm:request_success_total",
    "prompt tokens": "vllm:prompt_tokens_total",
    "of these from the prefix cache": "vllm:prompt_tokens_cached_total",
}
WAYS = {
    "completions, one token": ("openai_completions", []),
    "chat, one token": ("openai", []),
}


def counts(address: str) -> dict[str, float]:
    with urllib.request.urlopen(f"{address.removesuffix('/v1')}/metrics") as reply:
        text = reply.read().decode()
    return {
        name: sum(float(value) for value in re.findall(rf"^{metric}{{.*}} (\S+)$", text, re.MULTILINE))
        for name, metric in COUNTS.items()
    }


def main(address: str, model: str, items: int = 300) -> None:
    rows = {}
    for way, (kind, settings) in WAYS.items():
        before = counts(address)
        with tempfile.TemporaryDirectory() as folder:
            settings = [
                *settings,
                *(f"model.model={model}", f"model.base_url={address}", "model.method=rank", f"task.limit={items}"),
                *("model.api_key_env=null", f"+model.extra.cache_salt={uuid.uuid4().hex}", "model.max_concurrency=8"),
                *("cache=off", f"results={Path(folder) / 'results'}"),
            ]
            evaluate(kind, "corr2cause", overrides=settings)
        rows[way] = {name: count - before[name] for name, count in counts(address).items()}
    print(f"| {items} items of Corr2Cause | {' | '.join(COUNTS)} |\n| --- |{' ---: |' * len(COUNTS)}")
    for way, row in rows.items():
        print(f"| {way} | {' | '.join(f'{count:,.0f}' for count in row.values())} |")
    print(json.dumps(rows))


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:4]))
