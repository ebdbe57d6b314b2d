"""Waiting for the page, and going from view to view."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page


def wait_for_view(page: Page) -> None:
    """Wait until the view of the address is whole."""
    page.evaluate("new Promise((then) => setTimeout(then))")  # a new address is told to the page a moment later
    page.locator("main:not([aria-busy]) h1").first.wait_for()


def wait_for_address(page: Page, *parts: str) -> str:
    """Wait until the address has all these parts, as it may be behind the view; return it."""
    page.wait_for_url(lambda url: all(part in url for part in parts))
    return page.url


def go(page: Page, address: str) -> None:
    """Go to another address of the page that is open, as a link does."""
    page.evaluate(
        """(address) => new Promise((then) => {
          if (location.hash === address) return then();
          addEventListener("hashchange", () => setTimeout(then), { once: true });
          location.hash = address;
        })""",
        address,
    )
    wait_for_view(page)
    # Charts are drawn when their width is known.
    page.evaluate("new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then)))")
