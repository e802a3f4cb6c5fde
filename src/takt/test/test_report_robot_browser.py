# SPDX-License-Identifier: Apache-2.0
"""The page of a robot in a real browser: light and dark, wide and narrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import NEEDED, chromium, opened
from contrast import contrast
from playwright.sync_api import Browser

from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.robot.page import write_page
from takt.schedule.simulation.simulate import simulate

pytestmark = NEEDED
ROBOT = Path(__file__).resolve().parents[3] / "examples/two_processes.app.yaml"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def page_of_robot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("robot") / "robot.html"
    write_page(ROBOT, out)
    return out


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 420])
def test_its_text_stands_out_and_it_fits_its_window(
    browser: Browser, page_of_robot: Path, scheme: str, width: int
) -> None:
    with opened(browser, page_of_robot, scheme=scheme, width=width) as page:
        found = contrast(page)
        assert len(found.texts) > 40
        assert found.failures == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("example", ["two_hosts", "modes"])
def test_no_column_is_cut_off_in_half_a_window(
    browser: Browser, tmp_path: Path, example: str
) -> None:
    file, trace = ROBOT.with_name(f"{example}.app.yaml"), tmp_path / "robot.takttrace"
    simulate(flat(read_application(file)), where="", duration=10**9, trace=trace)
    write_page(file, tmp_path / "robot.html", trace)
    with opened(browser, tmp_path / "robot.html", width=700) as page:
        wider = page.evaluate(
            """[...document.querySelectorAll('.scroll:has(table)')]
               .filter((one) => one.scrollWidth > one.clientWidth)
               .map((one) => one.ariaLabel)"""
        )
        assert page.locator(".scroll:has(table)").count() > 4
        assert wider == []


def test_scenarios_fit_a_narrow_window(browser: Browser, tmp_path: Path) -> None:
    out = tmp_path / "modes.html"
    write_page(ROBOT.with_name("modes.app.yaml"), out)
    with opened(browser, out, scheme="dark", width=420) as page:
        assert contrast(page).failures == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 420
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
        assert len(ids) == len(set(ids))
        dangling = page.evaluate(
            """[...document.querySelectorAll('a[href^="#"]')]
               .filter((one) => !document.getElementById(one.hash.slice(1))).length"""
        )
        assert dangling == 0


def test_the_terms_of_a_bound_follow_each_other_to_its_end(
    browser: Browser, page_of_robot: Path
) -> None:
    with opened(browser, page_of_robot) as page:
        bars = page.locator(".terms .lane i").evaluate_all(
            "bars => bars.map((one) => one.getBoundingClientRect())"
            ".map((one) => [one.left, one.right])"
        )
        vision, handover, control, bound, simulated = bars
        assert vision[0] == pytest.approx(bound[0], abs=1)
        assert handover[0] == pytest.approx(vision[1], abs=1)
        assert control[0] == pytest.approx(handover[1], abs=2.5)  # a short one has 2 px
        assert control[1] == pytest.approx(bound[1], abs=2.5)
        assert simulated[1] < bound[1]
