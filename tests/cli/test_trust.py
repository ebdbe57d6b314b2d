"""A folder that somebody sent: none of its code runs but what the user has named, or marked the folder for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.thinned import few

from harness import trust
from harness.errors import ConfigError
from harness.settings import class_of

DECOYS = ("org", "msvcrt", "nt", "_winapi", "tornado", "hydra_plugins", "ipywidgets", "java", "yaml", "numpy", "evil")
"""Modules that packages try to import where most machines have none of that name, and some that are there."""
TRAP = "open({place!r}, 'a').write(__name__ + '\\n')\n"
WATCHED = """\
import os, sys
here = os.getcwd()
def watch(event, arguments):
    if event == "import" and {"", ".", here} & set(sys.path):
        os.write(2, b"the working directory is on the path\\n")
        os._exit(66)
sys.addaudithook(watch)
from harness.__main__ import main
main()
"""
"""What the script harness does, watched at each import."""
COMMANDS = {
    "version": ["--version"],
    "help": ["--help"],
    "run": ["model=always_no", "task.limit=4", "results=own"],
    "dry run": ["model=always_no", "task.limit=4", "dry_run=true"],
    "sweep": ["-m", "model=always_no,always_yes", "task.limit=4", "results=own"],
    "verify": ["verify", "sent"],
    "report": ["report", "sent", "out=report.html"],
    "leaderboard": ["leaderboard", "sent"],
    "compare": ["compare", "sent"],
    "plot": ["plot", "sent"],
    "export": ["export", "sent", "to=csv", "out=records"],
    "reread": ["reread", "sent", "out=again"],
    "cache": ["cache", "stats"],
    "items": ["items", "task.limit=2", "out=-"],
}


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the runs of two models below sent/, and traps of every kind beside them."""
    from support import forks

    folder = tmp_path_factory.mktemp("archive")
    for model in ("always_no", "always_yes"):
        assert forks.run("harness", [f"model={model}", "task.limit=4", "results=sent"], folder, {}).returncode == 0
    trap = TRAP.format(place=str(folder / "sprung"))
    for name in DECOYS:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(trap)
    (folder / "configs/task").mkdir(parents=True)
    (folder / "configs/task/mine.yaml").write_text("_target_: evil.Task\nname: corr2cause/mine\n")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", few(COMMANDS, 2))
def test_no_command_has_the_working_directory_on_its_path(sent, name):
    process = subprocess.run(
        [sys.executable, "-P", "-c", WATCHED, *COMMANDS[name]], cwd=sent, capture_output=True, text=True, timeout=300
    )
    assert process.returncode in (0, 1) and "on the path" not in process.stderr, process.stderr
    assert "Traceback" not in process.stderr and not (sent / "sprung").exists()


