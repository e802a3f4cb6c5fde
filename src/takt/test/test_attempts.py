# SPDX-License-Identifier: Apache-2.0
"""What earlier attempts of a cell recorded is kept, and their numbers do not pass for its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_run import SHORT, Quiet, prepared, rows

from takt.measure.results import store
from takt.measure.results.model import Cell, Run, Status
from takt.measure.run import runner, samples
from takt.measure.run.measured import keep
from takt.network import stacks
from takt.processes import scratch
from takt.processes.supervision import Stop

ANOTHER = b"another format, of some later version" * 10


def resumed(folder: Path, memory: Path, watcher: Quiet, stop: Stop) -> Run:
    again = runner.reopen(folder, None, None)
    return runner.measure_cells(
        again, folder, stacks.find(), watcher, stop=stop, limits=SHORT, memory=memory
    )


def stopped_before(folder: Path, memory: Path) -> Run:
    """Resumed, but stopped before the first cell."""
    stop = Stop()
    stop.request()
    return resumed(folder, memory, Quiet(), stop)


def of_threads(folder: Path, memory: Path) -> Cell:
    """The cell of a run that was stopped before it, of two threads."""
    run, stop = prepared(duration="500ms"), Stop()
    run.cells[0].threads = 2
    stop.request()
    run = runner.measure_cells(run, folder, stacks.find(), Quiet(), stop=stop, memory=memory)
    return run.cells[0]


def recording(path: Path, count: int) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(samples.header(count) + bytes(samples.RECORD.itemsize * count))


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.usefixtures("go")
def test_an_attempt_that_is_stopped_has_none_of_the_numbers_of_the_one_before(
    folder: Path, memory: Path, times: int
) -> None:
    stop = Stop()
    run = prepared(repetitions=2, duration="500ms", transport="held")
    watcher = Quiet(stop, after=50)
    run = runner.measure_cells(
        run, folder, stacks.find(), watcher, stop=stop, limits=SHORT, memory=memory
    )
    # Both have numbers, as after a run whose second cell was stopped, too.
    kept = {"id", "key", "repetition", "order"}
    numbers = {name: one for name, one in run.cells[0] if name not in kept}
    run.cells[1] = run.cells[1].model_copy(update=numbers | {"samples": []})
    assert all(cell.statistics is not None and cell.count for cell in run.cells)
    store.write(run, folder)
    stop = Stop()
    run = resumed(folder, memory, Quiet(stop, times=times, after=50), stop)
    left = run.cells if times == 2 else run.cells[1:]
    for cell in left:
        assert cell.statistics is None
        assert cell.count == 0
        assert cell.p50_us is None
        assert cell.histogram is None
    assert run.cells[1].status is Status.pending
    assert len(run.cells[0].earlier_attempts) == 1


def test_every_thread_of_an_earlier_attempt_is_kept(folder: Path, memory: Path) -> None:
    cell = of_threads(folder, memory)
    for attempt, count in enumerate((100, 200), 1):
        for name in (cell.id, f"{cell.id}-t1"):
            recording(folder / scratch.ON_DISK / f"{name}.taktsamples", count)
        (cell,) = stopped_before(folder, memory).cells
        assert len(cell.earlier_attempts) == 2 * attempt
    assert rows(folder, cell.earlier_attempts) == 2 * (100 + 200)


def test_threads_that_were_stored_make_room_for_those_of_the_next_attempt(
    folder: Path, memory: Path
) -> None:
    cell = of_threads(folder, memory)
    for name in (cell.id, f"{cell.id}-t1"):
        raw = folder / f"{name}.taktsamples"
        recording(raw, 100)
        cell.samples.append(keep(samples.read(raw), raw, folder))
    cell.status = Status.partial
    run = runner.reopen(folder, None, None)
    run.cells = [cell]
    store.write(run, folder)
    (cell,) = stopped_before(folder, memory).cells
    assert [Path(name).name for name in cell.earlier_attempts] == [
        f"{cell.id}-t1.attempt1.parquet",
        f"{cell.id}.attempt1.parquet",
    ]
    assert rows(folder, cell.earlier_attempts) == 200


def test_a_recording_that_cannot_be_read_is_kept_and_reported(folder: Path, memory: Path) -> None:
    run, stop = prepared(), Stop()
    stop.request()
    run = runner.measure_cells(run, folder, stacks.find(), Quiet(), stop=stop, memory=memory)
    raw = folder / scratch.ON_DISK / f"{run.cells[0].id}.taktsamples"
    raw.parent.mkdir(exist_ok=True)
    raw.write_bytes(ANOTHER)
    run = resumed(folder, memory, Quiet(), Stop())
    (cell,) = run.cells
    assert cell.status is Status.complete
    # Others may be noted, too: whoever else had the core.
    assert [note.what for note in cell.notes].count(
        "cannot read the recordings of a killed attempt"
    ) == 1
    (kept,) = (folder / "samples").glob("*.taktsamples")
    assert kept.read_bytes() == ANOTHER
