# SPDX-License-Identifier: Apache-2.0
"""What several recorders of one cell have for themselves: threads by their period, addresses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic_cells import cell_of, records_of, synthetic_run

from takt.cli.blocks import blocks
from takt.measure.report.own import own_tables
from takt.measure.report.title import title
from takt.measure.results.model import AddressCheck, Cell


class Variant:
    """As the report has it."""

    scheduling = "fifo 80"

    def __init__(self, cell: Cell) -> None:
        self.cells = [cell]


@pytest.fixture
def threads(tmp_path: Path) -> Cell:
    """Two threads, 10 µs and 40 µs late, the first sample of each far later."""
    (tmp_path / "samples").mkdir()
    late = [np.full(count, level) for count, level in ((30, 10.0), (20, 40.0))]
    for each in late:
        each[0] = 900.0
    records = [
        records_of(each, period) for each, period in zip(late, (1000.0, 1500.0), strict=True)
    ]
    return cell_of(
        tmp_path, records, stack="cyclictest", kind="wakeup", transport="nanosleep",
        subscribers=1, threads=2, distance_us=500.0, samples_requested=30,
    )  # fmt: skip


def test_each_thread_has_a_file_and_numbers_of_its_own(threads: Cell, tmp_path: Path) -> None:
    assert threads.series == [(1000.0, 30), (1500.0, 20)]
    assert len(threads.samples) == 2
    assert all((tmp_path / one).exists() for one in threads.samples)
    assert threads.count == 50
    assert threads.statistics
    found = threads.statistics.threads
    assert [(one.period_us, one.count, one.first_us) for one in found] == [
        (1000.0, 30, 900.0), (1500.0, 20, 900.0),
    ]  # fmt: skip
    medians = [one.latency.p50_us for one in found if one.latency]
    assert medians == pytest.approx([10.0, 40.0])
    assert threads.statistics.latency.count == 48
    assert threads.statistics.latency.max_us == pytest.approx(40.0)


def test_a_thread_is_a_row_of_the_report_and_of_the_summary(threads: Cell) -> None:
    (table,) = own_tables([Variant(threads)])
    assert table.title == "Threads"
    assert [row[0] for row in table.rows] == ["fifo 80, 1000 µs", "fifo 80, 1500 µs"]
    assert [row[1] for row in table.rows] == ["30", "20"]
    assert "2 threads · 1000 to 1500 µs" in title(threads)
    (text,) = blocks(synthetic_run("x", [threads]))
    assert "1000 µs, 30 wake-ups: MIN: 10 µs" in text
    assert "1500 µs, 20 wake-ups: MIN: 40 µs" in text


def test_one_thread_has_no_series_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "samples").mkdir()
    records = [records_of(np.full(30, 10.0), 1000.0)]
    cell = cell_of(tmp_path, records, stack="raw", kind="wakeup", transport="nanosleep")
    assert cell.statistics
    assert cell.statistics.threads == []
    assert own_tables([Variant(cell)]) == []
    assert list(blocks(synthetic_run("x", [cell]))) == []


def message(folder: Path, **asked: Any) -> Cell:
    (folder / "samples").mkdir(exist_ok=True)
    records = [records_of(np.full(30, 10.0), 1000.0)]
    return cell_of(folder, records, kind="pubsub", payload_bytes=64, **asked)


def test_addresses_are_reported_where_they_were_compared(tmp_path: Path) -> None:
    cell = message(tmp_path, transport="unique_ptr", stack="rclcpp")
    assert cell.addresses is None
    assert "Addresses" not in {table.title for table in own_tables([Variant(cell)])}
    cell.probes[0].addresses = AddressCheck(compared=30, same=15)
    (table,) = [one for one in own_tables([Variant(cell)]) if one.title == "Addresses"]
    assert table.rows == [["fifo 80", "30", "15", "50.0%"]]
    (text,) = blocks(synthetic_run("x", [cell]))
    assert "Same address at sender and receiver: 15 of 30 messages" in text
    assert "within one process by unique_ptr" in title(cell)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"content": "string"}, "as a string"),
        ({"durability": "transient_local"}, "transient local"),
        ({"history": "keep_all"}, "keep all"),
        ({"reliability": "best_effort"}, "best effort"),
        ({"depth": 3}, "depth 3"),
    ],
)
def test_what_differs_from_the_default_is_in_the_title(
    tmp_path: Path, asked: dict[str, Any], words: str
) -> None:
    plain = title(message(tmp_path, transport="shm"))
    other = title(message(tmp_path, transport="shm", **asked))
    assert words in other.split(" · ")
    assert words not in plain
