# SPDX-License-Identifier: Apache-2.0
"""Running a plan: each way in which a probe can misbehave ends in a clear cell, and no loss."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from takt.errors import Failure
from takt.measure.experiment.file import Source, check
from takt.measure.experiment.plan import plan, this_machine
from takt.measure.results import store
from takt.measure.results.model import Cell, Run, Status
from takt.measure.run import runner
from takt.network import stacks
from takt.processes import scratch
from takt.processes.supervision import Limits, Stop

# Waited for as a whole only by what hangs.
SHORT = Limits(start_s=120.0, drain_s=60.0, term_s=5.0)


class Quiet:
    """A watcher that can stop the run when a cell has recorded enough."""

    def __init__(self, stop: Stop | None = None, times: int = 1, after: int = 1) -> None:
        self.stop, self.times, self.after = stop, times, after
        self.finished: list[str] = []

    def begin(self, cell: Cell, done: int, of: int) -> None:
        pass

    def advance(self, cell: Cell, recorded: int) -> None:
        while self.stop and recorded >= self.after and self.stop.times < self.times:
            self.stop.request()

    def finish(self, cell: Cell) -> None:
        self.finished.append(cell.id)

    def stopping(self) -> None:
        pass


class Hanging(Quiet):
    """Lets the time of a cell pass as soon as its probe hangs."""

    def __init__(self, patch: pytest.MonkeyPatch, memory: Path) -> None:
        super().__init__()
        self.patch, self.memory = patch, memory

    def advance(self, cell: Cell, recorded: int) -> None:
        said = [one.read_text() for one in self.memory.glob("*/*.stderr")]
        if cell.transport == "hang" and any("waiting for a reader" in one for one in said):
            real = time.monotonic
            self.patch.setattr(time, "monotonic", lambda: real() + 3600)


def prepared(**keys: Any) -> Run:
    top = {key: keys.pop(key) for key in ("repetitions",) if key in keys}
    block = {"kind": "pingpong", "stack": "fake", "duration": "200ms", "rate": "1kHz"} | keys
    experiment = check({"name": "x", "repetitions": 1, "measurements": [block]} | top, Source())
    plan_of_run = plan(experiment, Source(), stacks.find(), this_machine(), 1)
    return runner.new_run(experiment, plan_of_run, runner.Diagnosis())


def measured(folder: Path, memory: Path, **keys: Any) -> Run:
    limits, watcher = keys.pop("limits", SHORT), keys.pop("watcher", None) or Quiet()
    return runner.measure_cells(
        prepared(**keys), folder, stacks.find(), watcher, limits=limits, memory=memory
    )


def rows(folder: Path, names: list[str]) -> int:
    return sum(pq.read_metadata(folder / name).num_rows for name in names)


@pytest.mark.parametrize("kind", ["wakeup", "pingpong", "pubsub"])
def test_a_cell_holds_what_the_probe_recorded(folder: Path, memory: Path, kind: str) -> None:
    run = measured(folder, memory, kind=kind)
    cell = run.cells[0]
    assert (run.status, cell.status, cell.error) == (Status.complete, Status.complete, None)
    assert (cell.count, cell.lost, cell.sent) == (200, 0, 200)
    assert rows(folder, cell.samples) == 200
    assert cell.statistics is not None
    assert cell.statistics.latency.count == 199  # the first one apart
    assert cell.statistics.first_us == pytest.approx(10.0)
    assert cell.statistics.latency.min_us == pytest.approx(10.001)
    assert cell.max_us == pytest.approx(10.199)
    assert cell.statistics.response.max_us == pytest.approx(11.199)
    assert run.versions["fake"] == "1"
    assert store.read(folder) == run
    assert list(memory.iterdir()) == []
    assert sorted(path.name for path in folder.iterdir()) == ["run.json", "samples"]


def test_losses_of_a_round_trip_are_counted(folder: Path, memory: Path) -> None:
    cell = measured(folder, memory, transport="lossy").cells[0]
    assert (cell.sent, cell.count, cell.lost) == (200, 180, 20)
    assert rows(folder, cell.samples) == 200  # a lost sample is a record too
    assert cell.status is Status.complete


def test_losses_of_all_subscribers_are_counted(folder: Path, memory: Path) -> None:
    cell = measured(folder, memory, kind="pubsub", transport="lossy", subscribers=3).cells[0]
    assert (cell.sent, cell.count, cell.lost) == (200, 3 * 180, 3 * 20)
    assert len(cell.samples) == 3
    assert rows(folder, cell.samples) == 3 * 180


@pytest.mark.parametrize(
    ("transport", "what", "why", "recorded"),
    [
        ("crash", "the ping died: SIGSEGV", "the stack's last word", 100),
        ("hang", "the ping did not end in time", "waiting for a reader", 100),
        ("garbage", "the ping wrote a result that cannot be read", "property name", 0),
        ("nospace", "no room for the samples", "ENOSPC", 0),
        ("empty", "no sample arrived", "nothing was sent", 0),
    ],
)
def test_a_probe_that_fails_marks_its_cell_and_the_run_goes_on(
    folder: Path,
    memory: Path,
    monkeypatch: pytest.MonkeyPatch,
    transport: str,
    what: str,
    why: str,
    recorded: int,
) -> None:
    hanging = Hanging(monkeypatch, memory)
    run = measured(folder, memory, transport=[transport, "fine"], watcher=hanging)
    cells = {cell.transport: cell for cell in run.cells}
    bad = cells[transport]
    assert bad.status is Status.failed
    assert bad.error is not None
    assert bad.error.what == what
    assert why in bad.error.why
    assert bad.count == rows(folder, bad.samples) == recorded
    assert cells["fine"].status is Status.complete
    assert run.status is Status.failed


def test_a_slow_start_is_waited_for(folder: Path, memory: Path) -> None:
    assert measured(folder, memory, transport="slow").status is Status.complete


def test_a_probe_that_cannot_start_is_a_failure_with_a_fix(
    folder: Path, memory: Path, prefix: Path
) -> None:
    run = prepared()
    (prefix / "lib" / "takt_probes" / "probe_fake").write_text("#!/bin/sh\necho gone >&2; exit 3\n")
    with pytest.raises(Failure, match="gone"):
        runner.measure_cells(run, folder, stacks.find(), Quiet(), memory=memory)


def test_shared_memory_of_a_killed_probe_is_removed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, go: Path
) -> None:
    leaked = scratch.MEMORY / f"fastrtps_fake{os.getpid():012x}"
    monkeypatch.setenv("TAKT_FAKE_LEAK", leaked.name)

    class Look(Quiet):
        def advance(self, cell: Cell, recorded: int) -> None:
            if leaked.exists():
                go.touch()

    keys = {"kind": "wakeup", "transport": "leak", "watcher": Look()}
    cell = measured(folder, scratch.MEMORY, **keys).cells[0]
    assert cell.error is not None
    assert cell.error.what == "the probe died: SIGKILL"
    assert go.exists(), "it was never there"
    assert not leaked.exists()


def test_no_probe_is_left_after_a_run(folder: Path, memory: Path) -> None:
    measured(folder, memory, transport="hang", limits=Limits(0.3, 0.1, 0.1))
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert str(folder) not in listed.stdout
    assert str(memory) not in listed.stdout


def test_stopping_keeps_what_was_measured_and_resume_completes_it(
    folder: Path, memory: Path, go: Path
) -> None:
    stop = Stop()
    run = runner.measure_cells(
        prepared(repetitions=3, duration="500ms", transport="held"), folder, stacks.find(),
        Quiet(stop, after=50), stop=stop, limits=SHORT, memory=memory,
    )  # fmt: skip
    assert run.status is Status.partial
    assert [cell.status for cell in run.cells] == [
        Status.partial, Status.pending, Status.pending,
    ]  # fmt: skip
    kept = run.cells[0].count
    assert 50 <= kept < 500
    go.touch()
    again = runner.reopen(folder, None, None)
    watcher = Quiet()
    run = runner.measure_cells(again, folder, stacks.find(), watcher, limits=SHORT, memory=memory)
    assert run.status is Status.complete
    assert len(watcher.finished) == 3
    assert [cell.count for cell in run.cells] == [500] * 3
    assert rows(folder, run.cells[0].earlier_attempts) == kept


def test_stopping_twice_ends_at_once_and_resume_finds_the_recording(
    folder: Path, memory: Path, go: Path
) -> None:
    stop = Stop()
    run = runner.measure_cells(
        prepared(duration="500ms", transport="held"), folder, stacks.find(),
        Quiet(stop, times=2, after=50), stop=stop, limits=SHORT, memory=memory,
    )  # fmt: skip
    assert run.cells[0].samples == []
    go.touch()
    again = runner.reopen(folder, None, None)
    run = runner.measure_cells(again, folder, stacks.find(), Quiet(), limits=SHORT, memory=memory)
    assert run.status is Status.complete, run.cells[0].error
    assert rows(folder, run.cells[0].earlier_attempts) >= 50
    assert list(memory.iterdir()) == []


def test_a_failed_cell_is_measured_again_and_keeps_every_attempt(
    folder: Path, memory: Path
) -> None:
    for attempt in range(3):
        run = prepared(transport="crash") if not attempt else runner.reopen(folder, None, None)
        run = runner.measure_cells(run, folder, stacks.find(), Quiet(), limits=SHORT, memory=memory)
    cell = run.cells[0]
    assert [Path(name).name for name in cell.earlier_attempts] == [
        f"{cell.id}.attempt1.parquet",
        f"{cell.id}.attempt2.parquet",
    ]
    assert rows(folder, cell.earlier_attempts) == 200
    assert rows(folder, cell.samples) == 100


@pytest.mark.parametrize("small", ["memory", "both"])
def test_no_space_left_stops_cleanly_or_moves_to_the_disk(
    tmp_path: Path, prefix: Path, small: str
) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs takes root")
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1100k", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this system does not allow mounting a tmpfs")
    try:
        folder = (place if small == "both" else tmp_path) / "run"
        folder.mkdir()
        if small == "both":
            with pytest.raises(Failure, match=r"no space left(.|\n)*takt run --resume"):
                measured(folder, place, rate="10kHz", duration="300ms")
            run = store.read(folder)
            assert run.cells[0].status is Status.pending
            assert not list(place.glob("takt-*"))
        else:
            run = measured(folder, place, rate="10kHz", duration="300ms")
            assert run.status is Status.complete
            assert run.cells[0].count == 3000
            # Others may be noted, too: whoever else had the core.
            assert [note.what for note in run.cells[0].notes].count("recorded to the disk") == 1
            assert sorted(path.name for path in folder.iterdir()) == ["run.json", "samples"]
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_while_writing_results_loses_nothing(
    folder: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "x.parquet")

    with monkeypatch.context() as patched:
        patched.setattr("takt.measure.run.samples.store", full)
        with pytest.raises(Failure, match="no space left while writing"):
            measured(folder, memory)
    run = runner.reopen(folder, None, None)
    run = runner.measure_cells(run, folder, stacks.find(), Quiet(), limits=SHORT, memory=memory)
    assert run.status is Status.complete
    assert rows(folder, run.cells[0].earlier_attempts) == 200
