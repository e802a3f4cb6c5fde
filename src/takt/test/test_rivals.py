# SPDX-License-Identifier: Apache-2.0
"""Whoever holds the core of a command with a duration is named, and the command ends in time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from takt.processes import rivals
from takt.processes.rivals import Rivals
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.execution import execute

CORE = max(os.sched_getaffinity(0))
PRIORITY = 90
#: Spins at SCHED_FIFO on a core, for a minute at most: a busy machine is slow to begin.
SPIN = f"""
import os, sys, time
os.sched_setaffinity(0, {{{CORE}}})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param({PRIORITY}))
print("spins", flush=True)
end = time.monotonic() + 60
while time.monotonic() < end:
    pass
"""


@pytest.fixture
def spinner() -> Iterator[int]:
    """Its process id; there is another core for everybody else."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("there is one core only")
    process = subprocess.Popen(
        [sys.executable, "-c", SPIN], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        if process.stdout.readline() != "spins\n":
            pytest.skip("SCHED_FIFO is not allowed here")
        yield process.pid
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()


def machine(tmp_path: Path, *threads: str) -> None:
    for thread in threads:
        number, _, text = thread.partition(":")
        folder = tmp_path / number / "task" / number
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "stat").write_text(text)


def stat(*, policy: int, priority: int, cpu: int, ticks: int, start: int = 7) -> str:
    """As the kernel writes it, with a name that is none."""
    fields = ["S", *["0"] * 49]
    fields[11], fields[12], fields[19] = str(ticks), "0", str(start)
    fields[36], fields[37], fields[38] = str(cpu), str(priority), str(policy)
    return f"12 (a ) b) {' '.join(fields)}"


def test_real_time_threads_that_had_a_core_are_named_the_worst_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rivals, "PROC", tmp_path)
    now = iter([0.0, 10.0, 10.0])
    monkeypatch.setattr(rivals.time, "monotonic", lambda: next(now))
    before = stat(policy=1, priority=60, cpu=1, ticks=1000)
    machine(tmp_path, f"10:{before}", f"11:{stat(policy=0, priority=0, cpu=1, ticks=0)}")
    watched = Rivals()
    machine(
        tmp_path,
        f"10:{stat(policy=1, priority=60, cpu=1, ticks=1300)}",  # 3 of 10 s
        f"11:{stat(policy=0, priority=0, cpu=1, ticks=900)}",  # without priority
        f"12:{stat(policy=2, priority=9, cpu=0, ticks=700)}",  # came meanwhile, on another core
        f"13:{stat(policy=6, priority=0, cpu=1, ticks=500)}",
        f"14:{stat(policy=1, priority=50, cpu=1, ticks=50)}",  # little
        "15:not what a kernel writes",
    )
    assert watched.reported({1}) == [
        "process 13 (a ) b, SCHED_DEADLINE) occupied CPU 1 for 5.0 of 10.0 s",
        "process 10 (a ) b, SCHED_FIFO 60) occupied CPU 1 for 3.0 of 10.0 s",
    ]
    assert watched.reported()[0].startswith("process 12 (a ) b, SCHED_RR 9) occupied CPU 0")


def test_a_process_that_ends_while_it_is_looked_at_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rivals, "PROC", tmp_path)
    machine(tmp_path, f"20:{stat(policy=1, priority=60, cpu=1, ticks=0)}")
    for name in ("scandir", "listdir"):
        real = getattr(os, name)

        def gone(place: object = ".", real: Callable[..., object] = real) -> object:
            if str(place).endswith("20/task"):
                raise FileNotFoundError(2, "No such file or directory", str(place))
            return real(place)

        monkeypatch.setattr(os, name, gone)
    assert Rivals().reported() == []


APPLICATION = f"""\
name: held
cpus: [{CORE}]
nodes:
  node:
    task: {{timer: 10ms, wcet: 1ms, priority: 40}}
"""


def test_an_execution_whose_core_another_program_holds_ends_and_names_it(
    spinner: int, tmp_path: Path, app_runner: None
) -> None:
    file = tmp_path / "held.app.yaml"
    file.write_text(APPLICATION)
    application = flat(read_application(file))
    done = execute(application, "takt", trace=tmp_path / "held.takttrace", duration_s=1.0)
    assert done.status == "complete"
    assert done.trace.exists()
    [reported] = [one for one in done.disturbances if f"process {spinner} " in one]
    assert f"SCHED_FIFO {PRIORITY}" in reported
    assert f"CPU {CORE}" in reported
