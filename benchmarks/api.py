"""The API path, whole processes against a local server: the harness beside other people's programs.

python benchmarks/api.py [--runs 5] [--only work,limits,memory]

work: 1,162 prompts (the public Corr2Cause test split), a server that takes 50 ms, 64 calls at once. All programs take
turns, each in a new folder, after one round that does not count. lm-evaluation-harness and inspect-ai take part once
`make bench-peers` has installed them in environments of their own. limits: servers that refuse, by turns with a client
that only waits, as long as it is told, with each refused call. memory: 20,000 and
200,000 items without latency (ten minutes). What counts are the ratios within one run on one machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.prompting.prompts import load
from harness.tasks.corr2cause import Corr2Cause
from harness.types import ChatRequest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from mock_server import rates  # noqa: E402

PEERS = HERE / "peers"
INSTALLED = HERE.parent / ".bench"
RESULTS = HERE / "results" / "api.json"
SERVERS = {
    "200 requests a second": ["--rate", "200"],
    "200 requests a second, Retry-After 1 s": ["--rate", "200", "--retry-after"],
    "200, after 3 s 50, after 7 s 400 requests a second": ["--rate", "200,50@3,400@7"],
    "20% refused with Retry-After 1 s, 5% errors": ["--refuse", "0.2", "--fail", "0.05"],
}  # those that refuse
RECORDED = "results/corr2cause/default/plain/gpt4/records.jsonl"


class Server:
    """The mock server in a process of its own."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, str(HERE / "mock_server.py"), *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.root = f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    def told(self, path: str) -> dict[str, float]:
        with urllib.request.urlopen(f"{self.root}/{path}") as reply:
            return json.load(reply)


@contextmanager
def server(*arguments: str) -> Iterator[Server]:
    started = Server(*arguments)
    try:
        yield started
    finally:
        started.process.terminate()
        started.process.wait()


@dataclass(frozen=True)
class Way:
    """A program that asks the server; `again` is its second run, from its cache."""

    command: Callable[[Server, Path, Path], list[str]]
    again: bool = False


def harness(asked: Server, prompts: Path, folder: Path) -> list[str]:
    return [sys.executable, "-m", "harness", "model=gpt4", "prompt=plain", f"model.base_url={asked.root}/v1"]


def script(name: str) -> Callable[[Server, Path, Path], list[str]]:
    return lambda asked, prompts, folder: [sys.executable, str(PEERS / name), f"{asked.root}/v1", str(prompts)]


def lm_eval(asked: Server, prompts: Path, folder: Path) -> list[str]:
    task = (PEERS / "lm_eval_api" / "corr2cause_api.yaml").read_text().replace("PROMPTS", str(prompts))
    (folder / "task.yaml").write_text(task)
    where = f"{asked.root}/v1/chat/completions"
    model = f"model=gpt-4,base_url={where},num_concurrent=64,max_retries=10,tokenized_requests=False"
    return [
        str(INSTALLED / "lm-eval" / "bin" / "lm_eval"), "run", "--model", "local-chat-completions",
        "--model_args", model, "--tasks", "corr2cause_api", "--include_path", str(folder), "--apply_chat_template",
        "--use_cache", str(folder / "cache"), "--output_path", str(folder / "out"), "--log_samples",
    ]  # fmt: skip


def inspect(asked: Server, prompts: Path, folder: Path) -> list[str]:
    shutil.copy(PEERS / "inspect_api.py", folder)  # it takes relative paths only
    return [
        str(INSTALLED / "inspect" / "bin" / "inspect"), "eval", "inspect_api.py", "-T", f"prompts={prompts}",
        "-T", "cache=true", "--model", "openai/gpt-4", "--model-base-url", f"{asked.root}/v1",
        "--max-connections", "64", "--display", "none", "--max-tokens", "16", "--temperature", "0",
    ]  # fmt: skip


