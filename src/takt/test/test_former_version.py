# SPDX-License-Identifier: Apache-2.0
"""A run that was stored with schema_version 1 is read by every command that reads runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from takt.cli.main import main
from takt.measure.results import scheduling, store
from takt.measure.results.model import SCHEMA_VERSION
from takt.measure.results.query import connect
from takt.processes.scratch import DOCUMENT

STORED = Path(__file__).parent / "run_of_version_1"
FORMER_KEYS = ('"asked"', '"obtained"', '"samples_asked"', '"asked_priority"')
Call = Callable[..., tuple[int, str]]


@pytest.fixture
def former(tmp_path: Path) -> Path:
    return shutil.copytree(STORED, tmp_path / "former")


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Call:
    """Call a command; return its exit code and standard output."""

    def run(*arguments: object) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main([*map(str, arguments)])
        return int(ended.value.code or 0), capfd.readouterr().out

    return run


def test_the_keys_of_version_1_are_those_of_today(former: Path) -> None:
    stored = (former / DOCUMENT).read_text()
    assert all(key in stored for key in FORMER_KEYS)
    run = store.read(former)
    (cell,) = run.cells
    assert (run.schema_version, cell.samples_requested) == (SCHEMA_VERSION, 60)
    assert scheduling.requested(cell) == ("fifo", 80)
    assert scheduling.granted(cell) == [("fifo", 80)]
    threads = [one for probe in cell.probes for one in probe.granted["dds_threads"]]
    assert {one["requested_priority"] for one in threads} == {10, 15}

    store.write(run, former)
    written = (former / DOCUMENT).read_text()
    assert not any(key in written for key in FORMER_KEYS)
    assert store.read(former) == run


def test_before_scheduling_the_key_was_policy(former: Path) -> None:
    run = store.read(former)
    document = former / DOCUMENT
    stored = document.read_text().replace('"scheduling": "fifo",', '"policy": "fifo",')
    assert stored != document.read_text()
    document.write_text(stored)
    assert store.read(former) == run


@pytest.mark.parametrize(
    "change",
    [
        {"cells": 5},
        {"cells": [5]},
        {"cells": [{"probes": 5}]},
        {"cells": [{"probes": [5]}]},
        {"cells": [{"probes": [{"obtained": {"dds_threads": [5]}}]}]},
        {"told": 1},
    ],
)
def test_what_is_not_a_run_of_version_1_is_refused(
    former: Path, call: Call, change: dict[str, object]
) -> None:
    document = former / DOCUMENT
    document.write_text(json.dumps(json.loads(document.read_text()) | change))
    assert call("report", former)[0] == 2


def test_report_reads_it(former: Path, call: Call) -> None:
    assert call("report", former)[0] == 0
    assert "10-15" in (former / "report.html").read_text()


def test_compare_finds_it_equal_to_itself_of_today(
    former: Path, call: Call, tmp_path: Path
) -> None:
    today = shutil.copytree(former, tmp_path / "today")
    store.write(store.read(former), today)
    code, out = call("compare", former, today)
    assert code == 0
    assert "undecided: 1 of 1" in out  # equal, but one repetition shows little


def test_history_adds_it(former: Path, call: Call, tmp_path: Path) -> None:
    code, out = call("history", former, "--store", tmp_path / "history.sqlite", "--json")
    assert code == 0
    assert store.read(former).cells[0].key in out


def test_gate_judges_it(former: Path, call: Call, tmp_path: Path) -> None:
    limits = tmp_path / "limits.yaml"
    limits.write_text("cells:\n  rcl-pingpong-*: {response: 1ns}\n")
    code, out = call("gate", former, "--limits", limits)
    assert code == 3  # the stored run was disturbed
    assert "59 of 59" in out


def test_sql_has_the_columns_of_today(former: Path) -> None:
    found = connect([former]).sql("SELECT samples_requested, granted FROM cells").fetchall()
    assert found == [(60, "fifo 80")]
