"""Build the site from README.md and docs/: make site. Writes FOLDER (site/ where none is named); warnings are errors.

Pages are the repository's own Markdown. What links to a file that is no page of the site leads to the repository, at
the address in pyproject.toml. Beside each page stands its Markdown, and llms.txt lists them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
URLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
SECTIONS = {
    "Start": ("models", "tasks", "results", "glossary", "commands", "troubleshooting", "coming_from"),
    "What numbers mean": ("corr2cause", "causalbench", "cladder", "findings", "paper_findings", "recorded"),
    "Ask": ("presets", "servers", "prompts", "replies", "sweeps", "money", "cache", "reliability"),
    "Show": ("leaderboard", "report", "python", "api", "versions"),
    "Packages": tuple(sorted(page.parent.name for page in (ROOT / "packages").glob("*/README.md"))),
    "Change it": ("adding", "architecture", "CONTRIBUTING", "AGENTS", "CHANGELOG", "SECURITY", "CODE_OF_CONDUCT"),
    "What ships": ("shipped", "shipped_leaderboard"),
}
FROM_ROOT = ("CONTRIBUTING", "CHANGELOG", "SECURITY", "CODE_OF_CONDUCT", "AGENTS")
SOURCES = {
    "index": ROOT / "README.md",
    "shipped": ROOT / "results" / "shipped" / "README.md",
    "shipped_leaderboard": ROOT / "results" / "shipped" / "LEADERBOARD.md",
    **{name: ROOT / f"{name}.md" for name in FROM_ROOT},
    **{page.stem: page for page in sorted((ROOT / "docs").glob("*.md"))},
    "paper_findings": ROOT / "docs" / "paper" / "findings.md",
    **{page.parent.name: page for page in sorted((ROOT / "packages").glob("*/README.md"))},
}
PAGE_OF = {source.resolve(): name for name, source in SOURCES.items()}
LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
API = {
    "function": ("harness.api.evaluate", "harness.api.load_run"),
    "class": ("harness.storage.runs.Run", "harness.plugin.Plugin", "harness.tasks.base.TaskBase"),
    "module": ("harness.types", "harness.protocols"),
}
"""What the page on the Python API has, by what autodoc calls it; `from harness import …` has the functions."""


def page(name: str, source: Path) -> str:
    """Return a page's Markdown with links that work on the site."""

    def target(match: re.Match[str]) -> str:
        link, _, anchor = match[1].partition("#")
        if not link or re.match(r"\w+:", link):
            return match[1]
        file = (source.parent / link).resolve()
        if other := PAGE_OF.get(file):
            return f"{other}.md" + (f"#{anchor}" if anchor else "")
        if file.parent == ROOT / "docs" / "images":
            return f"images/{file.name}"
        return f"{URLS['Repository']}/{file.relative_to(ROOT).as_posix()}"

    text = LINK.sub(target, source.read_text(encoding="utf-8"))
    text = re.sub(r"```(mermaid|csv)", "```text", text)  # for these no highlighter is installed
    if name == "index":
        sections = "\n".join(
            f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(pages) + "\n```\n"
            for title, pages in SECTIONS.items()
        )
        text = f"{text}\n{sections}"
    return text


def api_page() -> str:
    directives = "\n\n".join(
        f".. auto{kind}:: {name}" + ("\n   :members:" if kind != "function" else "")
        for kind, names in API.items()
        for name in names
    )
    return f"# The Python API\n\nExamples are in [From Python](python.md).\n\n```{{eval-rst}}\n{directives}\n```\n"


def title(markdown: str) -> str:
    return next((line.lstrip("# ") for line in markdown.splitlines() if line.startswith("# ")), "")


def build(out: Path) -> None:
    missing = SOURCES.keys() - {"index"} - {name for pages in SECTIONS.values() for name in pages}
    if missing:
        sys.exit(f"error: pages that no section of docs/site/build.py names: {', '.join(sorted(missing))}")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        pages = {name: page(name, file) for name, file in SOURCES.items()}
        pages["api"] = api_page()
        for name, text in pages.items():
            (source / f"{name}.md").write_text(text, encoding="utf-8")
        shutil.copy(HERE / "conf.py", source)
        (source / "static").mkdir()
        shutil.copy(HERE / "site.css", source / "static")
        shutil.copytree(ROOT / "docs" / "images", source / "images", ignore=shutil.ignore_patterns("*.py"))
        shutil.rmtree(out, ignore_errors=True)
        subprocess.run(
            [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", source, out], check=True
        )
        for name in pages:
            shutil.copy(source / f"{name}.md", out)
    shutil.copy(ROOT / "results" / "shipped" / "report.html", out / "shipped-report.html")
    lines = [f"# harness\n\n> {title_line(pages['index'])}\n"]
    for section, names in SECTIONS.items():
        lines += [f"\n## {section}\n", *(f"- [{title(pages[name])}]({name}.md)" for name in names)]
    (out / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def title_line(markdown: str) -> str:
    """Return the first sentence under a page's title."""
    return next(line for line in markdown.splitlines()[1:] if line.strip())


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site")
