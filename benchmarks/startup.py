"""How long a user waits before anything is asked: whole processes, medians, beside bare Python and bare Hydra.

python benchmarks/startup.py [runs]
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Each start would compile all modules anew where the machine forbids to keep what was compiled.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {
    "OPENAI_API_KEY": "none"
}
HYDRA = "import hydra; hydra.main(version_base=None, config_path=None)(lambda config: None)()"
UNIVERSE = (
    "from harness.tasks.corr2cause.enumerate import universe\n"
    "assert sum(claim.derived >= 0 for claim in universe(split='all', seed=0)) == 207_432"
)


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
    mock = [sys.executable, str(Path(__file__).parent / "mock_server.py"), "--latency", "0"]
    server = subprocess.Popen(mock, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    python = [sys.executable, "-c"]
    cached = ["model=gpt4", f"model.base_url=http://127.0.0.1:{server.stdout.readline().strip()}/v1"]
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
    server.terminate()
    hydra = found["a Hydra program that does nothing"]
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, median of {runs}\n")
    print("| whole process | seconds | times bare Hydra |\n| --- | ---: | ---: |")
    for what, took in found.items():
        print(f"| {what} | {took:.2f} | {took / hydra:.1f} |")


if __name__ == "__main__":
    main()
