"""A results folder that anybody may have made, under every command that reads one.

Nothing that the folder names is imported, opened, started, asked or written, no command hangs or ends in a traceback,
and a good run beside the hostile one is still checked and shown.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import watched_reading
from support import pseudo_terminal
from support.resealing import change, lines, reseal, save_lines
from support.thinned import few
from watched_reading import SECRET, place

from harness.errors import DataError
from harness.storage import records

CANARY = "open('/proc/self/cwd/PWNED', 'a').write('code ran')\ndef f(response): return response\nclass X: pass\n"
FOREIGN = ("sent", "antigravity", "this", "unittest.__main__", "evil", "evilp", "pip", "idlelib", "turtle")

Kind = Callable[[Path], object]
"""Makes the run's folder hostile; its working directory is the one in which sent/ lies."""


def _config(part: str, **settings: object) -> Kind:
    return lambda run: change(run, "manifest.json", lambda m: m["config"].setdefault(part, {}).update(settings))


def _words(**words: object) -> Kind:
    return lambda run: change(run, "manifest.json", lambda m: m["words"].update(words))


def _manifest(how: Callable[[dict], object]) -> Kind:
    return lambda run: change(run, "manifest.json", how)


def _result(how: Callable[[dict], object]) -> Kind:
    return lambda run: change(run, "result.json", how)


def _records(how: Callable[[dict], object]) -> Kind:
    def altered(run: Path) -> None:
        changed = lines(run)
        how(changed[0])
        save_lines(run, changed)

    return altered


def _benchmark_beside(run: Path) -> None:
    """A config beside the run says of its task what benchmark it belongs to."""
    _kind_named("task", "evil")(run)
    Path("sent/configs/task").mkdir(parents=True, exist_ok=True)
    Path("sent/configs/task/evil.yaml").write_text("_target_: sent.evil.X\nname: evil\n")


def _kind_named(part: str, name: str) -> Kind:
    """The run gives itself another name, wherever it says it."""

    def altered(run: Path) -> None:
        for file in ("result.json", "manifest.json"):
            change(run, file, lambda content: content["run"].update({part: name}))
        if part == "model":
            change(run, "manifest.json", lambda m: m["config"]["model"].update(name=name))

    return altered


def _linked(name: str) -> Kind:
    def altered(run: Path) -> None:
        shutil.copy(run / name, "outside/copy")
        (run / name).unlink()
        (run / name).symlink_to(Path("outside/copy").resolve())

    return altered


def _replaced(name: str, make: Callable[[Path], object]) -> Kind:
    def altered(run: Path) -> None:
        (run / name).unlink()
        make(run / name)

    return altered


def _socket(path: Path) -> None:
    here = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listener:  # bound by a short name: paths of sockets have 108 characters
        listener.bind(f"/proc/self/fd/{here}/{path.name}")
    os.close(here)


def _device(path: Path) -> None:
    try:
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))  # zeros without end
    except OSError:  # only root may
        os.mkfifo(path)


def _text(name: str, text: Callable[[str], str]) -> Kind:
    def altered(run: Path) -> None:
        (run / name).write_text(text((run / name).read_text(encoding="utf-8")), encoding="utf-8")

    return altered


def _prompt_beside(run: Path) -> None:
    """A prompt file in what was sent, which the name of the task leads to: /proc/self/cwd is the working directory."""
    change(run, "manifest.json", lambda m: m["config"]["task"].update(name="/proc/self/cwd/sent"))
    change(run, "manifest.json", lambda m: (m["run"].update(prompt="evil"), m["config"].update(prompt="evil")))
    change(run, "result.json", lambda r: r["run"].update(prompt="evil"))


def _many_records(run: Path) -> None:
    save_lines(run, lines(run) * 40)


def _linked_graphs(run: Path) -> None:
    shutil.rmtree(run / "graphs", ignore_errors=True)
    (run / "graphs").symlink_to(Path("outside").resolve())


