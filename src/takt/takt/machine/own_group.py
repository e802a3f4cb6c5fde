# SPDX-License-Identifier: Apache-2.0
"""Control groups that Takt makes for a while, as places: their CPUs, and who is moved into them."""

from __future__ import annotations

import contextlib
import errno
import re
import time
from typing import Literal

from takt.machine.kernel_thread import kernel_thread
from takt.machine.place import ABSENT, BYTES, Place
from takt.machine.system import System
from takt.machine.writable import WritableSystem

PROCESSES = "cgroup.procs"
_ROUNDS = 20  # who starts others while it is moved is moved again
_EMPTIES_S = 2.0  # processes that are just ending keep a group
_POLL_S = 0.01
_MADE = "a group"
_FILES = ("cpuset.mems", "cpuset.cpus", "cpuset.cpus.partition")  # in the order of writing


class OwnGroup(Place):
    """A group below the root of the cpusets, whose absence is a value.

    Where it ``takes``, every process that stands in the group above is moved here; all that is in
    it when it goes is moved there, also what was started meanwhile.
    """

    kind: Literal["own-group"] = "own-group"
    path: str
    takes: bool = False

    @property
    def where(self) -> str:
        """The folder."""
        return self.path

    @property
    def listed_as(self) -> str:
        """The folder, and whether it takes processes."""
        return f"{self.path} takes" if self.takes else self.path

    def can_hold(self, value: str) -> bool:
        """As it is read: a group has the files of a cpuset, and no others."""
        names = "|".join(map(re.escape, _FILES))
        return value == ABSENT or bool(
            re.fullmatch(rf"{_MADE}(\n({names}) [A-Za-z0-9,-]{{1,4000}})*", value)
        )

    def gone(self, machine: System) -> bool:
        """Never: an absent group is a value."""
        return False

    def read(self, machine: System) -> str:
        """A line for each file of a cpuset that holds something; empty where it is absent."""
        if not machine.exists(self.path):
            return ABSENT
        lines = [_MADE]
        for name in _FILES:
            with contextlib.suppress(FileNotFoundError):
                text = machine.read(f"{self.path}/{name}").decode(BYTES).strip()
                lines += [f"{name} {text}"] if text else []
        return "\n".join(lines)

    def write(self, machine: WritableSystem, value: str) -> None:
        """Makes it and moves processes in; or moves all of them out and removes it."""
        if value == ABSENT:
            self._remove(machine)
            return
        machine.make_folder(self.path)
        for line in value.splitlines()[1:]:
            name, _, text = line.partition(" ")
            machine.write(f"{self.path}/{name}", text.encode(BYTES))
        if self.takes:
            self._take(machine)

    def may_write(self, machine: System) -> bool:
        """By the permissions of the group above."""
        return machine.writable(self._above) and machine.writable(f"{self._above}/{PROCESSES}")

    def plain(self, value: str) -> str:
        """In one line."""
        return ", ".join(value.splitlines()[1:] or value.splitlines()) or "absent"

    @property
    def _above(self) -> str:
        return self.path.rpartition("/")[0]

    def _take(self, machine: WritableSystem) -> None:
        for _ in range(_ROUNDS):
            moved = [
                _move(machine, pid, self.path)
                for pid in members(machine, self._above)
                if not kernel_thread(machine, pid)
            ]
            if not any(moved):
                return

    def _remove(self, machine: WritableSystem) -> None:
        limit = time.monotonic() + _EMPTIES_S
        while machine.exists(self.path):
            for pid in members(machine, self.path):
                _move(machine, pid, self._above)
            try:
                machine.remove_folder(self.path)
            except OSError as error:
                if error.errno != errno.EBUSY or time.monotonic() > limit:
                    raise
                time.sleep(_POLL_S)


def group_value(**files: str) -> str:
    """The value of a group with these files of its cpuset: ``cpus="1"``."""
    lines = [f"{name} {files[key]}" for name in _FILES if (key := name.rpartition(".")[2]) in files]
    return "\n".join([_MADE, *lines])


def members(system: System, group: str) -> list[int]:
    """The processes that stand in a group, not below it; the kernel's threads among them."""
    return [int(one) for one in (system.text(f"{group}/{PROCESSES}") or "").split()]


def _move(machine: WritableSystem, pid: int, group: str) -> bool:
    """Whether it went there: it may have ended, or be one that the kernel holds."""
    try:
        machine.write(f"{group}/{PROCESSES}", str(pid).encode())
    except OSError:
        return False
    return True
