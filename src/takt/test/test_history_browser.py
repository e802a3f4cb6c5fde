# SPDX-License-Identifier: Apache-2.0
"""The history in a real browser: drawn without WebGL, turned by keys, its numbers beside it."""

from __future__ import annotations

from pathlib import Path

from browsing import NEEDED, PATIENCE, chromium
from test_history import added, run_in

from takt.measure.history.accumulate import accumulate
from takt.measure.history.page import write_history
from takt.measure.history.store import History

pytestmark = NEEDED


def test_the_long_term_picture_is_drawn_and_turns(tmp_path: Path) -> None:
    folders = [run_in(tmp_path / f"run{number}", number) for number in range(3)]
    with History(tmp_path / "h.sqlite") as history:
        added(history, folders)
        (configuration,) = history.configurations()
        found = accumulate(configuration, history.entries(configuration))
    page_file = write_history(tmp_path / "h.html", [found])
    said: list[str] = []
    with chromium() as browser:
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(page_file.as_uri())
        canvas = page.locator("canvas.runs")
        assert canvas.get_attribute("data-drawn") == "yes"
        before = canvas.screenshot()
        canvas.focus()
        page.keyboard.press("ArrowRight")
        assert canvas.get_attribute("data-turn") == "-0.400"
        assert canvas.screenshot() != before
        page.locator("details.numbers > summary").click()
        page.wait_for_selector("details.numbers table")
        counts = page.locator("details.numbers tbody td:last-child").all_inner_texts()
        assert sum(int(text.replace("\u202f", "")) for text in counts) == found.count
    assert said == []
