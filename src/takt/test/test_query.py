# SPDX-License-Identifier: Apache-2.0
"""Many runs as SQL tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_run import SHORT, Quiet, measured, prepared

from takt.errors import TaktError
from takt.measure.results import store
from takt.measure.results.query import connect
from takt.measure.run import runner
from takt.network import stacks
from takt.processes.supervision import Stop


def test_cells_and_samples_of_many_runs_are_two_tables(
    tmp_path: Path, memory: Path, prefix: Path
) -> None:
    folders = [tmp_path / "a'b", tmp_path / "c"]
    for folder, transport in zip(folders, ("fine", "lossy"), strict=True):
        folder.mkdir()
        measured(folder, memory, transport=transport)
    runs = connect(folders)
    assert runs.sql("SELECT transport, count, lost, status FROM cells ORDER BY 1").fetchall() == [
        ("fine", 200, 0, "complete"),
        ("lossy", 180, 20, "complete"),
    ]
    rows = runs.sql(
        "SELECT s.run, count(*), sum(s.lost::INT), max(latency_us), c.max_us "
        "FROM samples s JOIN cells c ON s.run = c.run AND s.cell = c.id "
        "WHERE NOT first GROUP BY ALL ORDER BY 1"
    ).fetchall()
    assert [row[:3] for row in rows] == [(str(folders[0]), 199, 0), (str(folders[1]), 199, 20)]
    assert all(row[3] == pytest.approx(row[4]) for row in rows)


def test_earlier_attempts_are_distinguished(
    tmp_path: Path, memory: Path, prefix: Path, go: Path
) -> None:
    stop = Stop()
    run = prepared(duration="300ms", transport="held")
    for watcher, asked in ((Quiet(stop, after=20), stop), (Quiet(), Stop())):
        runner.measure_cells(
            run, tmp_path, stacks.find(), watcher, stop=asked, limits=SHORT, memory=memory
        )
        run = store.read(tmp_path)
        go.touch()
    query = "SELECT earlier_attempt, count(*) FROM samples GROUP BY 1 ORDER BY 1"
    (now, before) = connect([tmp_path]).sql(query).fetchall()
    assert now == (False, 300)
    assert before[1] >= 20


def test_no_runs_are_empty_tables(tmp_path: Path) -> None:
    for table in ("cells", "samples"):
        assert connect([]).sql(f"SELECT * FROM {table}").fetchall() == []  # noqa: S608
    with pytest.raises(TaktError, match="no run in this folder"):
        connect([tmp_path])
