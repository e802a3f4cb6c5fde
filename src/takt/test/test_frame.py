# SPDX-License-Identifier: Apache-2.0
"""The frame around measured programs: whatever happens in it, nothing of them is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from takt.processes.frame import Frame
from takt.processes.leftovers import Journal
from takt.processes.supervision import End, Limits, Program, Stop, Until

LIMITS = Limits(start_s=60.0, term_s=30.0)
SLEEP = ["sleep", "600"]


def program(folder: Path, command: list[str], *, background: bool = False) -> Program:
    name = f"{command[0]}{background}"
    return Program(
        name, command, folder / f"{name}.json", folder / f"{name}.stderr", background=background
    )


@pytest.fixture
def frame(tmp_path: Path) -> Frame:
    return Frame(Journal(tmp_path, tmp_path), Until(Stop()))


def test_what_surrounds_the_measured_runs_until_that_has_ended(
    tmp_path: Path, frame: Frame
) -> None:
    load, probe = program(tmp_path, SLEEP, background=True), program(tmp_path, ["true"])
    running = []
    end, who = frame.run(
        [load, probe], {}, 600.0, LIMITS, lambda _pids, _seconds: None,
        measured=lambda: running.append((load.running, probe.running)),
        ended=lambda: running.append((load.running, probe.running)),
    )  # fmt: skip
    assert (end, who) == (End.done, None)
    assert running == [(True, False), (False, False)]
    assert frame.seconds > 0
    assert frame.disturbances.by_others is not None


def test_programs_whose_time_is_over_have_timed_out(tmp_path: Path, frame: Frame) -> None:
    probe = program(tmp_path, SLEEP)

    def tick(pids: list[int], _seconds: float) -> None:
        assert pids
        frame.until.is_over = True

    assert frame.run([probe], {}, 600.0, LIMITS, tick) == (End.timeout, probe)
    assert not probe.running


def test_a_watcher_that_fails_leaves_no_program_and_no_shared_memory(
    tmp_path: Path, frame: Frame, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe, swept, kept = program(tmp_path, SLEEP), [], []
    frame.until_met.callback(lambda: kept.append(probe.running))
    monkeypatch.setattr(Journal, "sweep", lambda _: swept.append(probe.running))

    def tick(_pids: list[int], _seconds: float) -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        frame.run([probe], {}, 600.0, LIMITS, tick)
    assert (swept, kept) == ([False], [False])
