# SPDX-License-Identifier: Apache-2.0
"""Killed at any moment, no command leaves a process or shared memory, nor a file that nobody reads.

By hand, as about one kill of two hundred still leaves a file in the shared memory: TAKT_TEST_ROUNDS
says how often (2 is four kills of each command), and -s prints what each one left when.
"""

from __future__ import annotations

import os
import random
import re
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
from takt.processes import leftovers, scratch, stacks
from takt.processes.recording import SUFFIX
from takt.processes.undertaker import BEFORE
from takt.schedule.execution import APPROACHES
from takt.schedule.trace import file as traces

REPOSITORY = Path(__file__).parents[3]
DOCKING = REPOSITORY / "examples" / "docking.app.yaml"
PARAMETERS = REPOSITORY / "examples" / "parameters.json"
ROUNDS = 2 * int(os.environ.get("TAKT_TEST_ROUNDS", "1"))
MARKED = "TAKT_TEST_KILLED"  # in the environment of all that a killed command has started
OF_THE_SYSTEM = "lttng-ust-wait-"  # made once, by any program that LTTng can trace
# glibc makes a named semaphore under such a name first; one that is left there may be anybody's.
IN_BETWEEN = re.compile(r"sem\.[A-Za-z0-9]{6}")
LATEST_S = 8.0  # most are in the middle of what they do by then
LIMIT_S = 60.0
COMMANDS = {
    **{
        approach: f"execute {DOCKING} --approach {approach} --duration 20s --out out"
        for approach in APPROACHES
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
        alone = ["unshare", "--mount", "--propagation", "private", "sh", "-c"]
        alone += ['mount --bind "$0" /dev/shm && exec "$@"', str(memory)]
        name, _, value = self._token.decode().partition("=")
        self.process = subprocess.Popen(
            [*alone, sys.executable, "-m", "takt", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, name: value},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def programs(self) -> list[str]:
        return [" ".join(words) for _, words in self._there()]

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


def unwatched(dead: scratch.Dead) -> bool:
    """Killed as it made the folder, before anybody watched over it: the next run sweeps that."""
    return {one.name for one in dead.folder.iterdir()} <= {scratch.LOCK, scratch.OWNER, BEFORE}


def left_in(memory: Path) -> list[str]:
    """What nobody goes on with."""
    of_the_next = {
        one.folder for one in scratch.dead_folders(memory) if one.waits or unwatched(one)
    }
    names = (one.name for one in memory.iterdir() if one not in of_the_next)
    return sorted(
        name
        for name in names
        if not name.startswith(OF_THE_SYSTEM) and not IN_BETWEEN.fullmatch(name)
    )


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


@pytest.mark.skipif("TAKT_TEST_ROUNDS" not in os.environ, reason="by hand: TAKT_TEST_ROUNDS=2")
@pytest.mark.thorough
@pytest.mark.timeout(0)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_killed_command_leaves_nothing(command: str, tmp_path: Path, shared: Path) -> None:
    try:
        stacks.program("app_runner")
    except Failure:
        pytest.skip("app_runner is not installed")
    chance = random.Random(command + os.environ.get("TAKT_TEST_SEED", "1"))
    for number in range(ROUNDS):
        folder = tmp_path / f"{command}{number}"
        folder.mkdir()
        moment = chance.uniform(0, LATEST_S)
        killed = Killed(COMMANDS[command].split(), folder, shared)
        try:
            time.sleep(moment)
            killed.process.kill()
            code = killed.process.wait()
            since = time.monotonic()
            while (killed.programs or left_in(shared)) and time.monotonic() < since + LIMIT_S:
                time.sleep(0.02)
            after = time.monotonic() - since
            where = f"{command}, killed after {moment:.2f} s"
            assert code != 2, "it was understood"
            assert killed.programs == [], where
            assert left_in(shared) == [], where
            found = read_all(folder, shared)
            leftovers.sweep_dead_runs(shared)
            assert not [one for one in scratch.dead_folders(shared) if not one.waits], where
            print(f"{where} (code {code}): clean {after:.2f} s later, {found} recordings read")
        finally:
            killed.end()