def _linked_network(run: Path) -> None:
    (run / "graphs/asia").mkdir(parents=True, exist_ok=True)
    for file in ("cause.csv", "direct_cause.csv"):
        (run / f"graphs/asia/{file}").unlink(missing_ok=True)
        (run / f"graphs/asia/{file}").symlink_to(Path("outside/asia/cause.csv").resolve())


DEEP = "[" * 5000 + "]" * 5000
C2C = "harness.tasks.corr2cause"

CODE: dict[str, Kind] = {
    "unittest": _config("task", _target_="unittest.__main__.x"),
    "antigravity": _config("task", _target_="antigravity.x"),
    "own module": _config("task", _target_="sent.evil.X"),
    "own module of a model": _config("model", _target_="sent.evil.X"),
    "os.system": _config("task", _target_="os.system", command="touch PWNED"),
    "Popen": _config("task", _target_="subprocess.Popen", args=["touch", "PWNED"]),
    "model as a task": _config("task", _target_="harness.tasks.corr2cause.reasoner.Reasoner"),
    "another name of a module": _config("task", _target_=f"{C2C}.sources.from_file"),
    "the class by another way": _config("task", _target_=f"{C2C}.task.Corr2Cause"),
    "a model's function": _config("model", _target_="harness.models.api.openai.re"),
    "prompt file": _manifest(lambda m: m["config"].update(prompt="sent/evil.yaml")),
    "prompt file of objects": _manifest(lambda m: m["config"].update(prompt="sent/object.yaml")),
    "prompt file by the task's name": _prompt_beside,
    "prompt file by a path": _config("task", name="../../../../../../proc/self/cwd/sent"),
    "benchmark by a config beside it": _benchmark_beside,
    "benchmark by the name of a module": _kind_named("task", "antigravity"),
    "parser": _words(parser="sent.evilp:f"),
    "parser of the system": _words(parser="os:system"),
    "parser without a module": _words(parser="import_module"),
    "parser that is a constant": _words(parser="annotations"),
}
"""What would run code."""

OUTSIDE: dict[str, Kind] = {
    "a pipe as data": _config("task", source="file", path="sent/fifo"),
    "a secret as data": _config("task", source="file", path="outside/secret"),
    "the hub": _config("task", source="hub", path="owner/data"),
    "the environment": _config("model", _target_="harness.models.api.openai.Chat", name="m", model="m",
                               base_url="http://127.0.0.1:9/v1", api_key_env="SECRET_VARIABLE"),
    "linked records": _linked("records.jsonl"),
    "linked manifest": _linked("manifest.json"),
    "linked graphs": _linked_graphs,
    "linked tables": _linked_network,
    **{f"{what} as {name}": _replaced(name, make)
       for name in ("records.jsonl", "manifest.json")
       for what, make in (("pipe", os.mkfifo), ("socket", _socket), ("device", _device), ("folder", Path.mkdir))},
}  # fmt: skip
"""What would open something else than the files of the folder."""

SIZES: dict[str, Kind] = {
    "wide words": _words(user="{premise:>9999999999} {statement}"),
    "words of attributes": _words(user="{premise.__class__.__mro__} {statement}"),
    "words of items": _words(user="{premise[0]} {statement!r:>999999999}"),
    "many words": _words(user="{premise}" * 100_000),
    "an opening for each letter": _words(opening=["{value}{premise}"], opening_for_each="premise"),
    "many classes": _config("task", split="all", num_nodes=[10], classes=100_000, labels=None, limit=5),
    "many items": _config("task", split="all", num_nodes=[7], limit=None),
    "many variables": _config("task", split="all", num_nodes=[10**6]),
    "endless limit": _config("task", limit=10**18),
    "many rows": _config("task", _target_="harness.tasks.causalbench.Causality", name="causalbench/causality",
                         rows=10**9, parts=10**9, format="data"),
    "many samples": _manifest(lambda m: m["config"].update(samples=10**12)),
    "many records": _many_records,
    "deep manifest": _text("manifest.json", lambda text: text.replace('"config":', f'"config": {DEEP}, "old":', 1)),
    "deep record": _text("records.jsonl", lambda text: text.replace('"usage"', f'"x": {DEEP}, "usage"', 1)
                         if '"usage"' in text else text.replace('"response": {', f'"response": {{"x": {DEEP}, ', 1)),
    "huge seconds": _records(lambda line: line["response"].update(seconds=10**400)),
    "huge tokens": _records(lambda line: line["response"].update(usage={"input": 10**400})),
    "endless seconds": _records(lambda line: line["response"].update(seconds=float("inf"))),
    "probability of nothing": _records(lambda line: line["answer"].update(probability=float("nan"))),
    "huge count": _manifest(lambda m: m["items"].update(count=10**4000)),
    "huge price": _manifest(lambda m: m.update(price={"input": [[0, 1e308]], "output": [[10**400, 1e308]]})),
}  # fmt: skip
"""What would take for ever, or all memory."""

