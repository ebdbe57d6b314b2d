"""The README's pictures, from the shipped results: make pictures. Needs a Chromium and the development packages."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from itertools import groupby
from pathlib import Path

import pyte
from rich.console import Console
from rich.style import Style
from rich.text import Text

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RUN = "corr2cause%2Fdefault%2Fplain%2Frandom_uniform"
GRAPHS = "causalbench%2Fcausality%2Fmethod%3D2%2Fsamples%3D1500%2Cseed%3D0%2Fboss/insurance?template=direct"
PAGES = {
    "leaderboard": ("#/board?task=corr2cause", 1320, 560, "light"),
    "charts": ("#/charts?task=causalbench/causality&set=2", 1180, 800, "light"),
    "answers": (f"#/answers/{RUN}?right=wrong", 1180, 620, "dark"),
    "item": (f"#/item/{RUN}/n4-g31-ancestor-A-D", 1180, 1060, "light"),
    "graphs": (f"#/graphs/{GRAPHS}", 1180, 960, "light"),
}
WIDTH, HEIGHT = 122, 40


def pages() -> None:
    """Views of results/shipped/report.html."""
    from playwright.sync_api import sync_playwright

    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        for name, (address, width, height, scheme) in PAGES.items():
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.goto((ROOT / "results" / "shipped" / "report.html").as_uri() + address)
            page.locator("main h1").first.wait_for()
            page.wait_for_timeout(500)
            page.screenshot(path=HERE / f"{name}.png")
        browser.close()


def terminal() -> None:
    """The leaderboard of the shipped results, as the program draws it."""
    board = [sys.executable, "-m", "harness.leaderboard", "results/shipped/corr2cause/default"]
    board += ["out=-"]
    _draw("terminal.svg", _seen(board, ROOT), " ".join(["harness", "leaderboard", *board[3:-1]]))


def _seen(command: list[str], folder: Path) -> bytes:
    """What a command has written to a terminal of this size."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
    settings = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPATH": str(ROOT)}
    program = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=os.environ | settings, cwd=folder)
    os.close(slave)
    raw = b""
    while True:
        try:
            raw += os.read(master, 65536)
        except OSError:
            break
    program.wait()
    return raw


def _screen(raw: bytes) -> pyte.Screen:
    screen = pyte.Screen(WIDTH, HEIGHT)
    pyte.ByteStream(screen).feed(raw)
    return screen


def _draw(name: str, raw: bytes, title: str) -> None:
    """The screen as SVG, without the fonts that rich would fetch from a network."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    screen = _screen(raw)
    last = max(row for row, line in enumerate(screen.display) if line.strip())
    for row in range(last + 1):
        cells = [screen.buffer[row][column] for column in range(len(screen.display[row].rstrip()))]
        line = Text()
        for style, alike in groupby(cells, _style):
            line.append("".join(cell.data for cell in alike), style)
        console.print(line, no_wrap=True)
    svg = console.export_svg(title=title)
    (HERE / name).write_text(re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL), encoding="utf-8")


def _style(cell: pyte.screens.Char) -> Style:
    colour = f"#{cell.fg}" if re.fullmatch("[0-9a-f]{6}", cell.fg) else cell.fg
    return Style(color=None if colour == "default" else colour, bold=cell.bold, underline=cell.underscore)


LEARNED = ("reasoner", "linear", "hypothesis_only", "shortcut", "tiny", "tiny_renamed")


def figures() -> None:
    """The shipped results' figures, as harness plot writes them: all models, and the learned ones for the README."""
    from harness.plot.__main__ import main

    corr2cause = ROOT / "results" / "shipped" / "corr2cause"
    learned = [str(folder) for name in LEARNED for folder in sorted(corr2cause.glob(f"*/*/{name}"))]
    for name, runs, width in (("figure-corr2cause", [str(corr2cause)], "column"), ("learned", learned, "text")):
        with tempfile.TemporaryDirectory() as folder:
            main([*runs, "chart=corr2cause/robustness/f1", "format=png", f"width={width}", f"out={folder}"])
            shutil.copy(Path(folder, "corr2cause-robustness-f1.png"), HERE / f"{name}-robustness-f1.png")


if __name__ == "__main__":
    pages()
    terminal()
    figures()
