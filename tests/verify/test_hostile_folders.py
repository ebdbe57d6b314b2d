"""A results folder that anybody may have made: commands that read it import, run and write nothing that it names.

No command hangs or ends in a traceback, and a good run beside the hostile one is still checked and shown.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import watched_reading
from support.resealing import change, lines, reseal, save_lines
from watched_reading import SECRET, place

CANARY = "open('/proc/self/cwd/PWNED', 'a').write('code ran')\ndef f(response): return response\nclass X: pass\n"
TRAPS = ("evil", "org", "yaml", "numpy", "hydra_plugins", "tornado")
"""Modules beside the runs, some by the names of packages that are installed or that packages try to import."""

Kind = Callable[[Path], object]
"""Makes the run's folder hostile; its working directory is the one in which the traps lie."""


def _config(part: str, **settings: object) -> Kind:
    return lambda run: change(run, "manifest.json", lambda m: m["config"].setdefault(part, {}).update(settings))


def _words(**words: object) -> Kind:
    return lambda run: change(run, "manifest.json", lambda m: m["words"].update(words))


def _record(how: Callable[[dict], object]) -> Kind:
    def altered(run: Path) -> None:
        how((changed := lines(run))[0])
        save_lines(run, changed)

    return altered


def _named(name: str) -> Kind:
    """The run gives its model another name, wherever it says it."""

    def altered(run: Path) -> None:
        for file in ("result.json", "manifest.json"):
            change(run, file, lambda content: content["run"].update(model=name))
        change(run, "manifest.json", lambda m: m["config"]["model"].update(name=name))

    return altered


def _linked(run: Path) -> None:
    (run / "records.jsonl").replace("outside/copy")
    (run / "records.jsonl").symlink_to(Path("outside/copy").resolve())


def _pipe(run: Path) -> None:
    (run / "records.jsonl").unlink()
    os.mkfifo(run / "records.jsonl")


NOT_CHECKED: dict[str, Kind] = {
    "a class of the folder": _config("task", _target_="evil.X"),
    "a class of the system": _config("task", _target_="subprocess.Popen", args=["touch", "PWNED"]),
    "a function of ours": _config("task", _target_="harness.tasks.corr2cause.sources.read_rows"),
    "a parser of the folder": _words(parser="evil:f"),
    "a parser of the system": _words(parser="os:system"),
    "a data set of somebody": _config("task", source="hub", path="owner/data"),
    "a file that is not here": _config("task", source="file", path="gone.csv"),
}
"""What names something that no installed package has, or that is not here."""
WRONG: dict[str, Kind] = {
    "a file of other content": _config("task", source="file", path="outside/secret"),
    "a pipe as data": _config("task", source="file", path="fifo"),
    "a prompt by a path": _config("task", name="../../../../../../proc/self/cwd"),
    "records that are a link": _linked,
    "records that are a pipe": _pipe,
    "wide words": _words(user="{premise:>9999999999} {statement}"),
    "words of attributes": _words(user="{premise.__class__.__mro__} {statement}"),
    "many samples": lambda run: change(run, "manifest.json", lambda m: m["config"].update(samples=10**12)),
    "huge numbers": _record(lambda line: line["response"].update(seconds=10**400)),
    "half a character": _record(lambda line: line["groups"].update({"relation": "\ud800"})),
    "no result": lambda run: (run / "result.json").write_text("{}"),
}
NAMES: dict[str, Kind] = {
    "a class of the folder as the model": _config("model", _target_="evil.X"),
    "a path up": _named("../../../../outside/x"),
    "control characters": _named("x\x1b[2A\x1b[0J\nsent: holds\r\n\x1b[8m"),
}
"""What a model may be called, and be made by: verify makes it again only where it is ours."""
KINDS = NOT_CHECKED | WRONG | NAMES


