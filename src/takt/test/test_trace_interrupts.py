# SPDX-License-Identifier: Apache-2.0
"""Interrupts in the jobs of a recording: found, named, and a cause of a late response."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import cast

import pytest
from recording_files import BEGIN, MS, robot

from takt.processes.interrupts import Interrupts
from takt.processes.switches import INTERRUPT, Held, Switches
from takt.schedule.explain import explain
from takt.schedule.explain.account import account
from takt.schedule.explain.jobs import Job, Slice
from takt.schedule.explain.model import ShareKind
from takt.schedule.record.summary import summary
from takt.schedule.ros2 import switches
from takt.schedule.trace import file as traces
from takt.schedule.trace.beside import Span, interrupted
from takt.schedule.trace.programs import Programs
from takt.schedule.view.page import write_view

ME, ROW = 7, 3
US = 1_000
RELEASE = BEGIN + 30 * MS  # of one job of the sensor: it begins 100 µs later and takes 1 ms


def handled(begin: int, end: int, name: str = "softirq NET_RX") -> Held:
    return Held(begin, end, 0, INTERRUPT, name)


def held(begin: int, end: int, *, cpu: int = 0, thread: int = 9) -> Held:
    return Held(begin, end, cpu, 1, "other", thread)


def found(interrupts: list[Held], taken: list[Held], own: list[Held]) -> list[tuple[int, int]]:
    result = interrupted({0: interrupts}, taken, own, [Span(10, 50, 0), Span(60, 90, 0)], ROW)
    return [(one.begin, one.end) for one in result if (one.cpu, one.process) == (ROW, INTERRUPT)]


def test_interrupts_are_cut_to_the_jobs() -> None:
    interrupts = [handled(0, 12), handled(40, 70), handled(95, 99)]
    assert found(interrupts, [], []) == [(10, 12), (40, 50), (60, 70)]
    elsewhere = interrupted({1: interrupts}, [], [], [Span(10, 50, 0)], ROW)
    assert list(elsewhere) == []


def test_what_another_thread_had_it_lost_to_the_interrupt_itself() -> None:
    assert found([handled(10, 40)], [held(20, 30)], []) == [(10, 20), (30, 40)]


def test_a_thread_that_moved_is_not_interrupted_where_it_was() -> None:
    own = [held(0, 20, thread=ME), held(20, 90, cpu=1, thread=ME)]
    assert found([handled(10, 40)], [], own) == [(10, 20)]


def recorded(tmp_path: Path, *lines: str) -> Path:
    folder = robot(tmp_path / "out")
    (folder / switches.FILE).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def interrupt(begin: int, end: int, name: str, core: int = 1) -> str:
    return f"interrupt {core} {RELEASE + begin * US} {RELEASE + end * US} {name}"


def test_an_interrupt_is_named_as_the_cause_of_a_late_response(tmp_path: Path) -> None:
    folder = recorded(
        tmp_path,
        interrupt(50, 80, "softirq NET_RX"),
        interrupt(300, 800, "interrupt 36 disk"),
        interrupt(850, 950, "softirq RCU", core=0),
        interrupt(960, 990, "softirq TIMER"),
        f"held 1 {RELEASE + 955 * US} {RELEASE + 995 * US} 5 5 other",
        "interrupts_lost 0",
    )
    explanation = explain(folder, limits={"sensor.timer0": 900 * US})
    late = [one for one in explanation.details if one.cause is ShareKind.interrupts]
    assert [one.release_ns for one in late] == [RELEASE]
    assert (late[0].cause_us, late[0].partly) == (530, False)
    shares = {one.kind: one for one in late[0].shares}
    assert shares[ShareKind.interrupts].evidence == "interrupt 36 disk 500 µs, softirq NET_RX 30 µs"
    assert shares[ShareKind.late].us == 70
    assert sum(one.us for one in late[0].shares) == late[0].end_us
    assert [(one.name, one.us) for one in late[0].programs] == [("other", 40)]
    assert not any("interrupts" in one for one in explanation.remarks)
    write_view(folder, tmp_path / "view.html")
    assert '"interrupt 36 disk"' in (tmp_path / "view.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "remark"),
    [
        ("interrupts_refused no tracefs: mount", "interrupts were not recorded: no tracefs: mount"),
        ("lost 0", "interrupts were not recorded: recorded before Takt recorded them"),
        ("interrupts_lost 7", "7 interrupts were not recorded: they may have had"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, line: str, remark: str) -> None:
    folder = recorded(tmp_path, line)
    explanation = explain(folder, limits={"sensor.timer0": 900 * US})
    assert any(one.startswith(remark) for one in explanation.remarks)
    notes = [one for one in summary(folder, [], 0).notes if "interrupts" in one]
    reason = remark.removeprefix("interrupts were not recorded: ")
    assert notes == ([] if reason == remark else [f"interrupts are not recorded: {reason}"])


def test_damage_is_left_out(tmp_path: Path) -> None:
    folder = recorded(
        tmp_path, "interrupt 1 9 8 x", "interrupt x", "interrupts_lost x", "interrupt 1 8 9 a b"
    )
    assert switches.read(folder).interrupts == [Held(8, 9, 1, INTERRUPT, "a b")]


class Kernel:
    """What the kernel would have recorded."""

    refused = None
    lost, left_out = 3, 4
    held = (handled(10, 20),)

    def end(self) -> None:
        pass


def test_they_are_written_beside_the_recordings_and_read_again(tmp_path: Path) -> None:
    beside = switches.Beside(tmp_path)
    beside._switches = cast("Switches", Kernel())
    beside._interrupts = cast("Interrupts", Kernel())
    beside.end()
    found_again = switches.read(tmp_path)
    assert found_again.interrupts == [handled(10, 20)]
    assert (found_again.interrupts_lost, found_again.interrupts_refused) == (7, None)


def test_they_are_no_programs_and_no_job_that_ran_instead(tmp_path: Path) -> None:
    folder = recorded(tmp_path, interrupt(300, 800, "softirq RCU"), "interrupts_lost 0")
    programs = Programs(traces.read(folder).names)
    (row,) = programs.by_core
    assert programs.interrupts(row, RELEASE, RELEASE + 400 * US) == {"softirq RCU": 100 * US}
    assert programs.within(row, RELEASE, RELEASE + MS) == []
    other = Job(1, 0, release=0, start=0, end=40)
    job = Job(0, 0, release=0, start=60, end=100)
    parts = account(
        job,
        [Slice(other, 0, 0, 40), Slice(job, 0, 60, 100)],
        declared=None,
        stolen=0,
        less_urgent=lambda _, __: False,
        may_block=lambda _, __: False,
        interrupts=lambda begin, end: Counter(rcu=max(0, min(end, 70) - max(begin, 30))),
    )
    assert {part.kind: part.ns for part in parts} == {
        ShareKind.waited: 40,  # the interrupt in it is that job's
        ShareKind.interrupts: 30,
        ShareKind.executed: 30,
    }
    assert [part.interrupts for part in parts if part.kind is ShareKind.interrupts] == [{"rcu": 30}]
