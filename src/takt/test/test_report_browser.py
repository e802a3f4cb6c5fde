# SPDX-License-Identifier: Apache-2.0
"""The report in a real browser: it draws, it equals run.json, it needs nothing but itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from browsing import NEEDED, PATIENCE, chromium, open_all, opened
from playwright.sync_api import Browser, Page
from synthetic_runs import CHECK, FAILED, write_run

from takt.measure.report.html import write_report
from takt.measure.results.model import Run

pytestmark = NEEDED


@dataclass
class Opened:
    """A page with all that it said and asked for."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


Open = Callable[..., Opened]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    run = write_run(folder, [*CHECK, FAILED], repetitions=2, count=600)
    write_report(folder, run)
    return run


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@contextmanager
def opening(browser: Browser, folder: Path) -> Iterator[Open]:
    """What opens the report, each time as the only page of a user."""
    contexts = []

    def opened_as(**look: Any) -> Opened:
        context = browser.new_context(**look)
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        opened = Opened(context.new_page())
        opened.page.on("console", lambda message: opened.said.append(message.text))
        opened.page.on("pageerror", lambda error: opened.said.append(str(error)))
        opened.page.on("request", lambda request: opened.asked.append(request.url))
        opened.page.goto((folder / "report.html").as_uri())
        return opened

    yield opened_as
    for context in contexts:
        context.close()


