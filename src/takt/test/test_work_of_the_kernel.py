# SPDX-License-Identifier: Apache-2.0
"""What the kernel does for a declared load that writes files is the load's, not that of others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from test_run import prepared

from takt.measure.conditions.declared import Declared
from takt.network.hosts import Hosts
from takt.processes import usage

PF_KTHREAD = 0x00200000


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A /proc that a test writes."""
    monkeypatch.setattr(usage, "_PROC", tmp_path)
    return tmp_path


def process(proc: Path, pid: int, ticks: int, *, flags: int = 0, children: str = "") -> None:
    task = proc / str(pid) / "task" / str(pid)
    task.mkdir(parents=True, exist_ok=True)
    (task / "children").write_text(children)
    (proc / str(pid) / "stat").write_text(
        f"{pid} (a (strange) name) S 1 1 1 0 -1 {flags} 0 0 0 0 {ticks} 0 0 0 20 0 1 0 5"
    )


def test_threads_of_the_kernel_are_the_family_of_kthreadd(proc: Path) -> None:
    process(proc, 2, 0, flags=PF_KTHREAD | 0x40, children="3 9")
    process(proc, 3, 5, flags=PF_KTHREAD)
    process(proc, 9, 7, flags=PF_KTHREAD)
    assert usage.kernel_threads() == [2, 3, 9]


def test_process_2_of_a_container_is_no_kernel(proc: Path) -> None:
    process(proc, 2, 0, children="3")
    assert usage.kernel_threads() == []


def test_a_container_without_a_process_2_shows_no_kernel(proc: Path) -> None:
    assert usage.kernel_threads() == []


def test_what_was_spent_stays_counted_when_a_process_ends(proc: Path) -> None:
    there = [5, 6]
    process(proc, 5, 100)
    process(proc, 6, 50)
    spent = usage.Spent(lambda: there)
    tick_s = usage._TICK_NS / 1e9
    assert spent.look() == pytest.approx(150 * tick_s)
    process(proc, 5, 130)
    assert spent.look() == pytest.approx(180 * tick_s)
    (proc / "5" / "stat").unlink()
    there.remove(5)
    process(proc, 7, 20)
    there.append(7)
    assert spent.look() == pytest.approx(200 * tick_s)


def test_interrupts_and_softirqs_count_on_all_cpus(proc: Path) -> None:
    (proc / "stat").write_text("cpu  1 2 3 4 5 60 7 8 9 10\ncpu0 0 0 0 0 0 1000 1000\n")
    assert usage.interrupts_s() == pytest.approx(67 * usage._TICK_NS / 1e9)


@pytest.mark.parametrize(
    ("load", "counts"), [("none", False), ("cpu", False), ("stress", True), ("stress 2", True)]
)
@pytest.mark.usefixtures("prefix")
def test_only_a_load_that_writes_files_has_the_work_of_the_kernel(
    proc: Path, tmp_path: Path, load: str, *, counts: bool
) -> None:
    cell = prepared().cells[0].model_copy(update={"load": load})
    process(proc, 2, 40, flags=PF_KTHREAD)
    cpus = "".join(f"cpu{number} 0 0 0 0 0 0 0 0\n" for number in range(2))
    (proc / "stat").write_text(f"cpu  0 0 0 0 0 10 0 0\n{cpus}")
    declared = Declared(cell, tmp_path, tmp_path, Hosts.one())
    before = declared.spent()
    process(proc, 2, 43, flags=PF_KTHREAD)
    (proc / "stat").write_text(f"cpu  0 0 0 0 0 12 0 0\n{cpus}")
    assert declared.spent() - before == pytest.approx(5 * usage._TICK_NS / 1e9 * counts)


def test_the_real_kernel_is_known_where_this_machine_shows_it() -> None:
    found = usage.kernel_threads()
    if not found:
        pytest.skip("this container shows no threads of the kernel")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as own:
        assert own.pid not in usage.kernel_threads()
        own.kill()
    assert usage.Spent(usage.kernel_threads).look() >= 0
