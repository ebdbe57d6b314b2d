"""The page in a real Chromium, without a network. Skipped where there is none, unless BROWSER_TESTS=required."""

from __future__ import annotations

import mimetypes
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from facts import Runs
from filelock import FileLock
from made_runs import make
from moving import wait_for_view

from harness.report import bundle
from harness.report.__main__ import main

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
PAGE = Path(bundle.__file__).parent / "page"
MODULES = "http://page.test/"
"""Where the page's modules are served, by the browser itself: nothing of this leaves it."""
ANEW = "(there) => { history.scrollRestoration = 'manual'; history.replaceState(null, '', there); }"
PATIENCE = 120_000
"""Milliseconds until what is waited for counts as missing: a busy machine takes seconds."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


def missing(what: str) -> None:
    """Skips the test, or fails it where everything has to be there."""
    (pytest.fail if os.environ.get("BROWSER_TESTS") == "required" else pytest.skip)(what)


@pytest.fixture(scope="session")
def executable() -> str:
    command = os.environ.get("CHROMIUM") or next((path for name in NAMES if (path := shutil.which(name))), None)
    if command is None:
        missing(f"there is no browser: none of {', '.join(NAMES)} (Debian: apt install chromium; or set CHROMIUM)")
    return str(command)


@pytest.fixture(scope="session")
def axe() -> str:
    if not AXE.exists():
        missing("axe-core is not there: make test-browser installs it with npm, if that is there")
    return AXE.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def pages_folder(executable: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs/ of every kind and report.html, made once for the workers of a test session together."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "made"
    with FileLock(f"{folder}.lock"):
        if not (folder / "report.html").exists():
            make(folder / "runs", limit=80)
            assert main([str(folder / "runs"), f"out={folder / 'report.html'}"]) == 0
    return folder


@pytest.fixture(scope="session")
def report(pages_folder: Path) -> Path:
    return pages_folder / "report.html"


@pytest.fixture(scope="session")
def runs(pages_folder: Path) -> Runs:
    return Runs(pages_folder / "runs")


class Chromium:
    """One browser with one tab for all tests, as another tab costs a second of a processor; and what it asked for or
    complained of. Only while tests of this folder run: playwright keeps an event loop running in this thread, with
    which asyncio.run in others would fail."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self._closing = ExitStack()

    def start(self, executable: str) -> None:
        if hasattr(self, "browser"):
            return
        from playwright.sync_api import expect, sync_playwright

        player = self._closing.enter_context(sync_playwright())
        self.browser = player.chromium.launch(executable_path=executable, args=FLAGS, timeout=PATIENCE)
        self._closing.callback(self.browser.close)
        self.page = self.browser.new_page()
        self.page.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        say = self.messages.append
        self.page.on("request", lambda request: say(request.url))
        self.page.on(
            "console", lambda message: message.type in ("error", "warning") and say(f"{message.type}: {message.text}")
        )
        self.page.on("pageerror", lambda error: say(f"error: {error}"))

    def serve(self, report: Path) -> None:
        """The report at MODULES with the modules themselves in the place of their bundle, so that a test can import
        them: await import("/data/store.js") is the one that the page has."""
        html = re.sub("<meta http-equiv[^>]*>", "", report.read_text(encoding="utf-8"))
        module = '<script type="module" src="/main.js"></script>'
        html, count = re.subn(r"<script>.*?</script>", module, html, flags=re.DOTALL)
        assert count == 1

        def answer(route: Route) -> None:
            name = route.request.url.removeprefix(MODULES)
            if not name:
                route.fulfill(body=html, content_type="text/html; charset=utf-8")
            elif (file := PAGE / name).is_file():
                route.fulfill(path=file, content_type=mimetypes.guess_type(name)[0])
            else:
                route.fulfill(status=404 if name != "favicon.ico" else 204)

        self.page.route(f"{MODULES}**", answer)

    def close(self) -> None:
        if hasattr(self, "browser"):
            self._closing.close()
            del self.browser, self.page


CHROMIUM = Chromium()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
        CHROMIUM.close()


@pytest.fixture
def chromium(pages_folder: Path, executable: str) -> Chromium:
    CHROMIUM.start(executable)  # after the runs are made, which need a loop of their own
    return CHROMIUM


@pytest.fixture
def open_page(chromium: Chromium, report: Path) -> Iterator[Callable[..., Page]]:
    """Yield open_page("#/charts", width=360, scheme="dark"), which returns the page at an address; with modules=True
    that of its modules, for tests that import them. In the end nothing was asked of a network, the console has no error
    or warning but those `expected`, and nothing that a model or its name says has run."""
    page, messages = chromium.page, chromium.messages
    fine = ["file://", "blob:"]

    def open_at(
        address: str = "",
        *,
        path: Path = report,
        width: int = 1280,
        scheme: str = "light",
        expected: tuple[str, ...] = (),
        modules: bool = False,
    ) -> Page:
        not_owned()
        fine.extend(expected)
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme, media="screen")
        if modules:
            chromium.serve(path)
            fine.append(MODULES)
        base = MODULES if modules else path.as_uri()
        there = f"{base}{address}"
        if page.url.partition("#")[0] == base:  # at two thirds of the cost, in its process
            page.evaluate(ANEW, there)
            page.reload()
        else:
            page.goto(there)
        wait_for_view(page)
        return page

    def not_owned() -> None:
        assert not page.evaluate("window.owned"), page.url

    yield open_at
    not_owned()
    page.unroute_all()
    troubles = [message for message in messages if not any(part in message for part in fine)]
    messages.clear()
    assert not troubles