@pytest.fixture
def open_report(browser: Browser, folder: Path, run: Run) -> Iterator[Open]:
    """For what touches the page, or wants it otherwise."""
    with opening(browser, folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def report(browser: Browser, folder: Path, run: Run) -> Iterator[Opened]:
    """For what only looks at it: drawing it takes seconds."""
    with opening(browser, folder) as opened:
        found = opened()
        open_all(found.page)
        yield found


def test_it_loads_with_no_complaint_and_from_nowhere_else(report: Opened, folder: Path) -> None:
    assert report.said == []
    elsewhere = [url for url in report.asked if not url.startswith(("data:", "blob:"))]
    assert elsewhere == [(folder / "report.html").as_uri()]


def test_every_chart_draws_its_data(report: Opened) -> None:
    drawn = report.page.evaluate(
        """[...document.querySelectorAll('.chart')].map((one) => ({
            id: one.id,
            lines: [...one.querySelectorAll('path.line')]
              .filter((line) => line.getBBox().width > 20).length,
            inside: one.querySelector('svg').getBoundingClientRect().width <= one.clientWidth + 1,
        }))"""
    )
    kinds = [one["id"].split("-")[-1] for one in drawn]
    assert kinds.count("histogram") == kinds.count("tail") == 6
    assert kinds.count("time") == len(CHECK)
    assert [one["id"] for one in drawn if not one["lines"] or not one["inside"]] == []
    two = {one["id"]: one["lines"] for one in drawn}
    assert two["m1-histogram"] == 2  # normal and real-time, one over the other


def exact(page: Page, selector: str) -> dict[str, float | None]:
    return {
        name: None if value == "" else float(value)
        for name, value in page.evaluate(
            """(selector) => [...document.querySelectorAll(selector)]
               .map((one) => [one.dataset.field, one.dataset.value])""",
            selector,
        )
    }


def test_the_tables_equal_run_json(report: Opened, run: Run) -> None:
    page = report.page
    for cell in run.cells:
        shown = exact(page, f'[data-cell="{cell.id}"]')
        expected: dict[str, float | None] = {
            name: getattr(cell, name)
            for name in (
                "order",
                "count",
                "lost",
                "duplicated",
                "out_of_order",
                "steal_seconds",
                "others_seconds",
            )
        }
        found = cell.statistics
        for name in ("p50_us", "p99_us", "p999_us", "max_us"):
            expected[name] = getattr(found.response, name) if found else None
        expected["first_us"] = found.first_us if found else None
        if found:
            expected["exceeded"] = found.exceedance.exceeded
            expected["upper_bound"] = found.exceedance.upper_bound
        assert shown == expected, cell.id


def test_the_pooled_rows_add_up_to_run_json(report: Opened, run: Run) -> None:
    page = report.page
    for key in {cell.key for cell in run.cells}:
        cells = [cell for cell in run.cells if cell.key == key]
        shown = exact(page, f'.results [data-key="{key}"]')
        assert shown["count"] == sum(cell.count for cell in cells)
        assert shown["absent"] == sum(cell.lost for cell in cells)
        found = [cell.statistics.response for cell in cells if cell.statistics]
        assert shown["max_us"] == max((one.max_us for one in found), default=None)
        if found:
            medians = sorted(one.p50_us for one in found)
            assert medians[0] <= (shown["p50_us"] or 0) <= medians[-1]


def test_what_is_written_is_the_exact_value_rounded(report: Opened) -> None:
    for written, value in report.page.evaluate(
        """[...document.querySelectorAll('td[data-field$=_us]')]
           .map((one) => [one.textContent, one.dataset.value])"""
    ):
        if value == "":
            assert written == "–"
        else:
            shown = float(written.replace("\u202f", ""))
            assert shown == pytest.approx(float(value), rel=0.006)


def test_dark_and_light_follow_the_system_also_in_the_charts(open_report: Open) -> None:
    page = open_report(color_scheme="dark").page
    page.wait_for_selector(".chart svg")
    look = """() => {
      const light = (colour) => colour.match(/\\d+/g).slice(0, 3).map(Number)
        .reduce((a, b) => a + b);
      return [light(getComputedStyle(document.body).backgroundColor),
        light(getComputedStyle(document.querySelector('.chart .tick')).fill),
        getComputedStyle(document.querySelector('.chart .line')).stroke];
    }"""
    page.evaluate("window.svg = document.querySelector('.chart svg')")
    background, label, dark_line = page.evaluate(look)
    assert background < 150
    assert label > 400
    page.emulate_media(color_scheme="light")
    background, label, light_line = page.evaluate(look)
    assert background > 600
    assert label < 400
    assert light_line != dark_line
    assert page.evaluate("window.svg.isConnected"), "the theme needs no new drawing"


def test_the_keyboard_reaches_and_opens_every_details(open_report: Open) -> None:
    page = open_report().page
    wanted = page.evaluate(
        """(() => {
             const folds = [...document.querySelectorAll('details')];
             folds.forEach((one) => { one.open = false; });
             return [...document.querySelectorAll('details > summary')]
               .filter((one) => one.checkVisibility())
               .map((one, i) => one.id = 'reach' + i);
           })()"""
    )
    reached = []
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    for _ in range(200):
        place = page.evaluate("document.activeElement.id")
        if place in wanted:
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline == "solid", "focus must be seen"
            page.keyboard.press("Enter")
            assert page.evaluate("document.activeElement.parentElement.open")
            page.keyboard.press("Enter")
            reached.append(place)
        page.keyboard.press("Tab")
        if len(reached) == len(wanted):
            break
    assert reached == wanted


def test_a_charts_numbers_can_be_read_as_a_table(open_report: Open) -> None:
    page = open_report().page
    page.evaluate("document.getElementById('m1').open = true")
    summary = page.locator('details.numbers[data-for="m1-histogram"] > summary')
    summary.focus()
    page.keyboard.press("Enter")
    table = page.locator('details.numbers[data-for="m1-histogram"] table')
    table.wait_for()
    counts = [
        int(text.replace("\u202f", ""))
        for text in table.locator("td:nth-child(4)").all_inner_texts()
    ]
    assert sum(counts) == 4 * 599  # two settings, two repetitions, first samples apart
    assert table.locator("caption").inner_text()


def test_structure_for_screen_readers(report: Opened) -> None:
    page = report.page
    assert page.title().startswith("Takt report: check")
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.locator("main").count() == page.locator("h1").count() == 1
    levels = page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map((one) => Number(one.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    unnamed = page.evaluate(
        """[...document.querySelectorAll('table')].filter((one) => !one.caption).length
         + [...document.querySelectorAll('thead th')].filter((one) => one.scope !== 'col').length
         + [...document.querySelectorAll('tbody th')].filter((one) => !one.scope).length
         + [...document.querySelectorAll('[role=img], [role=region]')]
             .filter((one) => !one.getAttribute('aria-label')).length"""
    )
    assert unnamed == 0
    dangling = page.evaluate(
        """[...document.querySelectorAll('a[href^="#"]')]
           .filter((one) => !document.getElementById(one.hash.slice(1))).length"""
    )
    assert dangling == 0


@pytest.mark.parametrize("width", [320, pytest.param(400, marks=pytest.mark.thorough)])
def test_only_tables_scroll_sideways(open_report: Open, width: int) -> None:
    page = open_report(viewport={"width": width, "height": 800}).page
    open_all(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_narrow_screen_shows_what_is_judged_without_scrolling(open_report: Open) -> None:
    """How many responses were late, and how many samples did not arrive."""
    page = open_report(viewport={"width": 420, "height": 900}).page
    for judged in ("exceeded", "absent"):
        cells = page.locator(f".results tbody tr[data-row] td[data-field={judged}]")
        assert cells.count() > 0
        for cell in cells.all():
            box = cell.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= 420


def test_on_a_wide_screen_nothing_scrolls_sideways(report: Opened) -> None:
    page = report.page
    assert page.evaluate("window.innerWidth") == 1280
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_at_the_width_of_a_small_window_results_do_not_scroll(open_report: Open) -> None:
    """Their last column draws the distribution, which nobody looks for behind a scroll bar."""
    page = open_report(viewport={"width": 1100, "height": 900}).page
    hidden = page.evaluate(
        """[...document.querySelectorAll('.scroll')]
           .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth)
           .map((one) => one.ariaLabel)"""
    )
    assert hidden == []
    box = page.locator(".results .spread .bar").first.bounding_box()
    assert box is not None
    assert box["width"] > 100


def test_an_outcome_has_the_colour_of_its_verdict(browser: Browser, tmp_path: Path) -> None:
    tones = {"meets": "--good", "fails": "--bad", "undecided": "--unknown"}
    few, many = tmp_path / "few", tmp_path / "many"
    write_report(few, write_run(few, [*CHECK[:1], FAILED], repetitions=1, count=600))
    write_report(many, write_run(many, CHECK[:1], repetitions=1, count=4000))
    shown = {}
    for folder in (few, many):
        with opened(browser, folder / "report.html") as page:
            shown |= page.evaluate(
                """tones => Object.fromEntries(
                     [...document.querySelectorAll('[data-outcome]')].map((word) => {
                       const probe = word.appendChild(document.createElement('i'));
                       probe.style.color = `var(${tones[word.dataset.outcome]})`;
                       const [is, should] = [word, probe].map((one) => getComputedStyle(one).color);
                       return [word.dataset.outcome, is === should];
                     }))""",
                tones,
            )
    assert shown == dict.fromkeys(tones, True)


@pytest.mark.thorough
def test_print_shows_all_charts_in_light_colours_and_the_screen_comes_back(
    open_report: Open,
) -> None:
    page = open_report(color_scheme="dark").page
    page.evaluate(
        """window.addEventListener('beforeprint', () => {
             window.printed = [...document.querySelectorAll('.chart')].map((one) => [
               one.querySelectorAll('path.line').length,
               getComputedStyle(one.querySelector('.axis-title')).fill]);
             window.unopened = document.querySelectorAll('details:not([open], .numbers)').length;
           })"""
    )
    closed = "document.querySelectorAll('details.card:not([open])').length"
    before = page.evaluate(closed)
    assert len(page.pdf()) > 10_000
    printed = page.evaluate("window.printed")
    assert len(printed) == 2 * 6 + len(CHECK)
    assert all(lines for lines, _ in printed)
    assert {colour for _, colour in printed} == {"rgb(86, 101, 115)"}
    assert page.evaluate("window.unopened") == 0
    assert page.evaluate(closed) == before > 0


def test_the_tables_need_no_javascript(open_report: Open, run: Run) -> None:
    page = open_report(java_script_enabled=False).page
    assert page.locator(".results tbody tr[data-row]").count() == len({c.key for c in run.cells})
    assert "The charts need JavaScript" in page.locator("#details noscript").inner_text()