def ways() -> dict[str, Way]:
    """The programs that are there."""
    found = {
        "bare SDK loop, aiohttp transport": Way(script("sdk_loop.py")),
        "bare aiohttp client, JSON lines": Way(script("aiohttp_loop.py")),
        "harness": Way(harness),
        "harness, again from its cache": Way(harness, again=True),
    }
    for name, program, command in (("lm-evaluation-harness", "lm-eval", lm_eval), ("inspect-ai", "inspect", inspect)):
        if (INSTALLED / program).exists():
            found |= {name: Way(command), f"{name}, again from its cache": Way(command, again=True)}
        else:
            print(f"{name} is not in .bench/{program}: make bench-peers", file=sys.stderr)
    return found


def run(command: list[str], folder: Path) -> tuple[float, float, float]:
    """(seconds, the wall clock at its start, processor seconds) of a whole process."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {
        "OPENAI_API_KEY": "none", "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1",
        "HF_HOME": str(folder / "hf"), "XDG_CACHE_HOME": str(folder / "caches"), "HOME": str(folder),
    }  # fmt: skip
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began, started = time.time(), time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    took = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def work(prompts: Path, runs: int) -> dict[str, dict[str, list[float]]]:
    """Seconds of each program, and seconds until its first request, round by round."""
    programs = ways()
    found: dict[str, dict[str, list[float]]] = {
        name: {"seconds": [], "processor": [], "first_request": []} for name in programs
    }
    asked_for = len(prompts.read_text().splitlines())
    with server() as asked:
        for number in range(runs + 1):
            folder = Path()
            for name, way in programs.items():
                if not way.again:
                    folder = Path(tempfile.mkdtemp())
                asked.told("reset")
                took, began, processor = run(way.command(asked, prompts, folder), folder)
                stats = asked.told("stats")
                assert stats["answered"] == (0 if way.again else asked_for), (name, stats)
                if number:  # the first round fills the caches of byte code and of the disk
                    found[name]["seconds"].append(round(took, 3))
                    found[name]["processor"].append(round(processor, 3))
                    if not way.again:
                        found[name]["first_request"].append(round(stats["first"] - began, 3))
                print(f"{name}: {took:.2f} s", file=sys.stderr)
                if way.again or "loop" in name or "client" in name:
                    shutil.rmtree(folder, ignore_errors=True)
    return found


def limits(prompts: Path, runs: int) -> dict[str, dict[str, list[dict[str, float]]]]:
    """What servers that refuse have seen of the harness, and of a client that only waits."""
    clients = {"harness": harness, "a client that only waits": script("waiting_loop.py")}
    found: dict[str, dict[str, list[dict[str, float]]]] = {name: {client: [] for client in clients} for name in SERVERS}
    for number in range(runs):
        for name, arguments in SERVERS.items():
            for client, command in clients.items():
                with server(*arguments, "--seed", str(number)) as asked, tempfile.TemporaryDirectory() as folder:
                    run(command(asked, prompts, Path(folder)), Path(folder))
                    stats = asked.told("stats")
                    if client == "harness":
                        records = (Path(folder) / RECORDED).read_text().splitlines()
                        stats |= {"records": len(records), "lost": sum('"failure"' in line for line in records)}
                stats["seconds"] = round(stats.pop("last") - stats.pop("first"), 3)
                found[name][client].append(stats)
                print(f"{name}, {client}: {stats['seconds']:.2f} s, {stats['refused']} refused", file=sys.stderr)
    return found


def least(arguments: list[str], answered: int) -> float | None:
    """Seconds that so many answers take where each is asked for at the first moment at which it is allowed."""
    if arguments[0] != "--rate":
        return None
    parts, left, seconds = rates(arguments[1]), answered - 10.0, 0.0  # a bucket of ten may be emptied at once
    for (rate, since), (_, until) in zip(parts, [*parts[1:], (0.0, float("inf"))], strict=True):
        taken = min(left / rate, until - since)
        left, seconds = left - taken * rate, seconds + taken
    return seconds


def memory() -> dict[str, dict[str, float]]:
    """Seconds and peak memory of runs of 20,000 and 200,000 items; the children's maximum only ever grows."""
    found = {}
    with server("--latency", "0") as asked:
        for limit in (20_000, 198_090):
            with tempfile.TemporaryDirectory() as folder:
                command = [
                    *harness(asked, Path(), Path()),
                    "task.split=all",
                    "task.num_nodes=[6]",
                    f"task.limit={limit}",
                ]
                took, _, _ = run(command, Path(folder))
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            found[f"{limit:,} items"] = {"seconds": round(took, 1), "peak_MB": round(peak, 1)}
            print(f"{limit:,} items: {took:.0f} s, {peak:.0f} MB", file=sys.stderr)
    return found


