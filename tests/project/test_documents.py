"""README and docs/: short where they are to be short, and every link leads somewhere."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
import yaml

import harness
from harness.cli.commands import COMMANDS
from harness.plugin import Plugin
from harness.scoring.grades import FIRM, GRADES

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    file
    for pattern in ("*.md", "docs/**/*.md", "packages/*/README.md", "results/shipped/README.md")
    for file in ROOT.glob(pattern)
)
CODES = "".join(file.read_text(encoding="utf-8") for file in ROOT.glob("packages/*/harness_*/__init__.py"))
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def words(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as code hosts make them of their words."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """Yield the file and the anchor of each link that stays in the repository. Code blocks have none."""
    for target in LINK.findall(re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)):
        if not target.startswith(("http:", "https:")):
            name, _, anchor = target.partition("#")
            yield (page.parent / name if name else page), anchor


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    for file, anchor in links(page):
        assert file.exists(), file
        assert not anchor or anchor in anchors(file), f"{file}#{anchor}"


def test_pages_name_files_and_commands_that_are_there():
    """Files that a reader is to make are configs, prompts and results; a command, share; and a message says "needs"."""
    commands = {*COMMANDS, "share", "needs", *re.findall(r'"(\w+)": Command\(', CODES)}
    for page in {*PAGES, ROOT / "benchmarks/README.md"} - {ROOT / "CHANGELOG.md"}:
        text = page.read_text(encoding="utf-8")
        named = re.findall(r"(?<![\w/.:])(?:harness|tests|tools|benchmarks)/[\w/.-]+\.(?:py|yaml|json|md)\b", text)
        assert not [name for name in named if not (ROOT / name).exists() and not (page.parent / name).exists()], page
        assert {*re.findall(r"(?:`|^ *)harness ([a-z]+)(?=[ `])", text, flags=re.MULTILINE)} <= commands, page


def test_the_readme_is_short_and_leads_to_every_document():
    readme = ROOT / "README.md"
    assert len(readme.read_text(encoding="utf-8").splitlines()) <= 110
    told = {file.resolve() for file, _ in links(readme)}
    assert {page for page in PAGES if page.parent == ROOT / "docs"} <= told


def test_results_show_what_their_command_prints(harness):
    """The first command of docs/results.md, over the runs that ship."""
    command, _, shown = (
        words("docs/results.md").partition("$ harness leaderboard ")[2].partition("```")[0].partition("\n")
    )
    arguments = [str(ROOT / word) if word.startswith("results/") else word for word in command.split()]
    assert shown.strip() in harness(*arguments, module="harness.leaderboard").stdout


def test_what_packages_and_plug_ins_add_is_named():
    """Folders in docs/architecture.md, commands in docs/commands.md, what a plug-in may bring in docs/adding.md."""
    table = words("docs/architecture.md").partition("## Packages")[2].partition("\n## ")[0]
    names = {file.parent.name for file in ROOT.glob("packages/*/pyproject.toml")}
    assert {*re.findall(r"^\| \[(\w+)\]", table, flags=re.MULTILINE)} == names
    (line,) = re.findall(r"^\[Packages\].* add (.*)\.$", words("docs/commands.md"), flags=re.MULTILINE)
    assert {*re.findall(r"`(\w+)`", line)} == {*re.findall(r'"(\w+)": Command\(', CODES)}
    section = words("docs/adding.md").partition("\n## A plug-in\n")[2]
    assert not [field.name for field in fields(Plugin) if f"`{field.name}`" not in section and field.name != "name"]


def test_the_glossary_has_forty_words_and_replies_name_every_grade_and_whether_it_is_firm():
    assert len(re.findall(r"^\| \*\*[A-Za-z -]+\*\* \|", words("docs/glossary.md"), flags=re.MULTILINE)) == 40
    told = dict(re.findall(r"^\| ([a-z ]+) \|.*\| (yes|no) \|$", words("docs/replies.md"), flags=re.MULTILINE))
    assert told == {grade: "yes" if grade in FIRM else "no" for grade in GRADES}


def test_the_messages_that_are_explained_are_those_of_the_code():
    """A message has to have a piece of ten characters or more that stands in the code as it is."""
    files = [*ROOT.glob("harness/**/*.py"), *ROOT.glob("harness/data/*.yaml"), *ROOT.glob("packages/**/*.py")]
    code = "".join(file.read_text(encoding="utf-8") for file in [*files, ROOT / "Makefile"])
    code = re.sub(r'"\s*f?"', "", code)
    for row in re.findall(r"^\| (`.*?) \| ", words("docs/troubleshooting.md"), flags=re.MULTILINE):
        for message in re.findall(r"`(.+?)`", row):
            pieces = [piece.strip() for piece in re.split(r"[…(),:]|\d+", message)]
            longest = max(pieces, key=len)
            assert any(len(piece) >= min(10, len(longest)) and piece in code for piece in pieces), message


def test_the_packages_licence_names_those_of_the_data():
    project = tomllib.loads(words("pyproject.toml"))["project"]
    named = {"MIT"}
    for readme in (ROOT / "harness" / "data").rglob("README.md"):
        found = re.findall(r"creativecommons\.org/licenses/([a-z-]+)/([0-9.]+)/", readme.read_text(encoding="utf-8"))
        named |= {f"CC-{kind.upper()}-{version}" for kind, version in found}
        assert not found or str(readme.relative_to(ROOT)) in project["license-files"], readme
    assert set(project["license"].split(" AND ")) == named and len(named) == 3


def test_nobody_is_told_to_install_the_package_by_its_name():
    """The public index has another project's package called harness."""
    texts = [*(ROOT / "harness").rglob("*.py"), *(ROOT / "configs").rglob("*.yaml"), *PAGES]
    named = re.compile(r"pip install (-\S+ )*['\"]?harness(?![\w./-])|\bharness\[\w")
    assert not [
        str(file) for file in texts if file.name != "CHANGELOG.md" and named.search(file.read_text(encoding="utf-8"))
    ]


def test_the_site_has_every_page_and_its_links_lead_to_pages_or_to_the_repository():
    spec = importlib.util.spec_from_file_location("build", ROOT / "docs" / "site" / "build.py")
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    named = {name for names in build.SECTIONS.values() for name in names}
    assert build.SOURCES.keys() | {"api"} == named | {"index"}
    for name, source in build.SOURCES.items():
        text = re.sub(r"```.*?```", "", build.page(name, source), flags=re.DOTALL)
        for link in LINK.findall(text):
            page = link.partition("#")[0].removesuffix(".md")
            assert not page or page in build.SOURCES or re.match(r"\w+:|images/", link), f"{name}: {link}"


def test_one_version_stands_everywhere():
    assert f"\nversion: {harness.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {harness.__version__} (" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    project = tomllib.loads(words("pyproject.toml"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "harness/__init__.py"


def test_the_workflows_call_targets_of_make_and_frameworks_that_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    (frameworks,) = re.findall(r"^FRAMEWORKS \?= (.+)$", makefile, flags=re.MULTILINE)
    files = sorted((ROOT / ".github/workflows").glob("*.yml"))
    jobs = [job for file in files for job in yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"].values()]
    steps = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    called = {target for step in steps for target in re.findall(r"\bmake ([a-z-]+)", step)}
    assert called and called <= targets
    (matrix,) = [job["strategy"]["matrix"] for job in jobs if "FRAMEWORKS=" in str(job)]
    assert matrix == {"framework": frameworks.split()}
