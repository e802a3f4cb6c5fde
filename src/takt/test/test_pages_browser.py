# SPDX-License-Identifier: Apache-2.0
"""What holds for every page, in a real browser: read in both modes, folded and printed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browsing import NEEDED, chromium, open_all, opened
from contrast import contrast
from explained_traces import HIGH, LOW, MS, application, begin, end, explained
from playwright.sync_api import Browser
from synthetic_runs import CHECK, FAILED, write_run
from test_history import added, run_in
from test_reproduce_page import outcome

from takt.measure.history.accumulate import accumulate
from takt.measure.history.page import write_history
from takt.measure.history.store import History
from takt.measure.report.html import write_report
from takt.reproduce import page as reproduction
from takt.schedule.explain.html import write_html

pytestmark = NEEDED
LATE = 12  # jobs of the explanation


def report(folder: Path) -> Path:
    return write_report(folder, write_run(folder, [*CHECK, FAILED], repetitions=2, count=600))


def explanation(folder: Path) -> Path:
    jobs: list[bytes] = []
    for number in range(LATE):
        at = number * 100 * MS
        jobs += begin(LOW, at, at, deadline=at + 5 * MS, number=number)
        jobs += begin(HIGH, at + 1 * MS, at + 1 * MS, number=number)
        jobs += [end(HIGH, at + 6 * MS, 5 * MS, number)]
        jobs += [end(LOW, at + (7 + number) * MS, 2 * MS, number)]
    file = folder / "late.html"
    write_html(explained(folder, application(), jobs), file)
    return file


def history(folder: Path) -> Path:
    with History(folder / "h.sqlite") as store:
        added(store, [run_in(folder / f"run{number}", number) for number in range(2)])
        (configuration,) = store.configurations()
        found = accumulate(configuration, store.entries(configuration))
    return write_history(folder / "h.html", [found])


def reproduced(folder: Path) -> Path:
    return reproduction.write_page(folder, outcome(folder))


MADE: dict[str, Callable[[Path], Path]] = {
    one.__name__: one for one in (report, explanation, history, reproduced)
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: make(tmp_path_factory.mktemp(name)) for name, make in MADE.items()}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", MADE)
def test_text_and_lines_stand_out_from_what_is_behind_them(
    browser: Browser, files: dict[str, Path], name: str, scheme: str
) -> None:
    with opened(browser, files[name], scheme=scheme) as page:
        open_all(page)
        found = contrast(page)
    assert len(found.texts) > 20
    assert bool(found.lines) is (name in ("report", "explanation"))
    assert found.failures == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_on_a_picture_of_the_history_stands_out(
    browser: Browser, files: dict[str, Path], scheme: str
) -> None:
    """What is drawn on a canvas has the colour of quiet text, and no element of its own."""
    with opened(browser, files["history"], scheme=scheme) as page:
        page.evaluate(
            """() => {
              const canvas = document.querySelector('canvas.runs');
              const pen = canvas.getContext('2d'), written = [];
              pen.fillText = () => written.push(pen.fillStyle);
              canvas.focus();
              canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp' }));
              for (const colour of written) {
                const one = document.createElement('p');
                one.textContent = 'on the canvas';
                one.style.color = colour;
                canvas.after(one);
              }
            }"""
        )
        found = contrast(page)
    assert sum("on the canvas" in name for _, name in found.texts) > 3
    assert found.failures == []


@pytest.mark.parametrize("width", [420, 1280])
def test_words_on_a_picture_of_the_history_are_whole_and_apart(
    browser: Browser, files: dict[str, Path], width: int
) -> None:
    with opened(browser, files["history"], width=width) as page:
        found = page.evaluate(
            """() => {
              const canvas = document.querySelector('canvas.runs');
              const pen = canvas.getContext('2d'), words = [];
              pen.fillText = (text, x, y) => {
                const long = pen.measureText(text).width;
                const left = x - { left: 0, center: long / 2, right: long }[pen.textAlign];
                words.push({ text, left, right: left + long, top: y - 10, bottom: y });
              };
              canvas.focus();
              canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp' }));
              return { words, wide: canvas.clientWidth, high: canvas.clientHeight };
            }"""
        )
    words = found["words"]
    assert len(words) > 6
    for one in words:
        assert -0.5 <= one["left"] <= one["right"] <= found["wide"] + 0.5, one
        assert 0 <= one["top"] <= one["bottom"] <= found["high"], one
    for one, other in itertools.combinations(words, 2):
        beside = one["right"] <= other["left"] or other["right"] <= one["left"]
        assert beside or one["bottom"] <= other["top"] or other["bottom"] <= one["top"], (
            one,
            other,
        )


def test_faint_text_is_found(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "faint.html").write_text(
        "<!doctype html><body style='background: #fff'><p style='color: #999'>faint</p>"
        "<p style='opacity: .5'>see-through</p><p>plain</p>"
        "<svg width=90 height=30><text y=20 fill='#aaa'>drawn</text></svg>"
    )
    with opened(browser, tmp_path / "faint.html") as page:
        found = contrast(page).failures
    assert [one.split('"')[1] for one in found] == ["faint", "see-through", "drawn"]


@pytest.mark.parametrize("width", [1280, 420])
@pytest.mark.parametrize("name", ["report", "explanation"])
def test_evidence_is_short_until_it_is_opened(
    browser: Browser, files: dict[str, Path], name: str, width: int
) -> None:
    """The worst alone is open at first; the rest is a line or a few each."""
    with opened(browser, files[name], width=width) as page:
        assert page.locator("details.measurement[open]").count() == 1
        height = """(id) => (document.getElementById(id) || [...document.querySelectorAll(
          'main > section')].at(-1)).getBoundingClientRect().height"""
        page.evaluate("document.querySelector('details.measurement[open]').open = false")
        assert page.evaluate(height, "details") < 6000
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_latest_job_is_first_and_open(browser: Browser, files: dict[str, Path]) -> None:
    with opened(browser, files["explanation"]) as page:
        titles = page.locator("details.measurement summary").all_inner_texts()
        assert [title.split()[0] for title in titles] == [
            f"low[{number}]" for number in reversed(range(LATE))
        ]
        assert page.locator("details.measurement").first.get_attribute("open") is not None


def test_numbers_of_charts_fit_a_narrow_screen(browser: Browser, files: dict[str, Path]) -> None:
    """Their last column and the caption were cut."""
    with opened(browser, files["report"], width=420) as page:
        open_all(page)
        wide = page.evaluate(
            """[...document.querySelectorAll('.numbers .scroll')]
               .filter((one) => one.scrollWidth > one.clientWidth).length"""
        )
        assert page.locator(".numbers .scroll").count() > 10
        assert wide == 0


def test_a_row_keeps_its_name_where_a_narrow_screen_scrolls(
    browser: Browser, files: dict[str, Path]
) -> None:
    with opened(browser, files["report"], width=420) as page:
        open_all(page)
        names = page.evaluate(
            """[...document.querySelectorAll('.scroll')]
               .filter((one) => one.scrollWidth > one.clientWidth)
               .flatMap((one) => {
                 one.scrollLeft = one.scrollWidth;
                 return [...one.querySelectorAll('tbody th.one-line')]
                   .map((name) => name.getBoundingClientRect().x);
               })"""
        )
        assert len(names) > 10
        assert all(0 <= x < 420 for x in names)


def test_evidence_is_as_wide_as_a_narrow_screen(browser: Browser, files: dict[str, Path]) -> None:
    """Beside its share it had a column of a few letters, two screens high."""
    with opened(browser, files["explanation"], width=420) as page:
        open_all(page)
        narrow = page.evaluate(
            """[...document.querySelectorAll('.measurement td small')]
               .map((one) => one.getBoundingClientRect())
               .filter((box) => box.width < 200 || box.right > 420).length"""
        )
        assert page.locator(".measurement td small").count() >= LATE
        assert narrow == 0


@pytest.mark.parametrize("name", ["report", "explanation", "history"])
def test_print_opens_everything_and_closes_it_again(
    browser: Browser, files: dict[str, Path], name: str
) -> None:
    closed = "document.querySelectorAll('details:not([open], .numbers)').length"
    with opened(browser, files[name]) as page:
        page.evaluate(
            "document.querySelectorAll('details').forEach((one) => { one.open = false; })"
        )
        before = page.evaluate(closed)
        page.evaluate(f"addEventListener('beforeprint', () => {{ window.left = {closed}; }})")
        page.evaluate(
            """addEventListener('beforeprint', () => {
                 window.undrawn = document.querySelectorAll('.chart:empty').length;
               })"""
        )
        assert len(page.pdf()) > 10_000
        assert page.evaluate("[window.left, window.undrawn]") == [0, 0]
        assert page.evaluate(closed) == before > 0


@pytest.mark.parametrize("name", ["report", "explanation"])
def test_a_link_opens_the_fold_that_it_points_into(
    browser: Browser, files: dict[str, Path], name: str
) -> None:
    with opened(browser, files[name]) as page:
        last = page.locator("details.measurement").last
        assert last.get_attribute("open") is None
        page.evaluate("(id) => { location.hash = id; }", last.get_attribute("id"))
        page.wait_for_function("document.querySelector(location.hash).open")


def test_what_is_under_the_pointer_is_said(browser: Browser, files: dict[str, Path]) -> None:
    with opened(browser, files["explanation"]) as page:
        page.locator(".slab.late-job").first.hover()
        tip = page.locator(".chart .tip").first
        assert tip.get_attribute("visibility") == "visible"
        assert f"low[{LATE - 1}] on core" in (tip.text_content() or "")


def test_a_chart_is_as_wide_as_its_page(browser: Browser, files: dict[str, Path]) -> None:
    with opened(browser, files["report"]) as page:
        page.wait_for_selector(".chart svg")
        page.set_viewport_size({"width": 420, "height": 900})
        page.wait_for_function(
            """[...document.querySelectorAll('.chart svg')].every((one) =>
               one.getBoundingClientRect().width === one.parentElement.clientWidth)"""
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= 420
