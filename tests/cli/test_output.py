"""Standard output and error of every command: with few characters, closed, full, or without a reader."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli.commands import summaries
from harness.runtime import console

PROGRAM = Path(__file__).with_name("every_command.py")
RUNS = [f"results/corr2cause/limit=5/plain/{name}" for name in ("always_no", "always_yes")]
LINES = {
    "run": ["model=random_uniform", "task.limit=6"],
    "leaderboard": ["results"],
    "report": ["results"],
    "plot": ["--help"],
    "compare": RUNS,
    "beliefs": ["--help"],
    "contamination": ["--help"],
    "gate": ["--help"],
    "verify": ["results"],
    "reread": ["results"],
    "reveal": ["--help"],
    "export": ["results", "to=csv"],
    "items": ["task.limit=2", "out=-"],
    "trust": ["--help"],
    "cache": ["stats", "cache=answers.jsonl"],
    "published": ["table=4"],
    "stories": ["--help"],
    "steps": ["--help"],
    "finetune": ["--help"],
    "discover": ["--help"],
    "league": ["--help"],
    "import": ["--help"],
}
"""A command line for each command, that of the cache a wrong one."""
QUICK = ("run", "leaderboard", "cache")
"""Of those that print what is not plain ASCII, the quickest, and the one whose command line is wrong."""
LOST = "what was to be printed is lost"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return a folder with results/, of two runs."""
    from support import forks

    folder = tmp_path_factory.mktemp("runs")
    for path in RUNS:
        arguments = [f"model={Path(path).name}", "task.limit=5"]
        assert forks.run("harness", arguments, folder, {}).returncode == 0
    (folder / "answers.jsonl").write_text("{}\n")
    return folder


LATIN, WINDOWS = {"PYTHONIOENCODING": "latin-1"}, {"PYTHONIOENCODING": "cp1252"}
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("redirected", "variables", "code"),
    [("", LATIN, 0), ("", WINDOWS, 0), (">&-", {}, 1), ("2>&-", {}, 0), (">&- 2>&-", {}, 1), ("2>/dev/full", {}, 0)],
)
def test_no_command_minds_what_becomes_of_its_output_whatever_it_prints(results, tmp_path, redirected, variables, code):
    check(LINES, results, tmp_path, redirected, variables, code)


@pytest.mark.parametrize(
    ("redirected", "variables", "code", "names"),
    [
        ("", ASCII, 0, QUICK),
        pytest.param("", ASCII, 0, LINES, marks=pytest.mark.slow),
        pytest.param(">/dev/full", {}, 1, LINES, marks=pytest.mark.slow),
        pytest.param("| true", {}, 0, LINES, marks=pytest.mark.slow),
    ],
)
def test_no_command_minds_what_becomes_of_its_output(results, tmp_path, redirected, variables, code, names):
    quick = {name: LINES[name] if name in QUICK else ["--help"] for name in names}
    check(quick, results, tmp_path, redirected, variables, code)


def check(lines, results, tmp_path, redirected, variables, code):
    """Run the commands and see that they end as they should, each error in one sentence."""
    assert LINES.keys() == summaries().keys()
    process = subprocess.run(
        ["sh", "-c", f'"$0" "$1" "$2" {redirected}', sys.executable, str(PROGRAM), str(tmp_path / "codes")],
        cwd=results,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(PROGRAM.parents[2])} | variables,
        input=json.dumps(lines).encode(),
        capture_output=True,
        timeout=300,
    )
    errors = process.stderr.decode(variables.get("PYTHONIOENCODING", "utf-8"))
    assert "Traceback" not in errors and "should not have been" not in errors and "Exception ignored" not in errors
    codes = json.loads((tmp_path / "codes").read_text())
    assert codes == dict.fromkeys(lines, code) | {"cache": 1}, errors
    if "2>" not in redirected:
        assert errors.count("error: ") == (len(lines) if code else 1)
        assert errors.count(LOST) == (len(lines) - 1 if code else 0)  # of a wrong command nothing was to be printed
    manifest = results / "results/corr2cause/limit=6/plain/random_uniform/manifest.json"
    assert json.loads(manifest.read_text())["complete"] is True
    if not redirected:
        output = process.stdout.decode(variables.get("PYTHONIOENCODING", "ascii"), "surrogateescape")
        assert "| all " in output and "corr2cause" in output


@pytest.mark.parametrize(
    ("encoding", "text", "written"),
    [
        ("latin-1", "F1 – 5 ± 2 × é …", b"F1 - 5 \xb1 2 \xd7 \xe9 ..."),
        ("ascii", "F1 – 5 ± 2 × é … “x” ≤ \N{NO-BREAK SPACE}²", b'F1 - 5 +/- 2 x e ... "x" <=  2'),
        ("cp1252", "− → 中", b"- -> \\u4e2d"),
        ("utf-8", "– \ud83d", "– ".encode() + b"\\ud83d"),
    ],
)
def test_what_an_encoding_cannot_hold_is_written_with_what_is_near(encoding, text, written):
    console.prepare_streams()
    assert text.encode(encoding, console.NEAREST) == written


def test_json_on_standard_output_is_utf_8_in_any_encoding(tmp_path):
    (tmp_path / "mine.jsonl").write_text(
        json.dumps({"premise": "Ein Café – 中.", "hypothesis": "So?", "label": 1, "relation": "parent", "var_i": "A"})
    )
    code = (
        "import sys\nfrom harness.runtime import console\nconsole.prepare_streams()\n"
        "from harness.storage.atomic_write import atomic_file\n"
        "print('–')\nwith atomic_file('-') as file: file.write('–\\n')\nprint('–')"
    )
    process = subprocess.run([sys.executable, "-c", code], env={"PYTHONIOENCODING": "latin-1"}, capture_output=True)
    assert process.stdout == b"-\n\xe2\x80\x93\n-\n", process.stderr