def capacity(seconds: float = 2.0) -> float:
    """Requests a second that the server answers without latency, asked by a client that does nothing else."""
    import asyncio

    async def client(port: int, until: float) -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        body = b'{"model": "gpt-4", "messages": [{"role": "user", "content": "' + b"x" * 1000 + b'"}]}'
        request = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        count = 0
        while time.perf_counter() < until:
            writer.write(request * 16)  # pipelined: the client must not be the limit
            for _ in range(16):
                header = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(header.split(b"Content-Length: ")[1].split(b"\r")[0]))
            count += 16
        writer.close()
        return count

    async def both(port: int) -> int:
        until = time.perf_counter() + seconds
        return sum(await asyncio.gather(*(client(port, until) for _ in range(8))))

    with server("--latency", "0") as asked:
        return asyncio.run(both(int(asked.root.rpartition(":")[2]))) / seconds


def told_work(found: dict[str, dict[str, list[float]]]) -> Iterator[str]:
    loop = found["bare SDK loop, aiohttp transport"]
    times_the_loop = "times the SDK loop"
    yield (
        f"| whole process, 1,162 prompts at 50 ms | seconds | {times_the_loop} | processor seconds | {times_the_loop} "
        "| first request after |"
    )
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for name, times in found.items():
        parts = [name]
        for what in ("seconds", "processor"):
            ratio = statistics.median(a / b for a, b in zip(times[what], loop[what], strict=True))
            parts += [f"{statistics.median(times[what]):.2f}", f"{ratio:.2f}"]
        first = f"{statistics.median(times['first_request']):.2f} s" if times["first_request"] else "–"
        yield f"| {' | '.join(parts)} | {first} |"


def told_limits(found: dict[str, dict[str, list[dict[str, float]]]]) -> Iterator[str]:
    yield "\n| server | client | seconds, first request to last answer | of what was allowed | refused | lost | early |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
    for name, clients in found.items():
        for client, runs in clients.items():
            seconds = sorted(stats["seconds"] for stats in runs)
            possible = least(SERVERS[name], int(runs[0]["answered"]))
            share = f"{possible / statistics.median(seconds):.1%}" if possible else "–"
            refused = statistics.median(stats["refused"] / stats["answered"] for stats in runs)
            lost = f"{sum(stats['lost'] for stats in runs):.0f}" if client == "harness" else "–"
            early = sum(stats["early"] for stats in runs)
            took = f"{statistics.median(seconds):.2f} ({seconds[0]:.2f} to {seconds[-1]:.2f})"
            yield f"| {name} | {client} | {took} | {share} | {refused:.1%} | {lost} | {early:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="work,limits")
    chosen = parser.parse_args()
    told = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    told |= {"python": platform.python_version(), "cores": os.cpu_count(), "date": time.strftime("%Y-%m-%d")}
    with tempfile.TemporaryDirectory() as folder:
        prompts = Path(folder) / "prompts.jsonl"
        items, prompt = Corr2Cause(name="corr2cause", prompts=("plain",)).items(), load("corr2cause", "plain", ())
        texts = (prompt.render(item.fields, (), ChatRequest).messages[-1].content for item in items)
        prompts.write_text("".join(json.dumps({"prompt": text}) + "\n" for text in texts))
        if "work" in chosen.only:
            told["server_capacity_per_second"] = round(capacity())
            told["work"] = work(prompts, chosen.runs)
            print(f"The server can answer {told['server_capacity_per_second']:,} requests a second.\n")
            print("\n".join(told_work(told["work"])))
        if "limits" in chosen.only:
            told["limits"] = limits(prompts, chosen.runs)
            print("\n".join(told_limits(told["limits"])))
        if "memory" in chosen.only:
            told["memory"] = memory()
    RESULTS.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
