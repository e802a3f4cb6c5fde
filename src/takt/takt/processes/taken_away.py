# SPDX-License-Identifier: Apache-2.0
"""What is taken from programs while they run: a network interface, CPUs of their control group.

Linux says neither to a program: messages are late or lost, and threads that were pinned run on a
CPU that they share.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

INTERFACES = Path("/sys/class/net")
GROUPS = Path("/sys/fs/cgroup")
PROC = Path("/proc")
_UP = {"up", "unknown"}  # lo and tunnels do not know


class Interfaces:
    """Looks now and then at the interfaces that were up before."""

    def __init__(self) -> None:
        self._up = _interfaces()
        self._down: set[str] = set()

    def look(self) -> list[tuple[str, str]]:
        """Which went down, or came up again, since the look before; and what it means.

        One that is not there any more was made for something that has ended, and one that comes
        for something that begins.
        """
        now = _interfaces()
        changes = []
        for name, up in now.items():
            if self._up.get(name) and not up:
                self._down.add(name)
                why = "messages over it are late or lost until it is up again"
                changes.append((f"the network interface {name} went down", why))
            elif up and name in self._down:
                self._down.remove(name)
                why = "messages may use it again"
                changes.append((f"the network interface {name} came up again", why))
        self._up = now
        return changes


class Groups:
    """Looks now and then at the CPUs that the control groups of programs may use."""

    def __init__(self) -> None:
        self._cpus: dict[Path, frozenset[int]] = {}

    def look(self, pids: Iterable[int]) -> list[tuple[str, str]]:
        """Which CPUs a group has lost or got since the look before; and what it means."""
        now = {file: _cpus(file) for file in {_cpuset_of(pid) for pid in pids} if file}
        changes = []
        for file, cpus in now.items():
            before = self._cpus.get(file, cpus)
            where = f"the control group {file.parent.relative_to(GROUPS)}"
            if cpus and (lost := before - cpus):
                why = "Linux moved its threads to other CPUs, including pinned threads"
                changes.append((f"{where} lost CPU {_listed(lost)}", why))
            if before and (got := cpus - before):
                changes.append((f"{where} got CPU {_listed(got)}", "threads may have moved to it"))
        self._cpus |= now
        return changes


def cpus_of(text: str) -> frozenset[int]:
    """Those of a list of the kernel's, such as ``0-2,5``."""
    cpus: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return frozenset(cpus)


def _interfaces() -> dict[str, bool]:
    """Whether each of this machine's is up; without those that are being made or removed."""
    states = {}
    for path in INTERFACES.glob("*/operstate"):
        try:
            states[path.parent.name] = path.read_text(encoding="ascii").strip() in _UP
        except OSError:
            continue
    return states


def _cpuset_of(pid: int) -> Path | None:
    """The file that says which CPUs a process's group may use, of version 1 or 2."""
    try:
        lines = (PROC / str(pid) / "cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    groups = {kind: group for _, kind, group in (line.split(":", 2) for line in lines)}
    name, root, group = "cpuset.cpus.effective", GROUPS, groups.get("", "")
    if first := groups.get("cpuset"):
        name, root, group = "cpuset.effective_cpus", GROUPS / "cpuset", first
    place = root / group.lstrip("/")
    for folder in (place, *place.parents):
        if (folder / name).is_file():
            return folder / name
        if folder == root:
            break
    return None


def _cpus(file: Path) -> frozenset[int]:
    try:
        return cpus_of(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return frozenset()


def _listed(cpus: frozenset[int]) -> str:
    return ", ".join(map(str, sorted(cpus)))