NAMES: dict[str, Kind] = {
    "half a character": _records(lambda line: line["groups"].update({"relation": "\ud800"})),
    "half a character in settings": _manifest(lambda m: m["config"].update({"\udfff": "\ud800"})),
    "names of prototypes": _kind_named("model", "__proto__"),
    "a path up": _kind_named("model", "../../../../outside/x"),
    "a path from the root": _kind_named("task", "/tmp/outside/x"),
    "a path in the variant": _kind_named("variant", "/../../../outside/x"),
    "a path in the prompt": _kind_named("prompt", "../../../../outside/x"),
    "control characters": _kind_named("model", "x\x1b[2A\x1b[0J\nsent: holds\r\n\x1b[8m"),
    "text from right to left": _kind_named("model", "\u202esdloh :x\u2066"),
    "a formula": _kind_named("model", "=cmd|' /C calc'!A0"),
    "unit of a path": _records(lambda line: line.update(unit="../../x -> /etc/passwd")),
    "unit of no text": _records(lambda line: line.update(unit=["asia", "tub"])),
    "unit of no pair": _records(lambda line: line.update(unit="asia -> tub -> either")),
    "group of a path": _records(lambda line: line["groups"].update({"../../x": "/etc/passwd", "network": "../../x"})),
    "item of a path": _records(lambda line: line.update(item="../../../outside/x")),
}
"""What is called in a way that another program could stumble over."""

KINDS = CODE | OUTSIDE | SIZES | NAMES
HARMLESS = (
    *("linked graphs", "linked tables", "own module of a model"),
    *("names of prototypes", "a path up", "control characters", "text from right to left", "a formula"),
)
"""Nothing that verify makes again is another: graphs/ belongs to other tasks' runs, a model may be anybody's and have
any name."""

RESULTS: dict[str, Kind] = {
    "linked": _linked("result.json"),
    "pipe": _replaced("result.json", os.mkfifo),
    "socket": _replaced("result.json", _socket),
    "device": _replaced("result.json", _device),
    "a gigabyte": lambda run: os.truncate(run / "result.json", 1 << 30),
    "deep": _text("result.json", lambda text: DEEP),
    "deep objects": _text("result.json", lambda text: text.replace("{", f'{{"x": {DEEP}, ', 1)),
    "not a number": _result(lambda r: r["scores"][r["headline"]]["overall"]["all"].update(f1=float("nan"))),
    "huge number": _result(lambda r: r["scores"][r["headline"]]["overall"]["all"].update(items=10**400)),
    "huge share": _result(lambda r: r["scores"][r["headline"]]["overall"]["all"].update(f1=1e308)),
    "half a character": _result(lambda r: r["run"].update(model="\ud800")),
    "names twice": _text("result.json", lambda text: text.replace('"complete"', '"complete": true, "complete"', 1)),
    "many values": _text("result.json", lambda text: f'{{"x": [{"[]," * 2_000_000}0], {text[1:]}'),
    "UTF-16": lambda run: (run / "result.json").write_bytes((run / "result.json").read_text().encode("utf-16")),
    "a list": _text("result.json", lambda text: f"[{text}]"),
    "nothing": _text("result.json", lambda text: "{}"),
    "no headline": _result(lambda r: r.update(headline="__class__")),
}
"""What stands in the place of result.json. Where it is none, no table is made that leaves the run out unsaid."""


