# SPDX-License-Identifier: Apache-2.0
"""What is told of deadline misses: their counts, what ran around them, the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trace_files as make
from command_line import takt
from explained_traces import HIGH, LOW, MS, OTHER, application, begin, end, explained, names

from takt.schedule.explain.html import render
from takt.schedule.explain.model import ShareKind


def test_causes_are_counted_by_callback_and_the_latest_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("takt.schedule.explain.late.DETAILS", 2)
    jobs: list[bytes] = []
    for number in range(5):  # each a millisecond later than the one before
        at = number * 100 * MS
        jobs += begin(LOW, at, at, deadline=at + 5 * MS, number=number)
        jobs.append(end(LOW, at + (6 + number) * MS, 2 * MS, number))
    found = explained(tmp_path, application(), jobs)
    assert (found.misses, found.by_cause) == (5, {ShareKind.not_scheduled: 5})
    assert found.callbacks[0].us_by_kind[ShareKind.executed] == 10_000
    assert [miss.job for miss in found.details] == [3, 4]


def test_the_neighbourhood_has_what_ran_around(tmp_path: Path) -> None:
    found = explained(
        tmp_path,
        application(),
        begin(OTHER, 0, 0, number=0),
        end(OTHER, 1 * MS, MS),
        begin(LOW, 20 * MS, 20 * MS, deadline=25 * MS),
        begin(HIGH, 22 * MS, 22 * MS),
        end(HIGH, 26 * MS, 4 * MS),
        end(LOW, 28 * MS, 4 * MS),
        begin(OTHER, 29 * MS, 29 * MS, number=1),
        end(OTHER, 30 * MS, MS, number=1),
    )
    (miss,) = found.details
    bars = [(bar.task, bar.begin_us, bar.end_us) for bar in miss.neighbourhood]
    assert bars == [
        ("low", 0, 2000),
        ("high", 2000, 6000),
        ("low", 6000, 8000),
        ("other", 9000, 10000),
    ]


def test_the_report_holds_every_share_and_is_one_file(tmp_path: Path) -> None:
    found = explained(
        tmp_path,
        application(),
        make.name("task", HIGH, "</script><!--<script><b>high"),
        begin(LOW, 0, 0, deadline=5 * MS),
        begin(HIGH, 1 * MS, 1 * MS),
        end(HIGH, 6 * MS, 5 * MS),
        end(LOW, 9 * MS, 4 * MS),
    )
    page = render(found)
    assert "preempted by &lt;/script&gt;" in page
    assert "</script><!--" not in page
    assert "<!--<script" not in page
    assert "5.000" in page
    assert "src=" not in page.split("<script>")[0]


def test_the_command_reports_the_cause_and_writes_the_report(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    records = [application(), *begin(LOW, 0, 0, deadline=5 * MS), end(LOW, 9 * MS, 2 * MS)]
    path = make.write(tmp_path / "t.takttrace", [*names(), *records])
    html = tmp_path / "misses.html"
    assert takt(["explain", str(path), "--html", str(html)]) == 0
    assert "not scheduled" in capfd.readouterr().out
    assert html.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert takt(["explain", str(path), "--json"]) == 0
    document: dict[str, Any] = json.loads(capfd.readouterr().out)
    assert (document["schema_version"], document["misses"]) == (1, 1)
    assert takt(["explain", str(make.write(tmp_path / "none", names()))]) == 0
    assert "no execution ended" in capfd.readouterr().out
