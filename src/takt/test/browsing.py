# SPDX-License-Identifier: Apache-2.0
"""Pages in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# For `pytestmark` of a file with such tests.
NEEDED = [
    pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed: apt install chromium"),
    pytest.mark.timeout(600),
]
PATIENCE = 120_000  # ms; a machine with nothing else to do needs one second


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Browser, file: Path, *, width: int = 1280, scheme: str = "light"
) -> Iterator[Page]:
    """A page as a reader sees it at first."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(file.as_uri())
    yield page
    context.close()


def open_all(page: Page) -> None:
    """Opens what is folded, and waits until its charts are drawn."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.wait_for_function(
        "[...document.querySelectorAll('.chart')].every((one) => one.firstChild)"
    )
