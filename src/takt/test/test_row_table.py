# SPDX-License-Identifier: Apache-2.0
"""Tables on a terminal of any width, and in a pipe: names give way, numbers never."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Takt
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from takt.pages.row_table import of_cells

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
NAMES = st.text(st.characters(exclude_categories=["C", "Z", "M"]), min_size=1, max_size=90)
UNITS = st.sampled_from(["", " µs", " ms", " %", "\u2009ms"])


def drawn(width: int | None, *arguments: object, **keys: object) -> str:
    text = io.StringIO()
    Console(file=text, width=width, highlight=False).print(of_cells(*arguments, **keys))  # type: ignore[arg-type]
    return text.getvalue()


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """Names of all kinds; each number only once, so that it is known where it belongs."""
    columns, rows = draw(st.integers(1, 12)), draw(st.integers(1, 8))
    headings = [f"{draw(st.sampled_from('µpx最'))}{at}{'e' * draw(st.integers(0, 14))}"
                for at in range(columns)]  # fmt: skip
    digits = draw(st.integers(0, 17))
    cells = [
        [draw(NAMES)]
        + [f"{row + 10}{at + 10}.{'5' * draw(st.integers(0, digits))}{draw(UNITS)}"
           for at in range(columns)]
        for row in range(rows)
    ]  # fmt: skip
    return ["name", *headings], cells


@given(tables(), st.integers(40, 200))
@settings(deadline=None, max_examples=300)
def test_no_number_and_no_heading_of_one_is_cut(
    table: tuple[list[str], list[list[str]]], width: int
) -> None:
    headings, rows = table
    lines = drawn(width, headings, rows).splitlines()
    assert max(map(cell_len, lines)) <= width
    for at, heading in enumerate(headings[1:], 1):
        head = next(i for i, line in enumerate(lines) if f" {heading} " in f"{line} ")
        here = head
        for row in rows:  # in the lines below its heading, each on the line that names its row
            here = next(i for i in range(here + 1, len(lines)) if f" {row[at]} " in f"{lines[i]} ")
            begin = lines[here].split()[0]
            assert row[0].startswith(begin)
            assert all(f" {one[at]} " not in f"{line} " for one in rows if one is not row
                       for line in [lines[here]])  # fmt: skip


@given(tables())
@settings(deadline=None, max_examples=50)
def test_where_there_is_room_each_row_is_a_line(table: tuple[list[str], list[list[str]]]) -> None:
    headings, rows = table
    lines = drawn(100_000, headings, rows).splitlines()
    assert [line.split() for line in lines] == [" ".join(row).split() for row in [headings, *rows]]


def test_words_that_are_wider_than_the_terminal_are_folded() -> None:
    words = "a reason of many words that no terminal of forty columns has in one line"
    lines = drawn(40, ["name", "count", "why"], [["a", "12345", words]], words=["why"]).splitlines()
    assert max(map(len, lines)) <= 40
    assert "12345" in " ".join(lines)
    folded = "".join(
        "".join(lines[lines.index(next(o for o in lines if "why" in o)) + 1 :]).split()
    )
    assert folded == ("a" + words).replace(" ", "")


def test_what_a_name_says_is_no_markup() -> None:
    assert "[red]x[/]" in drawn(80, ["name", "[b]"], [["[red]x[/]", 1]])


@pytest.mark.parametrize("columns", ["40", "60", "80", None])
def test_a_command_cuts_no_number(takt: Takt, columns: str | None) -> None:
    """In a terminal of this width, or into a pipe."""
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    if columns:
        environment["COLUMNS"] = columns
    path = os.pathsep.join([str(EXAMPLES.parent / "src" / "takt"), os.environ["PYTHONPATH"]])
    command = [sys.executable, "-m", "takt", "analyse", str(EXAMPLES / "docking.app.yaml")]
    done = subprocess.run(
        command, env=environment | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=300
    )
    text = done.stdout
    assert done.returncode in {0, 1}, done.stderr
    assert "…" not in text
    for heading in ("period", "deadline", "wcet", "response"):
        assert text.count(heading) >= 1
    if columns is None:
        rows = [line.split() for line in text.splitlines()]
        head = next(row for row in rows if row[:1] == ["callback"])
        assert {"period", "deadline", "wcet", "response"} <= set(head)
