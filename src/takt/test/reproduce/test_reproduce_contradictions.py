# SPDX-License-Identifier: Apache-2.0
"""Where Gutiérrez 2018 contradicts itself, its tables show it and the page says so.

Each contradiction is found in the transcribed numbers where they have it, and on the page that a
reader has beside them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from takt.reproduce import page
from takt.reproduce.model import Request
from takt.reproduce.published import read_published

PUBLISHED = read_published("gutierrez2018")
VENDORS = ("DDS 1", "DDS 2", "DDS 3")


def of_test(test: str, figure: str) -> list[float]:
    """A figure of a test, of each middleware in its order."""
    rows = {one.paper: one.published for one in PUBLISHED.tables if one.point["label"] == test}
    return [float(str(rows[name][figure])) for name in VENDORS]


def table_of(test: str) -> set[str]:
    return {one.table for one in PUBLISHED.tables if one.point["label"] == test}


# What is noted (claim, a part of its explanation), and what the tables have of it.
NOTED: list[tuple[str, str, Callable[[], bool]]] = [
    (
        "At 32 KB under load no deadline is missed",
        "table XI has three misses of DDS 3",
        lambda: table_of("3.B") == {"table XI"} and of_test("3.B", "missed") == [0, 0, 3],
    ),
    (
        "Test 3.A, 32 KB, is with the system stressed, says the text",
        "the list of tests and figure 7 have it idle and test 3.B under load",
        lambda: all(
            idle < loaded
            for idle, loaded in zip(
                of_test("3.A", "max_us")[:2], of_test("3.B", "max_us")[:2], strict=True
            )
        ),
    ),
    (
        "Table XV shows the misses and losses at 128 KB",
        "(XV) in the text stands for XII: table XV is test 2.B",
        lambda: (
            table_of("2.B") == {"table XV"}
            and sum(of_test("2.B", "missed") + of_test("2.B", "lost")) == 0
            and table_of("3.C") == {"table XII"}
            and max(of_test("3.C", "missed")) > 0
            and max(of_test("3.C", "lost")) > 0
        ),
    ),
    (
        "At 128 KB every middleware misses deadlines and loses messages",
        "table XII has neither of DDS 3",
        lambda: of_test("3.C", "missed")[2] == of_test("3.C", "lost")[2] == 0,
    ),
    (
        "Figure 6 shows 40 and 80 Mbit/s in its panels a to d",
        "its caption names four panels and leaves out 1 Mbit/s",
        lambda: {"2.A", "2.B"} <= {str(one.point["label"]) for one in PUBLISHED.tables},
    ),
    (
        "Figure 4 shows missed deadlines in test 2.D with DDS 2",
        "its caption contradicts table VI",
        lambda: (
            table_of("2.D") == {"table VI"}
            and of_test("2.D", "missed") == [0, 0, 0]
            and max(of_test("2.D", "max_us")) < 10_000
        ),
    ),
    (
        "Test 1.D is without real-time settings, says the list of tests",
        "the text and table IV say with them",
        lambda: (
            table_of("1.D") == {"table IV"}
            and max(of_test("1.D", "max_us")) < min(of_test("1.B", "max_us")) / 5
        ),
    ),
    (
        "The hours repeat test 2.C",
        "test 2.C is idle; both tests of hours are under load",
        lambda: max(of_test("2.C", "max_us")) < min(of_test("5.B", "max_us")),
    ),
]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The page's rows of statements: what is said, and what stands beside it."""
    folder: Path = tmp_path_factory.mktemp("page")
    made = PUBLISHED.outcome(
        Request(), folder, unfinished=[], findings=[], tables=[], figures=[]
    )  # fmt: skip
    document = html.unescape(page.render(made, folder))
    found = re.findall(r"<tr><td>[^<]*</td><td>([^<]*)</td><td>([^<]*)</td></tr>", document)
    return {claim.rstrip("."): why for claim, why in found}


@pytest.mark.parametrize(("claim", "why", "tables"), NOTED, ids=[one[0] for one in NOTED])
def test_a_contradiction_of_the_paper_is_in_its_tables_and_noted_on_the_page(
    rows: dict[str, str], claim: str, why: str, tables: Callable[[], bool]
) -> None:
    assert tables()
    assert why.casefold() in rows[claim].casefold()
