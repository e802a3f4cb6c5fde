# SPDX-License-Identifier: Apache-2.0
"""Who had the cores of recorded jobs: found in the context switches, and recorded beside."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as some
from recording_files import BEGIN, MS, Process, robot

from takt.errors import Failure
from takt.network import stacks
from takt.processes.switches import Held, Switches
from takt.schedule.explain import explain
from takt.schedule.record.summary import summary
from takt.schedule.ros2 import switches
from takt.schedule.trace import file as traces
from takt.schedule.trace.beside import Ran, Span, beside, between, named
from takt.schedule.trace.programs import Programs
from takt.schedule.view.page import write_view

ME, ROW = 7, 3


def held(begin: int, end: int, *, cpu: int = 0, thread: int = 9, name: str = "other") -> Held:
    return Held(begin, end, cpu, 1, name, thread)


def found(stretches: list[Held], *spans: Span) -> list[tuple[int, int, str]]:
    result = list(beside(stretches, spans, ME, ROW))
    assert all(one.cpu == ROW for one in result)
    return [(one.begin, one.end, one.name) for one in result]


def test_stretches_are_cut_to_the_jobs_and_named() -> None:
    stretches = [held(0, 5), held(8, 12, name="dds"), held(30, 40), held(12, 13, cpu=1)]
    assert found(stretches, Span(3, 10, 0), Span(10, 35, 0)) == [
        (3, 5, "other"),
        (8, 10, "dds"),
        (10, 12, "dds"),
        (30, 35, "other"),
    ]


def test_what_a_thread_does_before_and_after_its_callbacks_is_called_so() -> None:
    calls = {(1, 9): [Ran(10, 20), Ran(30, 40)]}
    stretches = [held(0, 12), held(35, 50), held(1, 60, thread=8)]
    assert [(one.begin, one.end, one.name) for one in named(stretches, calls)] == [
        (0, 10, "other before its first callback"),
        (10, 12, "other"),
        (35, 40, "other"),
        (40, 50, "other after its last callback"),
        (1, 60, "other"),  # that thread called none
    ]


def test_between_callbacks_is_what_a_thread_does_outside_of_them() -> None:
    calls = [Ran(10, 20), Ran(30, 40)]
    own = named([held(0, 50)], {(1, 9): calls})
    assert [(one.begin, one.end, one.name) for one in between(own, calls)] == [
        (0, 10, "other before its first callback"),
        (20, 30, "other between its callbacks"),
        (40, 50, "other after its last callback"),
    ]


def test_jobs_that_waited_for_their_own_process_name_it(tmp_path: Path) -> None:
    folder = robot(tmp_path / "out")  # the sensor is due every 10 ms, and begins 0.1 ms later
    (folder / switches.FILE).write_text(
        f"held 1 {BEGIN} {BEGIN + 1000 * MS} 11 11 sensors\n", encoding="utf-8"
    )
    names = traces.read(folder).names
    (row,) = (n for n in range(3) if names.values(f"thread.{n}") == ["sensors 11, thread 11"])
    named_beside: dict[str, list[int]] = defaultdict(list)
    for one in Programs(names).by_core[row]:
        named_beside[one.name].append(one.end - one.begin)
    assert named_beside == {
        "sensors before its first callback": [MS // 10],
        "sensors between its callbacks": 19 * [MS // 10],
    }


def test_a_thread_that_moved_is_not_delayed_where_it_was() -> None:
    own = held(20, 60, cpu=1, thread=ME)
    assert found([held(10, 100), own], Span(0, 70, 0)) == [(10, 20, "other"), (60, 70, "other")]


def test_jobs_that_overlap_count_once() -> None:
    assert found([held(0, 100)], Span(10, 50, 0), Span(20, 40, 0), Span(30, 60, 0)) == [
        (10, 50, "other"),
        (50, 60, "other"),
    ]


@given(
    some.lists(some.tuples(some.integers(0, 40), some.integers(1, 9), some.booleans()), max_size=9),
    some.lists(some.tuples(some.integers(0, 99), some.integers(0, 60)), max_size=9),
)
def test_every_moment_of_a_job_without_its_own_thread_has_the_thread_that_had_the_core(
    drawn: list[tuple[int, int, bool]], jobs: list[tuple[int, int]]
) -> None:
    stretches, at = [], 0
    for gap, length, mine in drawn:
        stretches.append(held(at + gap, at + gap + length, thread=ME if mine else 9))
        at += gap + length
    spans = [Span(begin, begin + length, 0) for begin, length in jobs]
    moments = {
        moment
        for one in stretches
        if one.thread != ME
        for moment in range(one.begin, one.end)
        if any(span.release <= moment < span.end for span in spans)
    }
    result = found(stretches, *spans)
    assert sorted(moments) == [
        moment for begin, end, _ in result for moment in range(begin, end)
    ]  # each once, and by time


def test_a_file_is_read_as_it_was_written_and_damage_is_left_out(tmp_path: Path) -> None:
    assert not switches.read(tmp_path).known
    (tmp_path / switches.FILE).write_text(
        "held 1 20 30 5 6 a name\nheld 0 1 2 3 4 b\nheld 0 9 2 3 4 backwards\nheld x\n\nlost 3\n"
        "lost many\nlost 4\nother\n",
        encoding="utf-8",
    )
    switches_read = switches.read(tmp_path)
    assert switches_read.held == [Held(1, 2, 0, 3, "b", 4), Held(20, 30, 1, 5, "a name", 6)]
    assert (switches_read.known, switches_read.lost, switches_read.refused) == (True, 7, None)


class Many:
    """More than a small disk has space for."""

    refused = None
    lost = left_out = 0
    held = tuple(held(10 * i, 10 * i + 5) for i in range(10_000))

    def end(self) -> None:
        pass


def played() -> Path:
    try:
        stacks.program("libtakt_record.so")
        return stacks.program("played_events")
    except Failure:
        pytest.skip("takt_record is not built with its tests")


def record(folder: Path, cpu: int, fix: str = "") -> str:
    """A recording of a program on this core."""
    words = ["record", "-o", str(folder), "--", "taskset", "-c", str(cpu), str(played())]
    code = f"{fix}\nimport sys; sys.argv[1:] = {words!r}; from takt.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_programs_beside_a_recorded_one_are_named_everywhere(tmp_path: Path) -> None:
    if Switches([0]).refused:
        pytest.skip("the kernel does not record switches for this user")
    cpu = max(os.sched_getaffinity(0))
    code = f"import os\nos.sched_setaffinity(0, {{{cpu}}})\nprint(flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as hog:
        assert hog.stdout
        hog.stdout.readline()
        try:
            for _ in range(5):  # until they share the core within a job
                folder = tmp_path / str(time.monotonic_ns())
                record(folder, cpu)
                trace = traces.read(folder)
                beside = [one for all_ in Programs(trace.names).by_core.values() for one in all_]
                if any(one.process == hog.pid for one in beside):
                    break
        finally:
            hog.kill()
    assert any(one.process == hog.pid for one in beside)
    write_view(folder, tmp_path / "view.html")
    assert f"({hog.pid})" in (tmp_path / "view.html").read_text(encoding="utf-8")
    assert "programs on these cores were not recorded" not in str(explain(folder))


def test_a_full_disk_leaves_the_stretches_before_and_no_half_of_one_and_is_named(
    disk: Callable[[str], Path],
) -> None:
    folder = disk("64k")
    written = "held 0 1 2 3 4 b\n"
    (folder / switches.FILE).write_text(written, encoding="utf-8")
    recorded = switches.Beside(folder)
    recorded._switches = cast("Switches", Many())
    recorded.end()
    found = switches.read(folder)
    assert (found.held, found.refused) == ([Held(1, 2, 0, 3, "b", 4)], None)
    assert found.lost == len(Many.held)
    (folder / switches.FILE).unlink()
    recorded._switches = cast("Switches", Many())
    recorded.end()
    found = switches.read(folder)
    assert (found.held, found.lost) == ([], 0)
    assert found.refused == f"{folder / switches.FILE}: No space left on device"
    process = Process(1)
    process.node(1, "one")
    process.write(folder)
    (note,) = [one for one in summary(folder, [], 0).notes if one.startswith("who else")]
    assert note.endswith("No space left on device")


def test_a_disk_without_any_space_leaves_no_file_and_a_note_of_that(
    disk: Callable[[str], Path],
) -> None:
    folder = disk("64k")
    process = Process(1)
    process.node(1, "one")
    process.write(folder)
    with pytest.raises(OSError, match="No space"):
        (folder / "all").write_bytes(bytes(1 << 20))
    recorded = switches.Beside(folder)
    recorded._switches = cast("Switches", Many())
    recorded.end()
    assert not switches.read(folder).known
    notes = summary(folder, [], 0).notes
    assert any("the disk had no space for it" in one for one in notes)


def test_without_rights_the_reason_is_given_once(tmp_path: Path) -> None:
    fix = (
        "import takt.processes.switches as s\n"
        "def refused(_): raise OSError(13, 'Permission denied')\n"
        "s._Ring = refused\n"
    )
    printed = record(tmp_path / "out", max(os.sched_getaffinity(0)), fix)
    assert printed.count("who else had the cores is not recorded: perf_event_open") == 1
    assert summary(tmp_path / "out", [], 0).notes[0].startswith("who else had the cores")
    assert Programs(traces.read(tmp_path / "out").names).refused