@pytest.fixture
def surroundings(finished_runs, tmp_path, monkeypatch) -> Path:
    """The working directory: sent/ with traps beside its runs, a good run, and secrets outside of both."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SECRET_VARIABLE", SECRET)
    monkeypatch.setattr("harness.storage.rebuild.SPARE", 100)  # what is counted and no more, without a million lines
    for module in (*dict.fromkeys(module for module, _ in watched_reading.COMMANDS.values()), *watched_reading.HEAVY):
        importlib.import_module(module)  # once, so that no fork has to
    monkeypatch.setenv("MPLCONFIGDIR", str(finished_runs.parent / "matplotlib"))
    for folder in ("sent", "outside/asia", "out"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("__init__.py", "evil.py", "evilp.py", "sitecustomize.py", "usercustomize.py", "yaml.py", "numpy.py"):
        (tmp_path / "sent" / name).write_text(CANARY)
    words = json.dumps({"source": "s", "makes": ["chat"], "user": "{premise}", "parser": "sent.evilp:f"})
    (tmp_path / "sent/evil.yaml").write_text(words)
    (tmp_path / "sent/object.yaml").write_text("user: !!python/object/apply:os.system ['touch PWNED']\n")
    os.mkfifo(tmp_path / "sent/fifo")
    (tmp_path / "outside/secret").write_text(SECRET)
    (tmp_path / "outside/asia/cause.csv").write_text(SECRET)
    shutil.copytree(place(finished_runs, "reasoner"), tmp_path / "good")
    return tmp_path


@pytest.mark.slow
def test_folders_a_thousand_levels_deep_are_looked_through(finished_runs, surroundings):
    hostile(finished_runs, "deep", {"deep": lambda run: None})
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir("sent/deep")
        for _ in range(1200):
            Path("d").mkdir()
            os.chdir("d")
        os.fchdir(here)
        for command in ("verify", "leaderboard", "export csv"):
            assert watched_reading.read(command, ["sent"], surroundings).code == 0
    finally:
        os.fchdir(here)
        os.close(here)
        subprocess.run(["rm", "-rf", "sent/deep"], check=True)


def hostile(finished_runs: Path, name: str, kinds: dict[str, Kind], model: str = "random_uniform") -> Path:
    """The folder of a run that is hostile in one way, all digests made again as far as they can be."""
    run = Path("sent", name.replace(" ", "_"))
    shutil.copytree(place(finished_runs, model), run)
    kinds[name](run)
    files = [run / file for file in ("records.jsonl", "manifest.json", "result.json")]
    if all(file.is_file() and not file.is_symlink() and file.stat().st_size < 1 << 20 for file in files):
        with contextlib.suppress(ValueError, RecursionError, TypeError, KeyError, AttributeError):
            reseal(run)
    return run


def check(reading_: watched_reading.Reading, there: Path, before: set[Path], name: str) -> None:
    """The command did nothing but to read what it may, and to write into out/."""
    assert reading_.sane, f"{name}: {reading_.code} {reading_.out[-500:]}{reading_.err[-3000:]}"
    assert not (there / "PWNED").exists() and not (there / "sent/PWNED").exists(), name
    assert not [module for module in reading_.modules if module.partition(".")[0] in FOREIGN or module in FOREIGN], name
    assert not [what for what in reading_.foreign if "dlopen" not in what and "fc-list" not in what], name
    opened = (file for file, writes in reading_.opened if writes and "__pycache__" not in file)  # Python's own
    written_files = [file for file in opened if not _may_write(file, there)]
    assert not written_files, f"{name} writes {written_files}"
    outside = [file for file, _ in reading_.opened if Path(file).is_relative_to(there / "outside")]
    assert not outside, f"{name} opens {outside}"
    files = [file for file in there.rglob("*") if file.is_file() and not file.is_symlink() and file not in before]
    assert all(file.is_relative_to(there / "out") for file in files), f"{name} leaves {files}"
    leaks = [file for file in files if SECRET.encode() in file.read_bytes()]
    assert not leaks and SECRET not in reading_.out + reading_.err, f"{name} shows the secret"
    output = reading_.err + (reading_.out if name == "verify" else "")  # tables are drawn by what knows of terminals
    assert "\x1b" not in output and "\u202e" not in output, name


def _may_write(file: str, there: Path) -> bool:
    return Path(file).is_relative_to(there / "out") or "matplotlib" in file or file.startswith("/dev/null")


def snapshot(there: Path) -> set[Path]:
    return {file for file in there.rglob("*") if file.is_file() and not file.is_symlink()}


def fresh(there: Path) -> None:
    shutil.rmtree(there / "out")
    (there / "out").mkdir()


def verdicts(output: str) -> dict[str, str]:
    """By the name of the run's folder."""
    split = (line.partition(": ") for line in output.splitlines() if not line.startswith(" ") and ": " in line)
    return {Path(folder).name: verdict for folder, _, verdict in split}


