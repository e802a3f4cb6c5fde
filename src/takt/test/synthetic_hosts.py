# SPDX-License-Identifier: Apache-2.0
"""Machines of a test: a scheduler and workers here, or each in a network namespace of its own."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from takt.network import certificates
from takt.processes import guard, scratch
from takt.processes.process import Process, output

SOURCES = Path(__file__).parent.parent
LIMIT_S = 150.0
ROLES = ("controller", "component")
AS_ROOT = () if os.geteuid() else ("--allow-root",)


def of_another_authority(folder: Path) -> Path:
    """The file of a machine of it."""
    folder.mkdir(mode=0o700)
    return certificates.temporary(folder).file


def python_path() -> str:
    """By which a process that is started finds this Takt."""
    return os.pathsep.join([str(SOURCES), os.environ.get("PYTHONPATH", "")])


def leaked(folder: Path) -> Path:
    """What a fake probe that leaks leaves on the machines of this folder."""
    return scratch.MEMORY / f"fastrtps_fake{zlib.crc32(bytes(folder)):012x}"


@dataclass
class Machine:
    """One that runs programs; ``enter`` is the command that brings another one there."""

    folder: Path
    enter: list[str] = field(default_factory=list)
    address: str = "127.0.0.1"

    @property
    def configuration(self) -> Path:
        """Where its keys are: the user's on this machine, brought to the others."""
        return self.folder / "config"

    @property
    def certificate(self) -> Path:
        return self.configuration / "takt" / "workers" / certificates.MACHINE

    def start(self, name: str, command: Sequence[str | Path], **more: str) -> Process:
        environment = {
            **os.environ,
            "PYTHONPATH": python_path(),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "XDG_CONFIG_HOME": str(self.configuration),
            "TAKT_FAKE_MEETING": str(self.folder),
            "TAKT_FAKE_GO": str(self.folder / "go"),
            "TAKT_FAKE_LEAK": leaked(self.folder).name,
            **more,
        }
        with (self.folder / f"{name}.log").open("wb") as log:
            return Process(
                [*self.enter, *map(str, command)],
                environment=environment,
                stdout=log,
                stderr=log,
            )


class Cluster:
    """A scheduler, and a worker for each role."""

    def __init__(self, tool: Machine, machines: dict[str, Machine], **environment: str) -> None:
        self.tool, self.machines = tool, machines
        self.workers: dict[str, Process] = {}
        log = tool.folder / "scheduler.log"
        command = [sys.executable, "-m", "takt", "scheduler", "--port", "0", *AS_ROOT]
        self.scheduler = tool.start("scheduler", [*command, "--address", tool.address])
        _until(lambda: re.search("^scheduler: .*\n", log.read_text(), re.MULTILINE), log)
        self.address = log.read_text().split()[1]
        self.start(*machines, **environment)

    def start(self, *roles: str, **environment: str) -> None:
        """Starts workers, and waits until the scheduler knows them."""
        for role in roles:
            self._start(role, environment)
        for role in roles:
            log = self.machines[role].folder / f"{role}.log"
            _until(lambda log=log: "Registered to:" in log.read_text(), log)

    def _start(self, role: str, environment: dict[str, str]) -> None:
        machine = self.machines[role]
        command = [sys.executable, "-m", "takt", "worker", self.address, role]
        command += ["--address", machine.address, *AS_ROOT]
        chatty = {"DASK_LOGGING__DISTRIBUTED": "info"} | environment
        self.workers[role] = machine.start(role, command, **chatty)

    def end(self) -> None:
        for process in self.workers.values():
            process.signal(signal.SIGTERM)
        for process in [*self.workers.values(), self.scheduler]:
            process.end()


@contextlib.contextmanager
def here(folder: Path, roles: Sequence[str] = ROLES) -> Iterator[Cluster]:
    """All on this machine."""
    folder.mkdir()
    machine = Machine(folder)
    cluster = Cluster(machine, dict.fromkeys(roles, machine))
    try:
        yield cluster
    finally:
        cluster.end()


@contextlib.contextmanager
def apart(folder: Path) -> Iterator[Cluster]:
    """Tool and scheduler in a namespace, each worker in another, all on one switch."""
    folder.mkdir()
    holders = [_namespace(folder, name) for name in ("tool", *ROLES)]
    try:
        hub, *others = holders
        _in(hub, "ip link set lo up")
        _in(hub, "ip link add switch type bridge")
        _in(hub, "ip address add 198.18.0.1/24 dev switch")
        _in(hub, "ip link set switch up")
        for number, other in enumerate(others, 2):
            _in(hub, f"ip link add port{number} type veth peer name lan netns {other.pid}")
            _in(hub, f"ip link set port{number} master switch up")
            _in(other, "ip link set lo up")
            _in(other, f"ip address add 198.18.0.{number}/24 dev lan")
            _in(other, "ip link set lan up")
        tool = Machine(folder, _enter(hub), "198.18.0.1")
        machines = {
            role: Machine(folder, _enter(other), f"198.18.0.{number}")
            for number, (role, other) in enumerate(zip(ROLES, others, strict=True), 2)
        }
        cluster = Cluster(tool, machines)
        try:
            yield cluster
        finally:
            cluster.end()
    finally:
        for holder in holders:  # the kernel removes what was in them
            holder.end(0)


def _namespace(folder: Path, name: str) -> Process:
    """A network of its own, and a machine-id, by which DDS tells hosts apart."""
    identity = folder / f"{name}.id"
    identity.write_text(os.urandom(16).hex() + "\n")
    hold = 'mount --bind "$0" /etc/machine-id && exec sleep infinity'
    holder = Process(["unshare", "--net", "--mount", "--", "sh", "-c", hold, str(identity)])
    _until(lambda: Path(f"/proc/{holder.pid}/comm").read_text() == "sleep\n", identity)
    return holder


def _enter(holder: Process) -> list[str]:
    of = f"/proc/{holder.pid}/ns"
    return ["nsenter", f"--net={of}/net", f"--mount={of}/mnt", "--"]


def _in(holder: Process, command: str) -> None:
    done = output([*_enter(holder), *command.split()], LIMIT_S)
    assert done.returncode == 0, f"{command}: {done.stderr}"


def lacking() -> str | None:
    """Why namespaces with a switch cannot be made here; None: they can."""
    trial = "ip link add switch type bridge && test -e /etc/machine-id && mount --make-rprivate /"
    done = subprocess.run(
        ["unshare", "--net", "--mount", "sh", "-c", trial], capture_output=True, text=True
    )
    return done.stderr.strip() or "it is refused" if done.returncode else None


def marked(cluster_folder: Path) -> list[int]:
    """The living processes that were started with this folder as their cache, but workers."""
    mark = f"XDG_CACHE_HOME={cluster_folder / 'cache'}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if not entry.name.isdecimal() or not guard.identity(int(entry.name)):
                continue
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


def until(what: Callable[[], object]) -> bool:
    """Whether it has come about within a patient while."""
    limit = time.monotonic() + LIMIT_S
    while not what():
        if time.monotonic() > limit:
            return False
        time.sleep(0.05)
    return True


def _until(what: Callable[[], object], log: Path) -> None:
    assert until(what), log.read_text() if log.exists() else str(log)
