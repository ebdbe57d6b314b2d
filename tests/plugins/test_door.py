"""Plug-ins: one made outside the project and installed, broken ones, and what is said without one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from support import forks
from support.page_help import Page

ROOT = Path(__file__).resolve().parents[2]
SECTIONS = ROOT.joinpath("docs", "adding.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"`([\w/]+\.\w+)`[^`\n]*(?:`[^`\n]*`[^`\n]*)*:\n\n```\w+\n(.*?)```", re.DOTALL)


def call(*arguments: str, cwd: Path, path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m …` in a fresh process whose path begins with `path`."""
    env = os.environ | {"PYTHONPATH": str(path), **variables}
    return subprocess.run(
        [sys.executable, "-P", "-m", *arguments], cwd=cwd, env=env, capture_output=True, text=True, timeout=300
    )


def blocks() -> dict[str, str]:
    """Return the files of docs/adding.md by the names that stand before them, and those of its model by language."""
    section = SECTIONS.partition("\n## A model\n")[2].partition("\n## ")[0]
    model = {part.partition("\n")[0]: part.partition("\n")[2] for part in section.split("```")[1::2]}
    plugin = SECTIONS.partition("\n## A plug-in\n")[2]
    named = {
        "pyproject.toml": re.findall(r"```toml\n(.*?)```", plugin, re.DOTALL)[0],
        **dict(zip(re.findall(r"^`(arrows_plugin/\w+\.py)`", plugin, re.M),
                   re.findall(r"```python\n(.*?)```", plugin, re.DOTALL), strict=True)),
    }  # fmt: skip
    return dict(BLOCK.findall(SECTIONS.partition("\n## A model\n")[0])) | named | {
        "my_models.py": model["python"], "configs/model/keyword.yaml": model["yaml"],
    }  # fmt: skip


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """Return a folder with the plug-in of docs/adding.md, built as a wheel and installed by pip."""
    files, project = blocks(), tmp_path_factory.mktemp("harness-arrows")
    package = "arrows_plugin"
    placed = {
        "pyproject.toml": files["pyproject.toml"],
        **{name: text for name, text in files.items() if name.startswith(f"{package}/")},
        f"{package}/arrows.py": files["arrows.py"],
        f"{package}/my_models.py": files["my_models.py"],
        f"{package}/prompts/arrows/plain.yaml": files["prompts/arrows/plain.yaml"],
        f"{package}/configs/task/arrows.yaml": files["configs/task/arrows.yaml"].replace(
            "arrows.A", f"{package}.arrows.A"
        ),
        f"{package}/configs/model/keyword.yaml": files["configs/model/keyword.yaml"].replace(
            "my_models.", f"{package}.my_models."
        ),
    }
    for name, text in placed.items():
        file = project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir", "-q"]
    site = tmp_path_factory.mktemp("site")
    wheels = site / "wheels"
    build = ["wheel", "--no-deps", "--no-index", "--no-build-isolation", "-w", str(wheels), str(project)]
    subprocess.run([*pip, *build], check=True, cwd=site, capture_output=True)
    (wheel,) = wheels.glob("*.whl")
    install = ["install", "--no-deps", "--no-index", "--target", str(site / "packages"), str(wheel)]
    subprocess.run([*pip, *install], check=True, cwd=site, capture_output=True)
    return site / "packages"


def test_a_plug_in_from_outside_is_used_from_help_to_page(installed, tmp_path):
    def ended(*arguments: str) -> str:
        process = forks.run(arguments[0], arguments[1:], tmp_path, os.environ | {"PYTHONPATH": str(installed)})
        assert process.returncode == 0, process.stderr
        return process.stdout

    told = "\n".join(
        ended("harness", "--help", *words) for words in ((), ("models",), ("tasks",), ("prompts",), ("task=arrows",))
    )
    for line in ("\n  share  ", "\n  arrows\n", "\n  keyword  ", "longest: 4", "prompt=  (task arrows)"):
        assert line in told, line
    ended("harness", "-m", "task=arrows", "model=keyword,always_yes", "task.longest=3")
    folder = "results/arrows/longest=3/plain/always_yes"
    assert f"{folder}: 8 of 8 answers are Yes" in ended("harness", "share", folder)
    board = ended("harness", "leaderboard", "results", "out=-")
    assert "keyword" in board
    assert "2 of 2 runs hold" in ended("harness", "verify", "results")
    ended("harness", "report", "results", "out=page.html")
    assert {run["model"] for run in Page(tmp_path / "page.html").runs.values()} == {"keyword", "always_yes"}
    assert "share" in call("harness", "nonsense", cwd=tmp_path, path=installed).stderr


def announce(folder: Path, entries: Mapping[str, str]) -> None:
    """Write what pip leaves of a distribution that announces plug-ins."""
    info = folder / "odd-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    lines = [f"{name} = {value}" for name, value in entries.items()]
    (info / "entry_points.txt").write_text("\n".join(["[harness.plugins]", *lines, ""]))


def test_what_is_no_plug_in_is_named_and_the_rest_goes_on(tmp_path):
    odd = tmp_path / "odd"
    announce(odd, {"raises": "raising:PLUGIN", "number": "a_number:PLUGIN", "needs": "needing:PLUGIN"})
    (odd / "raising.py").write_text("raise RuntimeError('not today')\n")
    (odd / "a_number.py").write_text("PLUGIN = 5\n")
    (odd / "needing.py").write_text("import no_such_package_at_all\n")
    process = call("harness", "model=always_no", "task.limit=5", cwd=tmp_path, path=odd)
    assert process.returncode == 0 and "F1" in process.stdout
    for sentence in (
        "The plug-in raises cannot be loaded: RuntimeError: not today.",
        "The plug-in number cannot be loaded: a_number:PLUGIN is no harness.plugin.Plugin.",
        "The plug-in needs cannot be loaded: it needs the package no_such_package_at_all.",
    ):
        assert process.stderr.count(sentence) == 1, process.stderr
    assert "Traceback" not in process.stderr


@pytest.mark.slow
def test_what_a_folder_announces_in_which_a_command_is_called_is_not_installed(tmp_path):
    announce(tmp_path, {"sent": "sent_plugin:PLUGIN"})
    (tmp_path / "sent_plugin.py").write_text("open('PWNED', 'w').write('code ran')\n")
    for arguments in (("--help",), ("leaderboard", "--help"), ("model=always_no", "task.limit=5")):
        assert call("harness", *arguments, cwd=tmp_path, path=ROOT).returncode == 0
    assert not (tmp_path / "PWNED").exists()