def script(*arguments: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [Path(sys.executable).with_name("harness"), *arguments]
    environment = {**os.environ, **variables}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("path", few(["::", None, ":/usr/share", "/usr/share:", "."], 1))
def test_an_archive_is_verified_without_any_of_its_code(sent, path):
    """An empty entry of PYTHONPATH means the working directory, as `export PYTHONPATH=$PYTHONPATH:/mine` makes one."""
    process = script("verify", "sent", folder=sent, **({} if path is None else {"PYTHONPATH": path}))
    assert process.returncode == 0 and "2 of 2 runs hold" in process.stdout, process.stderr
    assert not (sent / "sprung").exists()


@pytest.mark.slow
def test_a_marked_folder_stays_on_the_path_that_names_it(tmp_path):
    variables = {"PYTHONPATH": ":", "XDG_CONFIG_HOME": str(tmp_path / "home")}
    (tmp_path / "org.py").write_text(TRAP.format(place=str(tmp_path / "sprung")))
    assert script("trust", ".", folder=tmp_path, **variables).returncode == 0 and not (tmp_path / "sprung").exists()
    assert script("--help", folder=tmp_path, **variables).returncode == 0 and (tmp_path / "sprung").exists()


def test_a_python_of_another_program_has_no_empty_entry_on_its_path(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":/mine:")
    assert trust.child_environment() == {"PYTHONSAFEPATH": "1", "PYTHONPATH": "/mine"}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Stand in an empty folder, in a process that has imported nothing of it before or after."""
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    monkeypatch.setattr(trust, "_own", set())
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def test_a_module_that_is_named_is_found_by_its_file_with_what_lies_beside_it(here):
    (here / "mine_a.py").write_text(
        "import mine_b\nfrom mine_c.part import VALUE\nclass Task: value = mine_b.X + VALUE\n"
    )
    (here / "mine_b.py").write_text("X = 1\n")
    (here / "mine_c").mkdir()
    (here / "mine_c/__init__.py").write_text("")
    (here / "mine_c/part.py").write_text("from .other import VALUE\n")
    (here / "mine_c/other.py").write_text("def late():\n    import mine_d\n    return mine_d.X\nVALUE = 2\n")
    (here / "mine_d.py").write_text("X = 3\n")
    assert class_of("mine_a.Task", "task").value == 3
    assert sys.modules["mine_c.other"].late() == 3, "also what it imports later"
    with pytest.raises(ModuleNotFoundError):
        __import__("mine_e")
    (here / "mine_e.py").write_text("raise SystemError('nobody has named it')\n")
    with pytest.raises(ModuleNotFoundError):
        __import__("mine_e")
    assert str(here) not in sys.path


def test_what_a_named_module_asks_installed_packages_for_is_not_looked_for_in_the_folder(here):
    (here / "org.py").write_text(TRAP.format(place=str(here / "sprung")))
    # pickle, of the standard library, tries `org.python.core` of another Python.
    (here / "mine_f.py").write_text("import importlib, pickle\nimportlib.reload(pickle)\nclass Task: pass\n")
    class_of("mine_f.Task", "task")
    assert not (here / "sprung").exists()


@pytest.mark.parametrize("text", ["raise KeyError('x')\n", "import mine_nowhere\n", "class Task(:\n"])
def test_a_named_module_that_cannot_be_imported_is_one_sentence_each_time(here, text):
    (here / "mine_g.py").write_text(text)
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"task\._target_=mine_g\.Task cannot be imported: "):
            class_of("mine_g.Task", "task")


MODEL = "defaults: [always_no, _self_]\np_yes: 1\n"
PROMPT = "source: mine\nmakes: [chat]\nuser: '{premise} {hypothesis} So?'\nparser: evilp:read\n"
SHADOWS = {
    "configs/model/always_no.yaml": (MODEL, "model=builtin:always_no"),
    "configs/cache/on.yaml": ("mode: 'off'\npath: elsewhere\n", "cache=builtin:on"),
    "configs/task/corr2cause.yaml": ("_target_: evilp.Task\nlimit: null\n", "task=builtin:corr2cause"),
    "prompts/corr2cause/plain.yaml": (PROMPT, "prompt=builtin:plain"),
}


@pytest.mark.parametrize("place", few(SHADOWS, 1))
def test_a_file_in_the_place_of_a_shipped_one_counts_in_a_marked_folder_only(harness, tmp_path, place):
    content, way_out = SHADOWS[place]
    (tmp_path / place).parent.mkdir(parents=True)
    (tmp_path / place).write_text(content)
    (tmp_path / "evilp.py").write_text(TRAP.format(place=str(tmp_path / "sprung")))
    line = ("model=always_no", "task.limit=4")
    sweep = ("-m", "model=always_no,always_yes", "task.limit=4")
    for arguments in (line, (*line, "dry_run=true"), sweep)[:: 1 if "model" in place else 3]:
        process = harness(*arguments)
        assert process.returncode == 1 and not (tmp_path / "sprung").exists()
        assert f"{place} of this folder would be used in place of the one that ships" in process.stderr
        assert "`harness trust .`" in process.stderr and way_out in process.stderr
    assert harness(*line, way_out, "results=shipped").returncode == 0
    assert "is trusted" in harness(".", module="harness.trust").stdout
    harness(*line, "results=own")
    assert (tmp_path / "sprung").exists() == ("evilp" in content)
    assert "no longer" in harness("--revoke", str(tmp_path), module="harness.trust").stdout
    assert "would be used in place" in harness(*line, "results=again").stderr


def test_what_lies_in_a_marked_folder_is_not_marked_and_marks_outlive_the_process(tmp_path, monkeypatch, capsys):
    (tmp_path / "unpacked").mkdir()
    assert trust.main([str(tmp_path)]) == 0 and trust.trusted(tmp_path) and not trust.trusted(tmp_path / "unpacked")
    trust._marked.cache_clear()
    assert trust.trusted(tmp_path) and not trust.trusted(tmp_path.parent)
    link = tmp_path.parent / "link"
    link.symlink_to(tmp_path)
    assert trust.trusted(link)
    link.unlink()
    capsys.readouterr()
    trust.main([])
    assert capsys.readouterr().out == f"{tmp_path.resolve()}\n"
    assert trust.main(["--nothing"]) == 1 and trust.main([str(tmp_path / "no")]) == 1
    monkeypatch.setenv("XDG_CONFIG_HOME", ".")
    assert trust._file().is_absolute(), "not of the folder"
    monkeypatch.setenv("XDG_CONFIG_HOME", os.devnull)
    assert trust.main([str(tmp_path)]) == 1 and "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a\n", "a\u2028b", "\udcff"])
def test_a_folder_whose_name_would_mark_others_is_refused(here, monkeypatch, capsys, name):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(here / "settings"))
    (here / name / "home").mkdir(parents=True)
    assert trust.main([str(here / name / "home")]) == 1
    assert "cannot stand in a list" in capsys.readouterr().err and not (here / "settings").exists()


def test_a_prompt_in_a_folder_whose_name_begins_as_prompts_is_the_user_s_own(here):
    from harness.config_files import PROMPTS, own_file

    (here / "prompts2").mkdir()
    (here / "prompts2/x.yaml").write_text("user: Well?\n")
    assert [*own_file(here / "prompts2/x.yaml", PROMPTS)] == ["prompts2/x.yaml"]


def test_no_name_that_a_shell_would_run_is_offered_to_complete_a_command(here, monkeypatch, capsys):
    from harness.cli import commands

    (here / "configs/model").mkdir(parents=True)
    for name in ("zz$(touch x)", "zz;reboot", "zz`id`", "zzmine"):
        (here / f"configs/model/{name}.yaml").write_text("defaults: [always_no]\n")
    monkeypatch.setattr("sys.argv", ["harness", "-sc", "query=bash"])
    monkeypatch.setenv("COMP_LINE", "harness model=zz")
    assert commands.complete() == 0 and capsys.readouterr().out.split("\n") == ["model=zzmine", ""]
