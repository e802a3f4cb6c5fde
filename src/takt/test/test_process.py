# SPDX-License-Identifier: Apache-2.0
"""Nothing that Takt starts outlives the process that started it, whenever that dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from takt.errors import Failure
from takt.network import stacks
from takt.processes import guard, process, usage
from takt.schedule.trace import file as traces

LIMIT_S = 150.0  # for what has to come about at all; nothing here is judged by how long it took
# Starts what is asked for, tells its number, and dies as a killed tool does.
DYING = """
import os, signal, sys
from pathlib import Path
from takt.measure.conditions.load import Load
from takt.measure.conditions.machine import Here
from takt.network import stacks
from takt.processes.supervision import Program
folder, what = Path(sys.argv[1]), sys.argv[2]
if what == "load":
    class Busy:
        id = "cell"
    probe = Load(Busy, "cpu", folder, Here(folder)).programs[0]
else:
    command = [str(stacks.find().probes["cyclictest"]), "wakeup", "--count", "100000000"]
    command += ["--time-limit-ns", "600000000000", "--samples", str(folder / "samples")]
    probe = Program("both", command, folder / "result", folder / "stderr")
probe.start(dict(os.environ))
print(probe.process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def until(what: Callable[[], bool]) -> bool:
    limit = time.monotonic() + LIMIT_S
    while not what():
        if time.monotonic() > limit:
            return False
        time.sleep(0.02)
    return True


def gone(pid: int) -> bool:
    return not guard.identity(pid)


def children(pid: int) -> list[int]:
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(word) for word in listed.split()]


def name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="ascii")
    except OSError:  # it has just ended
        return ""


@pytest.mark.parametrize("what", ["load", "cyclictest"])
def test_what_was_started_ends_with_a_tool_that_dies_at_once(tmp_path: Path, what: str) -> None:
    if what not in ("load", *stacks.find().probes):
        pytest.skip(f"{what} is not installed")
    command = [sys.executable, "-c", DYING, str(tmp_path), what]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout, done.stderr
    pid = int(done.stdout)
    try:
        assert until(lambda: gone(pid))
    finally:
        if not gone(pid):
            os.killpg(pid, signal.SIGKILL)


def test_a_killed_cyclictest_probe_leaves_no_cyclictest(tmp_path: Path) -> None:
    if "cyclictest" not in stacks.find():
        pytest.skip("the stack cyclictest is not installed")
    probe = stacks.find().probes["cyclictest"]
    words = ["--count", "100000000", "--time-limit-ns", "600000000000"]
    started = process.Process([probe, "wakeup", *words, "--result", tmp_path / "result"])
    child = 0

    def measuring() -> bool:
        nonlocal child
        child = next(iter(children(started.pid)), 0)
        return bool(child) and "cyclictest" in name(child)

    try:
        if not until(measuring):
            pytest.skip("cyclictest does not start here")
        os.kill(started.pid, signal.SIGKILL)  # it alone
        assert until(lambda: gone(child))
    finally:
        started.end(0)


def test_who_is_left_of_a_group_ends_with_its_leader(tmp_path: Path) -> None:
    left = tmp_path / "pid"
    started = process.Process(["sh", "-c", f"sleep 600 & echo $! >{left}"])
    assert started.wait() == 0
    assert until(lambda: gone(int(left.read_text())))


def test_a_watched_program_ends_with_all_that_it_started(tmp_path: Path) -> None:
    left = tmp_path / "pid"
    script = f"setsid --fork true; (sleep 600 & echo $! >{left}; wait)"
    dying = (
        "import os, signal, sys, time\nfrom pathlib import Path\n"
        "from takt.processes.process import Process\n"
        "Process(['sh', '-c', sys.argv[1]], watched=True)\n"
        "while not Path(sys.argv[2]).exists() or not Path(sys.argv[2]).read_text():\n"
        "    time.sleep(0.01)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", dying, script, str(left)], check=False)
    pid = int(left.read_text())
    try:
        assert until(lambda: gone(pid))
    finally:
        if not gone(pid):
            os.kill(pid, signal.SIGKILL)


