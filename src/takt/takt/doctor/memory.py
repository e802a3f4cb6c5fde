# SPDX-License-Identifier: Apache-2.0
"""Memory: enough of it, never on disk, and room for messages and samples."""

from __future__ import annotations

from takt.doctor.check import (
    BY_HAND,
    UNREADABLE,
    Check,
    Judgement,
    good,
    note,
    problem,
    unknown,
    warning,
)
from takt.machine import shared_memory
from takt.machine.memory import memory_bytes
from takt.machine.system import System

GIB = 2**30
LITTLE_MEMORY = GIB // 2
LITTLE_SHARED_MEMORY = 256 * 2**20
WANTED_SHARED_MEMORY = GIB


def _swap(system: System) -> Judgement:
    total, free = memory_bytes(system, "SwapTotal"), memory_bytes(system, "SwapFree")
    swappiness = system.number("/proc/sys/vm/swappiness")
    if total is None or free is None:
        return UNREADABLE
    if total == 0:
        return good("none")
    used = total - free
    judged = warning if used else note
    value = f"{used / GIB:.1f} of {total / GIB:.1f} GiB used, swappiness {swappiness}"
    return judged(value, BY_HAND)


def _huge_pages(system: System) -> Judgement:
    text = system.text("/sys/kernel/mm/transparent_hugepage/enabled") or ""
    mode = text.partition("[")[2].partition("]")[0]
    if not mode:
        return UNREADABLE
    return warning(mode, BY_HAND) if mode == "always" else good(mode)


def _available(system: System) -> Judgement:
    free, total = memory_bytes(system, "MemAvailable"), memory_bytes(system, "MemTotal")
    if free is None or total is None:
        return UNREADABLE
    value = f"{free / GIB:.1f} of {total / GIB:.1f} GiB"
    if free >= LITTLE_MEMORY:
        return good(value)
    return warning(value, "end what is not needed (see: ps aux --sort=-rss | head), or add memory")


def _shared_memory(system: System) -> Judgement:
    space = shared_memory.space(system)
    if space is None:
        return unknown("no /dev/shm")
    value = f"{space.free / 2**20:.0f} of {space.total / 2**20:.0f} MiB free"
    if space.free >= LITTLE_SHARED_MEMORY:
        return good(value)
    return problem(value, shared_memory.larger(system, WANTED_SHARED_MEMORY))


CHECKS = (
    Check(
        "shared-memory",
        "Shared memory (/dev/shm)",
        _shared_memory,
        "Nodes of one machine hand messages over in /dev/shm, and Takt records there. When it "
        "is full, the middleware silently falls back to the slower network, or fails.",
    ),
    Check(
        "memory",
        "Available memory",
        _available,
        "When memory runs short, the kernel searches every core's pages for some to give "
        "back, and every node waits for it. Each ROS 2 process locks about 200 MiB.",
    ),
    Check(
        "swap",
        "Swap",
        _swap,
        "A page of the loop that lies on disk costs milliseconds when it is needed. Locked "
        "memory is safe; everything that the loop waits for is not.",
    ),
    Check(
        "huge-pages",
        "Transparent huge pages",
        _huge_pages,
        "The kernel collects small pages into large ones behind the loop's back: it stops at "
        "a page that is being moved, for up to a millisecond.",
    ),
)
