# SPDX-License-Identifier: Apache-2.0
"""takt spin without an executor: threads get what the timing file says, and lose it again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from takt.schedule.spin.report import Report
from takt.schedule.spin.threads import Threads, settings_of
from takt.schedule.timing.model import ThreadRule, TimingFile, TimingRule

CODE = """
import ctypes, sys, threading
def receive():
    ctypes.CDLL(None).prctl(15, b"dds.udp.7400", 0, 0, 0)
    print(threading.get_native_id(), flush=True)
    sys.stdin.read()
thread = threading.Thread(target=receive)
thread.start()
thread.join()
"""


@pytest.fixture
def program() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", CODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    yield process
    process.communicate()


def thread_of(program: subprocess.Popen[str]) -> int:
    assert program.stdout
    return int(program.stdout.readline())


def threads(folder: Path, *rules: ThreadRule, **file: object) -> Threads:
    report = Report(folder / "report")
    report.file.touch()
    return Threads(TimingFile.model_validate({"threads": rules, **file}), report)


def may_have_priorities() -> bool:
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        return False
    os.sched_setscheduler(0, *before)
    return True


needs_priorities = pytest.mark.skipif(
    not may_have_priorities(), reason="this user may not use SCHED_FIFO"
)


def test_a_named_thread_gets_its_cores_and_the_others_keep_theirs(
    program: subprocess.Popen[str], tmp_path: Path
) -> None:
    thread = thread_of(program)
    core = max(os.sched_getaffinity(0))
    one = threads(tmp_path, ThreadRule(name="dds.*", cpus=[core]))
    before = os.sched_getaffinity(program.pid)
    one.look(program.pid)
    assert os.sched_getaffinity(thread) == {core}
    assert os.sched_getaffinity(program.pid) == before
    (done,) = one.done
    assert (done.thread, done.name, done.granted.cpus) == (thread, "dds.udp.7400", [core])
    one.give_back()
    assert os.sched_getaffinity(thread) == before


@needs_priorities
def test_later_rules_count_and_programs_are_distinguished(
    program: subprocess.Popen[str], tmp_path: Path
) -> None:
    thread = thread_of(program)
    one = threads(
        tmp_path,
        ThreadRule(name="dds.*", priority=5),
        ThreadRule(name="dds.*", priority=7, policy="rr"),
        ThreadRule(name="dds.*", priority=9, program="rviz2"),
    )
    before = settings_of(thread)
    one.look(program.pid)
    assert (settings_of(thread).policy, settings_of(thread).priority) == ("rr", 7)
    assert one.done[0].refused is None
    assert one.matched == {0, 1}
    one.give_back()
    assert settings_of(thread) == before


@needs_priorities
def test_a_thread_of_a_stock_executor_has_the_highest_priority_of_its_nodes(
    program: subprocess.Popen[str], tmp_path: Path
) -> None:
    thread = thread_of(program)
    core = max(os.sched_getaffinity(0))
    rules = [TimingRule(priority=3), TimingRule(node="/a", priority=8)]
    rules += [TimingRule(node="/b", priority=11), TimingRule(node="/c", priority=50)]
    one = threads(tmp_path, callbacks=rules, cpus=[core])
    line = f"{program.pid}\tpython"
    one.report.file.write_text(f"thread\t{line}\tST\t{thread}\t77\t/a\n", encoding="utf-8")
    one.look(program.pid)
    assert settings_of(thread).priority == 8
    with one.report.file.open("a", encoding="utf-8") as file:
        file.write(f"node\t{line}\t78\t/c\nnode\t{line}\t77\t/b\n")  # 78: another executor
    one.look(program.pid)
    assert settings_of(thread).priority == 11
    assert one.done[0].nodes == ["/a", "/b"]
    assert os.sched_getaffinity(thread) == {core}
    with one.report.file.open("a", encoding="utf-8") as file:
        file.write(f"ended\t{line}\t{thread}\n")
    one.look(program.pid)
    assert (settings_of(thread).policy, settings_of(thread).priority) == ("other", 0)


@needs_priorities
def test_what_such_a_thread_starts_is_without_its_priority(
    program: subprocess.Popen[str], tmp_path: Path
) -> None:
    thread = thread_of(program)
    threads(tmp_path, ThreadRule(name="dds.*", priority=5)).look(program.pid)
    assert os.sched_getscheduler(thread) & os.SCHED_RESET_ON_FORK


def test_what_the_kernel_refuses_is_reported_next_to_what_it_granted(
    program: subprocess.Popen[str], tmp_path: Path
) -> None:
    thread = thread_of(program)
    one = threads(tmp_path, ThreadRule(name="dds.*", cpus=[4095]))  # no such core
    before = settings_of(thread)
    one.look(program.pid)
    (done,) = one.done
    assert done.refused
    assert "cores 4095" in done.refused
    assert done.requested.cpus == [4095]
    assert done.granted == before == settings_of(thread)


def test_a_thread_is_set_once(program: subprocess.Popen[str], tmp_path: Path) -> None:
    thread = thread_of(program)
    core = max(os.sched_getaffinity(0))
    one = threads(tmp_path, ThreadRule(name="dds.*", cpus=[core]))
    one.look(program.pid)
    others = os.sched_getaffinity(program.pid)
    os.sched_setaffinity(thread, others)  # the program itself, later
    one.look(program.pid)
    assert os.sched_getaffinity(thread) == others


def test_half_a_line_waits_for_the_rest(tmp_path: Path) -> None:
    report = Report(tmp_path / "report")
    report.file.write_text("node\t7\tguard\t9\t/gu", encoding="utf-8")
    report.read()
    assert report.nodes == set()
    with report.file.open("a", encoding="utf-8") as file:
        file.write("ard\n")
    report.read()
    assert report.nodes == {"/guard"}
