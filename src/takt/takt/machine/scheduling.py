# SPDX-License-Identifier: Apache-2.0
"""How the kernel schedules threads: policy, priority, nice value, cores."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from takt.machine.system import format_cpu_list

_PROC = Path("/proc")
_GETATTR = {"x86_64": 315, "aarch64": 275}  # the number of sched_getattr
_DEADLINE = 6  # SCHED_DEADLINE
_ATTRIBUTES = struct.Struct("<IIQiIQQQ")  # size, policy, flags, nice, priority, runtime, …
POLICIES = {
    os.SCHED_OTHER: "other",
    os.SCHED_FIFO: "fifo",
    os.SCHED_RR: "rr",
    os.SCHED_BATCH: "batch",
    os.SCHED_IDLE: "idle",
    _DEADLINE: "deadline",
    7: "ext",
}
REAL_TIME = ("fifo", "rr")


@dataclass(frozen=True)
class Scheduling:
    """That of one thread."""

    policy: str
    priority: int  # 0 where the policy has none
    nice: int
    cpus: frozenset[int]  # those that it may use
    reservation: tuple[int, int, int] | None = None  # runtime, deadline, period of deadline, in ns

    @property
    def is_real_time(self) -> bool:
        """Whether it has a real-time priority."""
        return self.policy in REAL_TIME

    @property
    def rank(self) -> str:
        """Policy with what orders threads of it: ``fifo 80``, ``other``, ``other, nice 5``."""
        if self.is_real_time:
            return f"{self.policy} {self.priority}"
        return f"{self.policy}, nice {self.nice}" if self.nice else self.policy

    @property
    def cores(self) -> str:
        """``0-3,6``."""
        return format_cpu_list(self.cpus)


def scheduling_of(thread: int) -> Scheduling:
    """How it is scheduled now; raises OSError where it has ended."""
    policy = os.sched_getscheduler(thread) & ~os.SCHED_RESET_ON_FORK
    reserved = reservation_of(thread) if policy == _DEADLINE else None
    return Scheduling(
        policy=POLICIES.get(policy, f"policy {policy}"),
        priority=os.sched_getparam(thread).sched_priority,
        nice=os.getpriority(os.PRIO_PROCESS, thread),
        cpus=frozenset(os.sched_getaffinity(thread)),
        reservation=reserved,
    )


def reservation_of(thread: int) -> tuple[int, int, int] | None:
    """Runtime, deadline and period of a thread at SCHED_DEADLINE, in ns."""
    number = _GETATTR.get(platform.machine())
    if number is None:
        return None
    room = (ctypes.c_char * _ATTRIBUTES.size)()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, thread, ctypes.byref(room), _ATTRIBUTES.size, 0) != 0:
        return None
    _, policy, _, _, _, runtime, deadline, period = _ATTRIBUTES.unpack(room.raw)
    return (runtime, deadline, period or deadline) if policy == _DEADLINE else None


def threads_of(process: int) -> Iterator[tuple[int, str]]:
    """Number and name of each of its threads; none where it has ended."""
    with suppress(OSError):
        for task in (_PROC / str(process) / "task").iterdir():
            with suppress(OSError):
                name = (task / "comm").read_text(encoding="utf-8", errors="replace")
                yield int(task.name), name.rstrip("\n")