@pytest.mark.slow
def test_no_hostile_run_holds_and_the_good_one_beside_all_of_them_does(finished_runs, surroundings):
    for name in KINDS:
        hostile(finished_runs, name, KINDS)
    for name in RESULTS:
        hostile(finished_runs, f"result {name}", {f"result {name}": RESULTS[name]})
    before = snapshot(surroundings)
    read = watched_reading.read("verify", ["sent", "good"], surroundings)
    check(read, surroundings, before, "verify")
    verdict_of = verdicts(read.out)
    assert read.code == 1 and verdict_of.pop("good") == "holds"
    expected = {name.replace(" ", "_") for name in KINDS} | {f"result_{name.replace(' ', '_')}" for name in RESULTS}
    assert set(verdict_of) == expected
    holding = {name for name, verdict in verdict_of.items() if verdict not in ("DOES NOT HOLD", "NOT CHECKED")}
    assert holding <= {name.replace(" ", "_") for name in HARMLESS}, read.out
    assert len(max(read.out.splitlines(), key=len)) < 1100


def _of_older_rules(kind: Kind) -> Kind:
    """The run also says that other rules read its replies, and has links where files are written."""

    def altered(run: Path) -> None:
        with contextlib.suppress(OSError, ValueError):
            change(run, "manifest.json", lambda m: m.update(reading={"version": 0, "rules": "0"}))
        kind(run)
        for name in (".records.jsonl.tmp", "records.partial.jsonl", ".manifest.json.tmp", ".begun.tmp"):
            (run / name).symlink_to(Path("outside/secret").resolve())
        if run.name == "a_formula":
            (run / ".lock").unlink()
            (run / ".lock").symlink_to(Path("outside/secret").resolve())

    return altered


@pytest.mark.slow
def test_reading_again_changes_no_hostile_run_and_writes_nothing_outside(finished_runs, surroundings):
    for name, kind in KINDS.items():
        hostile(finished_runs, name, {name: _of_older_rules(kind)})
    before = {file: file.stat().st_mtime_ns for file in snapshot(surroundings)}
    read = watched_reading.read("reread", ["sent", "good"], surroundings)
    assert read.sane and read.code == 1, read.err[-3000:]
    assert not list(surroundings.rglob("PWNED"))
    assert not [module for module in read.modules if module.partition(".")[0] in FOREIGN or module in FOREIGN]
    assert not [event for event in read.foreign if "dlopen" not in event and "git" not in event]
    changed = {file for file in snapshot(surroundings) if before.get(file) != file.stat().st_mtime_ns}
    runs_changed = {file.relative_to(surroundings).parts[1] for file in changed}
    assert {"own_module_of_a_model"} <= runs_changed <= {name.replace(" ", "_") for name in HARMLESS}, read.out
    assert (surroundings / "outside/secret").read_text() == SECRET and SECRET not in read.out + read.err
    assert "\x1b" not in read.err + read.out and "\u202e" not in read.err + read.out
    assert "good: it was read by today's rules already." in read.out