def test_a_watched_program_ends_with_a_guard_that_is_killed_alone() -> None:
    started = process.Process(["sleep", "600"], watched=True)
    child = 0

    def sleeping() -> bool:
        nonlocal child
        child = next(iter(children(started.pid)), 0)
        return bool(child) and "sleep" in name(child)

    try:
        assert until(sleeping)
        os.kill(started.pid, signal.SIGKILL)
        assert until(lambda: gone(child))
    finally:
        started.end(0)


def test_a_program_ends_as_it_would_without_a_guard(tmp_path: Path) -> None:
    done = process.output(["sh", "-c", "echo out; echo words >&2; exit 7"], LIMIT_S)
    assert (done.returncode, done.stdout, done.stderr) == (7, "out\n", "words\n")
    assert process.output(["sh", "-c", "kill -TERM $$"], LIMIT_S).returncode == -signal.SIGTERM
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF and no more")
    broken.chmod(0o755)
    assert process.output([broken], LIMIT_S).stderr.startswith(f"cannot start {broken}: ")
    with pytest.raises(FileNotFoundError):
        process.output([tmp_path / "absent"], LIMIT_S)


def test_a_program_that_takes_too_long_ends_as_a_whole(tmp_path: Path) -> None:
    left = tmp_path / "pid"
    with pytest.raises(subprocess.TimeoutExpired):
        process.output(["sh", "-c", f"echo $$ >{left}; sleep 600; true"], 1)
    printed = left.read_text() if left.exists() else ""  # it may have been ended as it began
    assert not printed or until(lambda: gone(int(printed)))


@pytest.fixture
def description(tmp_path: Path) -> Path:
    """Two nodes that execute for as long as they are let."""
    try:
        stacks.program("app_runner")
    except Failure:
        pytest.skip("app_runner is not installed")
    file = tmp_path / "two.app.yaml"
    cpu = max(os.sched_getaffinity(0))
    file.write_text(
        f"cpus: [{cpu}]\nnodes:\n  one: {{tick: {{timer: 10ms, wcet: 100us, priority: 9}}}}\n"
        "  two: {tock: {timer: 10ms, wcet: 100us, priority: 8}}\n",
        encoding="utf-8",
    )
    return file


class Execution:
    """``takt execute``, and the processes that it has started."""

    def __init__(self, description: Path, approach: str) -> None:
        self.out = description.parent / "out"
        words = ["execute", str(description), "--approach", approach, "--duration", "600s"]
        self.tool = subprocess.Popen(
            [sys.executable, "-m", "takt", *words, "--out", str(self.out)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.runners: list[int] = []

    def executing(self) -> bool:
        self.runners = children(self.tool.pid)
        self.runners += [child for pid in self.runners for child in children(pid)]
        traces = [one.stat().st_size for one in self.out.glob("*.takttrace*")]
        return bool(self.runners) and max(traces, default=0) > 32 * 200

    def end(self) -> None:
        self.tool.kill()
        self.tool.communicate()
        for pid in self.runners:
            if not gone(pid):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("approach", ["takt", "baseline0", "baseline1"])
def test_a_killed_execute_leaves_no_runner(description: Path, approach: str) -> None:
    execution = Execution(description, approach)
    try:
        assert until(execution.executing)
        assert len(execution.runners) >= (3 if approach == "baseline1" else 1)
        execution.tool.kill()
        assert until(lambda: all(map(gone, execution.runners)))
    finally:
        execution.end()


def test_a_killed_runner_is_reported_by_the_signal_and_its_trace(description: Path) -> None:
    execution = Execution(description, "takt")
    try:
        assert until(execution.executing)
        os.kill(execution.runners[0], signal.SIGKILL)
        words = execution.tool.communicate(timeout=LIMIT_S)[1]
    finally:
        execution.end()
    (recording,) = execution.out.glob("*.recording")
    assert execution.tool.returncode == 1
    assert "SIGKILL" in words
    assert str(recording) in words
    assert traces.read(recording).events


def test_a_family_whose_members_end_meanwhile_is_reported() -> None:
    for _ in range(100):  # of which a fifth met the moment at which pathlib raises
        some = subprocess.Popen(["sh", "-c", "for one in 1 2 3 4 5 6; do true & done; wait"])
        while some.poll() is None:
            assert usage.family([some.pid])[0] == some.pid
