# SPDX-License-Identifier: Apache-2.0
"""Threads of the kernel as places: their policy and priority."""

from __future__ import annotations

import errno
import re
from typing import Literal

from pydantic import Field

from takt.machine.place import Place
from takt.machine.system import System
from takt.machine.writable import CAP_SYS_NICE, WritableSystem

_POLICIES = {0: "other", 1: "fifo", 2: "rr", 3: "batch", 5: "idle", 6: "deadline", 7: "ext"}
_NOT_PUT_BACK = ("deadline", "ext")
_RESET_ON_FORK = 0x40000000
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD of linux/sched.h


class ThreadScheduling(Place):
    """Policy and priority of a kernel thread: this one, not another that got its number."""

    kind: Literal["thread"] = "thread"
    pid: int = Field(ge=1, le=1 << 22)  # as many as Linux has
    start: int = Field(ge=0, lt=1 << 63)  # clock ticks after boot
    name: str

    @property
    def where(self) -> str:
        """The thread."""
        return f"thread {self.pid} ({self.name})"

    @property
    def listed_as(self) -> str:
        """Its name."""
        return self.name

    def can_hold(self, value: str) -> bool:
        """As it is read."""
        names = "|".join(name for name in _POLICIES.values() if name not in _NOT_PUT_BACK)
        return bool(re.fullmatch(f"({names}) [0-9]{{1,2}}( reset-on-fork)?", value))

    def gone(self, machine: System) -> bool:
        """Ended; its number may be another's."""
        return kernel_thread(machine, self.pid) != self

    def read(self, machine: System) -> str:
        """As ``fifo 60``; the same thread before and after."""
        self._check(machine)
        policy, priority = machine.scheduling(self.pid)
        self._check(machine)
        bare = policy & ~_RESET_ON_FORK
        if bare not in _POLICIES or _POLICIES[bare] in _NOT_PUT_BACK:
            raise OSError(errno.ENOTSUP, "its policy could not be put back", self.where)
        text = f"{_POLICIES[bare]} {priority}"
        return f"{text} reset-on-fork" if policy & _RESET_ON_FORK else text

    def write(self, machine: WritableSystem, value: str) -> None:
        """Only to this very thread."""
        words = value.split()
        policy = next(number for number, name in _POLICIES.items() if name == words[0])
        self._check(machine)
        flags = _RESET_ON_FORK if "reset-on-fork" in words else 0
        machine.set_scheduling(self.pid, policy | flags, int(words[1]))

    def may_write(self, machine: System) -> bool:
        """By CAP_SYS_NICE."""
        return machine.capable(CAP_SYS_NICE)

    def _check(self, machine: System) -> None:
        if self.gone(machine):
            raise OSError(errno.ESRCH, "the thread has ended", self.where)


def kernel_thread(system: System, pid: int) -> ThreadScheduling | None:
    """The kernel thread with this number, or None where there is none."""
    head, _, tail = (system.text(f"/proc/{pid}/stat") or "").rpartition(") ")
    fields = tail.split()  # from the third of proc(5) on: flags are the 9th, start time the 22nd
    numbers = fields[6:7] + fields[19:20]
    if len(numbers) < 2 or not all(map(str.isdecimal, numbers)):
        return None
    if not int(fields[6]) & _KERNEL_THREAD:
        return None
    return ThreadScheduling(pid=pid, start=int(fields[19]), name=head.partition("(")[2])