@pytest.fixture
def surroundings(finished_runs, tmp_path, monkeypatch) -> Path:
    """The working directory: traps of every kind, a good run, and secrets outside of what was sent."""
    monkeypatch.chdir(tmp_path)
    for module in (*dict.fromkeys(module for module, _ in watched_reading.COMMANDS.values()), *watched_reading.HEAVY):
        importlib.import_module(module)  # once, so that no fork has to
    monkeypatch.setenv("MPLCONFIGDIR", str(finished_runs.parent / "matplotlib"))
    for folder in ("sent", "outside", "out", "configs/task", "prompts/corr2cause"):
        Path(folder).mkdir(parents=True)
    for name in TRAPS:
        Path(f"{name}.py").write_text(CANARY)
    Path("configs/task/corr2cause.yaml").write_text("_target_: evil.X\n")
    Path("configs/config.yaml").write_text("task: {_target_: evil.X}\n")
    Path("prompts/corr2cause/plain.yaml").write_text("source: s\nmakes: [chat]\nuser: '{premise}'\nparser: evil:f\n")
    os.mkfifo("fifo")
    Path("outside/secret").write_text(SECRET)
    shutil.copytree(place(finished_runs, "reasoner"), "good")
    for name, kind in KINDS.items():
        run = Path("sent", name.replace(" ", "_"))
        shutil.copytree(place(finished_runs, "random_uniform"), run)
        kind(run)
        if (run / "records.jsonl").is_file() and name not in ("records that are a link", "no result"):
            reseal(run)
    return tmp_path


def check(reading: watched_reading.Reading, there: Path) -> None:
    """The command imported, ran and wrote nothing but what is its own, and told no secret."""
    assert reading.sane, f"{reading.code} {reading.out[-500:]}{reading.err[-3000:]}"
    assert not (there / "PWNED").exists()
    assert not [name for name in reading.modules if name.partition(".")[0] in ("evil", "org", "tornado")]
    assert not [what for what in reading.foreign if "dlopen" not in what and "fc-list" not in what]
    assert not {str(there), "", "."} & set(reading.path), "what reads has the working directory on its path"
    opened = (file for file, writes in reading.opened if writes and "__pycache__" not in file)
    assert not [file for file in opened if not _may_write(file, there)]
    made = [file for file in (there / "out").rglob("*") if file.is_file()]
    assert not any(SECRET.encode() in file.read_bytes() for file in made)
    assert SECRET not in reading.out + reading.err and "\x1b" not in reading.err


def _may_write(file: str, there: Path) -> bool:
    return Path(file).is_relative_to(there / "out") or "matplotlib" in file or file.startswith("/dev/null")


def test_verify_says_what_does_not_hold_and_what_is_not_here(surroundings):
    reading = watched_reading.read("verify", ["sent", "good"], surroundings)
    check(reading, surroundings)
    verdicts = dict(line.rsplit(": ", 1) for line in reading.out.splitlines() if line.startswith(("sent/", "good:")))
    for name in KINDS:
        found = verdicts.pop(f"sent/{name.replace(' ', '_')}", verdicts.get("sent/no_result", ""))
        expected = "NOT CHECKED" if name in NOT_CHECKED else "holds" if name in NAMES else "DOES NOT HOLD"
        assert found == expected or name == "no result", f"{name}: {found}"
    assert verdicts == {"good": "holds"} and "evil.X, which no installed package has" in reading.out


@pytest.mark.parametrize("command", [name for name in watched_reading.COMMANDS if name not in ("verify", "compare")])
def test_a_command_shows_the_good_run_beside_all_hostile_ones(surroundings, command):
    shutil.rmtree("sent/no_result")  # which ends a table in a sentence
    if command == "reread":  # what today's rules have read is not opened
        for name in NOT_CHECKED:
            run = Path("sent", name.replace(" ", "_"))
            change(run, "manifest.json", lambda manifest: manifest.pop("reading"))
            reseal(run)
    reading = watched_reading.read(command, ["sent", "good"], surroundings)
    check(reading, surroundings)
    assert reading.code == (1 if command == "reread" else 0), reading.err


@pytest.mark.parametrize("name", list(KINDS)[::6])
def test_a_comparison_with_a_hostile_run_is_made_or_refused_in_a_sentence(surroundings, name):
    reading = watched_reading.read("compare", [f"sent/{name.replace(' ', '_')}", "good"], surroundings)
    check(reading, surroundings)
    assert reading.code == 0 or len(reading.err.splitlines()) == 1


@pytest.mark.parametrize("path", [None, "::", "."])
def test_an_archive_is_verified_without_any_of_its_code(surroundings, path):
    """An empty entry of PYTHONPATH means the working directory, as `export PYTHONPATH=$PYTHONPATH:/mine` makes one."""
    environment = {**os.environ, **({} if path is None else {"PYTHONPATH": path})}
    command = [Path(sys.executable).with_name("harness"), "verify", "good"]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert process.returncode == 0 and "1 of 1 runs hold" in process.stdout, process.stderr
    assert not (surroundings / "PWNED").exists()
