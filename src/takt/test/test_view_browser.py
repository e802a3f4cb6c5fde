# SPDX-License-Identifier: Apache-2.0
"""The page of takt view in a real browser: a hundred thousand jobs, zoom, search, misses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import takt_core
from browsing import NEEDED, chromium, opened
from contrast import contrast
from playwright.sync_api import Browser, Page
from recording_files import robot

from takt.schedule.view.page import write_view

pytestmark = NEEDED
MS = 1_000_000
JOBS = 100_000


def simulated(folder: Path) -> Path:
    """A hundred thousand jobs of twelve callbacks on one core: some preempted, some late."""
    callbacks = []
    for number in range(12):
        period = (5 + number % 6 * 3) * MS
        callbacks.append(
            {
                "name": f"node{number % 4}.task{number}",
                "node": f"node{number % 4}",
                "kind": "timer",
                "period": period,
                "deadline": period if number < 9 else period // 2,
                "priority": 90 - number,
                "execution": {"best": MS // 10, "worst": MS * 9 // 10, "quantiles": [MS // 10]},
                "reads": [{"topic": f"t{number - 1}"}] if number else [],
                "writes": [f"t{number}"],
            }
        )
    rate = sum(1e9 / int(str(one["period"])) for one in callbacks)
    names = [one["name"] for one in callbacks[:3]]
    document = {
        "version": 1,
        "name": "big",
        "cpus": [0],
        "policy": "fp",
        "callbacks": callbacks,
        "topics": [{"name": f"t{number}", "bytes": 8} for number in range(12)],
        "chains": [{"name": "first", "callbacks": names, "max_latency": 40 * MS}],
    }
    trace = folder / "big.takttrace"
    duration = int(JOBS * 1.15 / rate * 1e9)
    done = takt_core.simulate(json.dumps(document), duration_ns=duration, trace=str(trace))
    assert done["jobs"] >= JOBS
    return trace


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("view")
    traces = {"big": simulated(folder), "robot": robot(folder / "robot")}
    for name, trace in traces.items():
        write_view(trace, folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in traces}


@contextmanager
def timeline(browser: Browser, file: Path, **how: object) -> Iterator[Page]:
    """The page when its timeline is drawn; nothing may go wrong in it."""
    with opened(browser, file, **how) as page:  # type: ignore[arg-type]
        said: list[str] = []
        page.on("pageerror", lambda error: said.append(str(error)))
        page.reload()
        page.wait_for_selector("#time[data-drawn]")
        yield page
        assert said == []


def stretch(page: Page) -> tuple[float, float]:
    """What is in sight, in ns."""
    return tuple(  # type: ignore[return-value]
        float(page.locator("#time").get_attribute(f"data-{end}") or "nan") for end in ("from", "to")
    )


def settled(page: Page, action: object) -> tuple[float, float]:
    """Does something, and waits until it was drawn."""
    before = page.locator("#time").get_attribute("data-drawn")
    action()  # type: ignore[operator]
    page.wait_for_function(
        "before => document.getElementById('time').dataset.drawn !== before", arg=before
    )
    return stretch(page)


def test_a_hundred_thousand_jobs_are_drawn_zoomed_and_moved(
    browser: Browser, pages: dict[str, Path]
) -> None:
    with timeline(browser, pages["big"]) as page:
        canvas = page.locator("#time")
        whole, first = stretch(page), canvas.screenshot()
        canvas.focus()
        closer = settled(page, lambda: page.keyboard.press("+"))
        assert closer[1] - closer[0] == pytest.approx((whole[1] - whole[0]) / 2)
        assert canvas.screenshot() != first
        moved = settled(page, lambda: page.keyboard.press("ArrowRight"))
        assert moved[0] > closer[0]
        box = canvas.bounding_box()
        assert box
        x, y = box["x"] + box["width"] * 0.6, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        wheeled = settled(page, lambda: page.mouse.wheel(0, -300))
        assert wheeled[1] - wheeled[0] < moved[1] - moved[0]
        page.mouse.down()
        dragged = settled(page, lambda: page.mouse.move(x - 100, y, steps=4))
        page.mouse.up()
        assert dragged[0] > wheeled[0]
        assert settled(page, lambda: page.keyboard.press("0")) == whole


def test_the_search_leaves_the_callbacks_that_it_finds(
    browser: Browser, pages: dict[str, Path]
) -> None:
    with timeline(browser, pages["big"]) as page:
        tall = page.locator("#time").evaluate("one => one.clientHeight")
        whole = stretch(page)
        settled(page, lambda: page.fill("#search", "TASK11"))
        assert page.locator("#found").inner_text() == "1 of 12 callbacks"
        assert page.locator("#time").evaluate("one => one.clientHeight") < tall
        found = settled(page, lambda: page.press("#search", "Enter"))
        assert found[1] - found[0] < whole[1] - whole[0]
        assert "node3.task11" in page.locator("#detail").inner_text()
        settled(page, lambda: page.fill("#search", "nothing like it"))
        assert page.locator("#found").inner_text() == "0 of 12 callbacks"


def test_keys_lead_from_miss_to_miss(browser: Browser, pages: dict[str, Path]) -> None:
    with timeline(browser, pages["big"]) as page:
        page.locator("#time").focus()
        first = settled(page, lambda: page.keyboard.press("n"))
        assert "missed by" in page.locator("#detail").inner_text()
        text = page.locator("#detail").inner_text()
        second = settled(page, lambda: page.keyboard.press("n"))
        assert second > first
        assert settled(page, lambda: page.keyboard.press("p")) == pytest.approx(first)
        assert page.locator("#detail").inner_text() == text


def test_a_click_shows_the_numbers_of_a_job(browser: Browser, pages: dict[str, Path]) -> None:
    with timeline(browser, pages["robot"]) as page:
        page.fill("#search", "sensor")
        page.press("#search", "Enter")
        page.wait_for_function("document.getElementById('found').textContent !== ''")
        box = page.locator("#time").bounding_box()
        assert box
        # The job that the search found stands in the middle of the only row of callbacks.
        left = min(260, box["width"] * 0.24)
        middle = box["x"] + left + (box["width"] - 8 - left) / 2
        page.evaluate("document.getElementById('detail').hidden = true")
        page.mouse.click(middle, box["y"] + box["height"] - 20)
        detail = page.locator("#detail").inner_text()
        assert "sensors 11, thread 11" in detail
        assert "1.100 ms" in detail


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 420])
def test_its_text_stands_out_and_it_fits_its_window(
    browser: Browser, pages: dict[str, Path], scheme: str, width: int
) -> None:
    with timeline(browser, pages["robot"], scheme=scheme, width=width) as page:
        page.wait_for_function("document.querySelector('#chain-0 svg')")
        found = contrast(page)
        assert len(found.texts) > 40
        assert found.failures == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        written = page.evaluate(
            """() => {
              const pen = document.getElementById('time').getContext('2d'), colours = new Set();
              pen.fillText = () => colours.add(pen.fillStyle);
              document.getElementById('time').focus();
              window.dispatchEvent(new Event('resize'));
              document.getElementById('lanes').dispatchEvent(new Event('scroll'));
              return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
                for (const colour of colours) {
                  const one = Object.assign(document.createElement('p'), { textContent: 'drawn' });
                  one.style.color = colour;
                  document.getElementById('lanes').append(one);
                }
                done(colours.size);
              })));
            }"""
        )
        assert written >= 2
        assert contrast(page).failures == []


def test_a_narrow_screen_shows_missed_deadlines_without_scrolling(
    browser: Browser, pages: dict[str, Path]
) -> None:
    with timeline(browser, pages["robot"], width=420) as page:
        heads = page.locator("#callbacks thead th")
        place = heads.all_inner_texts().index("missed")
        assert page.locator("#callbacks tbody tr").count() > 1
        for row in page.locator("#callbacks tr").all():
            box = row.locator("> *").nth(place).bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= 420