@pytest.mark.parametrize(
    "command",
    few(
        [
            pytest.param(
                name,
                marks=pytest.mark.slow
                if name == "plot" or (name.startswith("export") and name != "export csv")
                else (),
            )
            for name in watched_reading.COMMANDS
            if name not in ("verify", "reread", "compare")
        ],
        1,
    ),
)
def test_a_command_shows_the_good_run_beside_all_hostile_ones_and_nothing_that_they_name(
    finished_runs, surroundings, command
):
    """Whatever a run holds, it is shown or left out, and none ends what is made of the others."""
    for name in KINDS:
        hostile(finished_runs, name, KINDS)
    before = snapshot(surroundings)
    fresh(surroundings)
    read = watched_reading.read(command, ["sent", "good"], surroundings)
    check(read, surroundings, before, command)
    assert read.code == 0, read.err


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_comparison_with_a_hostile_run_is_made_or_refused_in_a_sentence(finished_runs, surroundings, name):
    run = hostile(finished_runs, name, KINDS)
    before = snapshot(surroundings)
    read = watched_reading.read("compare", [str(run), "good"], surroundings)
    check(read, surroundings, before, "compare")
    assert read.code == 0 or len(read.err.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", RESULTS)
def test_what_is_no_result_ends_a_table_in_a_sentence(finished_runs, surroundings, name):
    run = hostile(finished_runs, name, RESULTS)
    before = snapshot(surroundings)
    for command in ("leaderboard", "report", "compare", "export csv"):
        fresh(surroundings)
        read = watched_reading.read(command, [str(run), "good"], surroundings)
        check(read, surroundings, before, command)
        assert read.code == 1 and len(read.err.splitlines()) == 1 and "result.json" in read.err, (command, read)


def test_a_folder_that_is_the_working_directory_is_read_as_any_other(finished_runs, surroundings):
    """With configs, prompts and modules of its own, as somebody has who unpacks it and looks at it there."""
    run = hostile(finished_runs, "fine", {"fine": lambda run: None}, model="reasoner")
    for file, text in {
        "configs/task/corr2cause.yaml": "_target_: evil.X\n",
        "configs/config.yaml": "task: {_target_: evil.X}\n",
        "prompts/corr2cause/plain.yaml": json.dumps(
            {"source": "s", "makes": ["chat"], "user": "{premise}", "parser": "evilp:f"}
        ),
    }.items():
        Path("sent", file).parent.mkdir(parents=True, exist_ok=True)
        Path("sent", file).write_text(text)
    Path("sent/out").mkdir()
    before = snapshot(surroundings)
    for command in ("verify", "report", "leaderboard", "export eee"):
        read = watched_reading.read(command, [run.name], surroundings / "sent")
        check(read, surroundings / "sent", before, command)
        assert read.code == 0, (command, read.out, read.err)
        assert not [module for module in read.modules if module.startswith(("evil", "sent"))]
    assert not list(surroundings.rglob("PWNED"))


@pytest.mark.slow
def test_a_line_without_end_takes_no_more_memory_than_the_longest_that_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "LARGEST", 1 << 20)
    with gzip.open(tmp_path / "records.jsonl.gz", "wb", compresslevel=1) as file:
        for _ in range(256):
            file.write(b" " * (1 << 20))
    tracemalloc.start()
    with pytest.raises(DataError, match="holds a line of more than 1 MB"):
        list(records.lines(tmp_path / "records.jsonl.gz"))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 8 << 20


@pytest.mark.slow
def test_on_a_terminal_no_name_writes_over_the_verdict(finished_runs, surroundings):
    def fakes(run: Path) -> None:
        change(run, "result.json", lambda result: result["finish_reasons"].update({FAKE: 1}))

    hostile(finished_runs, "faker", {"faker": fakes})
    screen = pseudo_terminal.child(
        120, sys.executable, "-c", "from harness.verify.__main__ import main; main(['sent', 'good'])", cwd=surroundings
    )
    assert "sent/faker: DOES NOT HOLD" in screen.lines and "good: holds" in screen.lines
    assert "1 of 2 runs hold." in screen.lines and not any(
        line.startswith("sent/faker: holds") for line in screen.lines
    )


FAKE = "\x1b[2A\x1b[0Jsent/faker: holds\n2 of 2 runs hold.\n\x1b[8m"
