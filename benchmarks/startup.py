"""How long a user waits before anything is asked: whole processes, medians, beside bare Python and bare Hydra.

python benchmarks/startup.py [runs]
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

REPLY = {
    "id": "1", "object": "chat.completion", "created": 0, "model": "mock",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "No"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 450, "completion_tokens": 1, "total_tokens": 451},
}  # fmt: skip
# Each start would compile all modules anew where the machine forbids to keep what was compiled.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {
    "OPENAI_API_KEY": "none"
}
HYDRA = "import hydra; hydra.main(version_base=None, config_path=None)(lambda config: None)()"
UNIVERSE = (
    "from harness.tasks.corr2cause.enumerate import universe\n"
    "assert sum(claim.derived >= 0 for claim in universe(split='all', seed=0)) == 207_432"
)


class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps(REPLY).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def seconds(command: list[str], folder: Path, runs: int) -> float:
    """The median wall time of a command, after one run that does not count."""
    times = []
    for _ in range(runs + 1):
        started = time.perf_counter()
        subprocess.run(command, cwd=folder, check=True, capture_output=True, env=ENVIRONMENT)
        times.append(time.perf_counter() - started)
    return statistics.median(times[1:])


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    python = [sys.executable, "-c"]
    cached = ["model=gpt4", f"model.base_url=http://127.0.0.1:{server.server_port}/v1"]
    commands = {
        "bare Python": [*python, "pass"],
        "a Hydra program that does nothing": [*python, HYDRA, "hydra.run.dir=.", "hydra.output_subdir=null"],
        "harness --help": [sys.executable, "-m", "harness", "--help"],
        "harness, 1,162 answers from the cache": [sys.executable, "-m", "harness", *cached],
        "harness, the exact reasoner on the test split": [sys.executable, "-m", "harness"],
        "207,432 hypotheses enumerated and labelled": [*python, UNIVERSE],
    }
    with tempfile.TemporaryDirectory() as name:
        found = {what: seconds(command, Path(name), runs) for what, command in commands.items()}
    hydra = found["a Hydra program that does nothing"]
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, median of {runs}\n")
    print("| whole process | seconds | times bare Hydra |\n| --- | ---: | ---: |")
    for what, took in found.items():
        print(f"| {what} | {took:.2f} | {took / hydra:.1f} |")


if __name__ == "__main__":
    main()
