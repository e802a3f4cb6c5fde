# SPDX-License-Identifier: Apache-2.0
"""Where a paper contradicts itself, its tables show it and the page says so.

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


def column(paper: str, table: str, name: str) -> list[object]:
    """Of a table of another paper."""
    rows = [one for one in read_published(paper).tables if one.table == table]
    return [{**one.point, **one.published}[name] for one in rows]


OF_OTHERS: list[tuple[str, str, str, Callable[[], bool]]] = [
    (
        "ye2023",
        "The five threads of cyclictest have frequencies of 1000 to 3000 Hz, says the text",
        "table 4 has periods of 1000 to 3000 µs",
        lambda: {1000, 1500, 2000, 2500, 3000} == {*column("ye2023", "table 4", "period_us")},
    ),
    (
        "ye2023",
        "Table 4 has the hardware and software of the measurements, says the text",
        "tables 1 and 2 have them; table 4 has the wake-ups",
        lambda: 6243 in column("ye2023", "table 4", "max_us"),
    ),
    (
        "krukiewicz2021",
        "Figure 5.11 is of an application with 4 nodes, says its caption",
        "table 5.12 say 6, with the producer and the listener",
        lambda: {4} == {*column("krukiewicz2021", "5.12", "nodes")},
    ),
    (
        "krukiewicz2021",
        "The overhead grows by 54 % for medium-sized applications, of 20 nodes",
        "table 5.7 have 54 % with 50 nodes",
        lambda: round(45.37 / 29.43, 2) == 1.54,
    ),
]


def rows_of(paper: str, folder: Path) -> dict[str, str]:
    """The page's rows of statements: what is said, and what stands beside it."""
    made = read_published(paper).outcome(
        Request(), folder, unfinished=[], findings=[], tables=[], figures=[]
    )  # fmt: skip
    document = html.unescape(page.render(made, folder))
    found = re.findall(r"<tr><td>[^<]*</td><td>([^<]*)</td><td>([^<]*)</td></tr>", document)
    return {claim.rstrip("."): why for claim, why in found}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Those of Gutiérrez."""
    return rows_of("gutierrez2018", tmp_path_factory.mktemp("page"))


@pytest.mark.parametrize(("claim", "why", "tables"), NOTED, ids=[one[0] for one in NOTED])
def test_a_contradiction_of_the_paper_is_in_its_tables_and_noted_on_the_page(
    rows: dict[str, str], claim: str, why: str, tables: Callable[[], bool]
) -> None:
    assert tables()
    assert why.casefold() in rows[claim].casefold()


@pytest.mark.parametrize(("paper", "claim", "why", "tables"), OF_OTHERS)
def test_so_is_one_of_another_paper(
    tmp_path: Path, paper: str, claim: str, why: str, tables: Callable[[], bool]
) -> None:
    assert tables()
    assert why.casefold() in rows_of(paper, tmp_path)[claim].casefold()
