# SPDX-License-Identifier: Apache-2.0
"""Killed at any moment, no command leaves a process or shared memory, nor a file that nobody reads.

By hand: TAKT_TEST_SEED kills at other moments, TAKT_TEST_ROUNDS so many times as often, and -s
prints when it was clean.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from takt.documents.writing import SUFFIX as TEMPORARY
from takt.errors import Failure
from takt.measure.run import samples
from takt.network import stacks
from takt.network.sweeper import SWEEPER
from takt.processes import dead, leftovers, scratch
from takt.processes.recording import SUFFIX
from takt.schedule.execution.model import BASELINES
from takt.schedule.trace import file as traces

REPOSITORY = Path(__file__).parents[3]
DOCKING = REPOSITORY / "examples" / "docking.app.yaml"
PARAMETERS = REPOSITORY / "examples" / "parameters.json"
KILLS = 2 * int(os.environ.get("TAKT_TEST_ROUNDS", "1"))  # of each command
MARKED = "TAKT_TEST_KILLED"  # in the environment of all that a killed command has started
OF_THE_SYSTEM = "lttng-ust-wait-"  # made once, by any program that LTTng can trace
LATEST_S = 8.0  # most are in the middle of what they do by then
LIMIT_S = 300.0  # on a machine that does much else; a second is much on one that does not
COMMANDS = {
    **{
        approach: f"execute {DOCKING} --approach {approach} --duration 20s --out out"
        for approach in ("takt", *BASELINES)
    },
    "campaign": f"campaign {PARAMETERS} --do simulate,execute --duration 3s --executions 2 "
    "--approaches takt,baseline1 --out out",
    "pingpong": "measure pingpong --transport shm --load cpu --duration 20s --out out",
    "cyclictest": "measure wakeup --stack cyclictest --duration 20s --out out",
    "second_host": "measure pingpong --transport udp --host here,namespace --duration 20s "
    "--load fft --traffic 10Mbps --out out",
    "bench": "bench roundtrip --rounds 1",
}


@pytest.fixture
def shared(disk: Callable[[str], Path]) -> Path:
    """What the commands see as /dev/shm, so that nobody else's files are in it."""
    return disk("1G")


class Killed:
    """A command whose processes bear a token, with a shared memory of its own."""

    def __init__(self, arguments: list[str], folder: Path, memory: Path) -> None:
        self._token = f"{MARKED}={os.getpid()}-{folder.name}".encode()
        path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
        self._memory = memory
        self._temporary = folder / "temporary"
        self._temporary.mkdir()
        isolated = ["unshare", "--mount", "--propagation", "private", "sh", "-c"]
        isolated += ['mount --bind "$0" /dev/shm && exec "$@"', str(memory)]
        name, _, value = self._token.decode().partition("=")
        self.process = subprocess.Popen(
            [*isolated, sys.executable, "-m", "takt", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, name: value, "TMPDIR": str(self._temporary)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def left(self, folder: Path) -> tuple[list[str], list[str]]:
        """Its programs, and files of which nobody has anything any more."""
        programs = [" ".join(words) for _, words in self._there()]
        temporary = [one.name for one in self._temporary.iterdir()]
        return programs, temporary + left_in(self._memory, folder / "out")

    def end(self) -> None:
        """Whatever a test that fails has found."""
        for pid, _ in [(self.process.pid, []), *self._there()]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()

    def _there(self) -> Iterator[tuple[int, list[str]]]:
        for entry in Path("/proc").iterdir():
            if not entry.name.isdecimal():
                continue
            try:
                if self._token in (entry / "environ").read_bytes().split(b"\0"):
                    words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
                    yield int(entry.name), words
            except OSError:
                continue  # it has ended, and has no environment any more


def left_in(memory: Path, results: Path) -> list[str]:
    """What nobody goes on with."""
    waiting = [one for one in dead.dead_folders(memory) if one.waits]
    of_the_next = {one.folder for one in waiting}
    left = [one for one in memory.iterdir() if one not in of_the_next]
    if not any(one.run_folder == results for one in waiting):
        names = (scratch.LOCK, scratch.LOADED, scratch.ON_DISK, "*takt-*")
        left += [one for name in names for one in results.glob(name)]
    left += results.rglob(f"*{TEMPORARY}")
    return sorted(one.name for one in left if not one.name.startswith(OF_THE_SYSTEM))


def read_all(folder: Path, memory: Path) -> int:
    """Reads every recording, whole or not; how many there were."""
    recordings = [
        one
        for one in folder.rglob("*.takttrace*")
        if ".part" not in one.name and TEMPORARY not in one.name and one.stat().st_size
    ]
    for one in recordings:
        traces.read(one)
    raw = [one for one in memory.rglob(f"*{SUFFIX}") if one.stat().st_size]
    for one in raw:
        samples.read(one)
    return len(recordings) + len(raw)


@pytest.mark.thorough
@pytest.mark.timeout(0)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_killed_command_leaves_nothing(command: str, tmp_path: Path, shared: Path) -> None:
    try:
        stacks.program("app_runner")
    except Failure:
        pytest.skip("app_runner is not installed")
    chance = random.Random(command + os.environ.get("TAKT_TEST_SEED", "1"))
    for number in range(KILLS):
        folder = tmp_path / f"{command}{number}"
        folder.mkdir()
        moment = LATEST_S * (number + chance.random()) / KILLS  # one in each part of the time
        killed = Killed(COMMANDS[command].split(), folder, shared)
        try:
            time.sleep(moment)
            killed.process.kill()
            code = killed.process.wait()
            since = time.monotonic()
            left = killed.left(folder)
            while any(left) and time.monotonic() < since + LIMIT_S:
                time.sleep(0.02)
                left = killed.left(folder)
            after = time.monotonic() - since
            where = f"{command}, killed after {moment:.2f} s"
            assert code != 2, "it was understood"
            assert left == ([], []), where
            found = read_all(folder, shared)
            leftovers.sweep_dead_runs(SWEEPER, shared)
            assert not [one for one in dead.dead_folders(shared) if not one.waits], where
            print(f"{where} (code {code}): clean {after:.2f} s later, {found} recordings read")
        finally:
            killed.end()
