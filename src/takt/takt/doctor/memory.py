# SPDX-License-Identifier: Apache-2.0
"""Memory: enough of it, never on disk, and room for messages and samples."""

from __future__ import annotations

from takt.doctor.finding import Finding, Severity
from takt.machine.memory import memory_bytes
from takt.machine.settings import by_hand
from takt.machine.system import System

GIB = 2**30
LITTLE_MEMORY = GIB // 2
LITTLE_SHARED_MEMORY = 256 * 2**20
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - looked at, not written to


def swap(system: System) -> Finding:
    """Judges whether pages may lie on disk."""
    total, free = memory_bytes(system, "SwapTotal"), memory_bytes(system, "SwapFree")
    swappiness = system.number("/proc/sys/vm/swappiness")
    fix = None
    if total is None or free is None:
        severity, value = Severity.unknown, "could not be read"
    elif total == 0:
        severity, value = Severity.good, "none"
    else:
        used = total - free
        severity = Severity.warning if used else Severity.note
        value = f"{used / GIB:.1f} of {total / GIB:.1f} GiB used, swappiness {swappiness}"
        fix = by_hand("swap", system)
    return Finding(
        id="swap",
        title="Swap",
        severity=severity,
        value=value,
        why="A page of the loop that lies on disk costs milliseconds when it is needed. Locked "
        "memory is safe; everything that the loop waits for is not.",
        fix=fix,
    )


def huge_pages(system: System) -> Finding:
    """Judges whether the kernel collects pages on its own."""
    text = system.text("/sys/kernel/mm/transparent_hugepage/enabled") or ""
    mode = text.partition("[")[2].partition("]")[0]
    severity = {"always": Severity.warning, "": Severity.unknown}.get(mode, Severity.good)
    return Finding(
        id="huge-pages",
        title="Transparent huge pages",
        severity=severity,
        value=mode or "could not be read",
        why="The kernel collects small pages into large ones behind the loop's back: it stops at "
        "a page that is being moved, for up to a millisecond.",
        fix=by_hand("huge-pages", system) if mode == "always" else None,
    )


def available(system: System) -> Finding:
    """Judges whether memory is short."""
    free, total = memory_bytes(system, "MemAvailable"), memory_bytes(system, "MemTotal")
    if free is None or total is None:
        severity, value = Severity.unknown, "could not be read"
    else:
        severity = Severity.good if free >= LITTLE_MEMORY else Severity.warning
        value = f"{free / GIB:.1f} of {total / GIB:.1f} GiB"
    return Finding(
        id="memory",
        title="Available memory",
        severity=severity,
        value=value,
        why="When memory runs short, the kernel searches every core's pages for some to give "
        "back, and every node waits for it. Each ROS 2 process locks about 200 MiB.",
        fix="end what is not needed (see: ps aux --sort=-rss | head), or add memory"
        if severity is Severity.warning
        else None,
    )


def shared_memory(system: System) -> Finding:
    """Judges the room for messages and sample files."""
    space = system.space(_SHARED_MEMORY) if system.exists(_SHARED_MEMORY) else None
    fix = None
    if space is None or not space.total:
        severity, value = Severity.unknown, "no /dev/shm"
    else:
        severity = Severity.good if space.free >= LITTLE_SHARED_MEMORY else Severity.problem
        value = f"{space.free / 2**20:.0f} of {space.total / 2**20:.0f} MiB free"
    if severity is Severity.problem:
        fix = "sudo mount -o remount,size=1G /dev/shm   # in a container: --shm-size=1g"
    return Finding(
        id="shared-memory",
        title="Shared memory (/dev/shm)",
        severity=severity,
        value=value,
        why="Nodes of one machine hand messages over in /dev/shm, and Takt records there. When it "
        "is full, the middleware silently falls back to the slower network, or fails.",
        fix=fix,
    )


CHECKS = (shared_memory, available, swap, huge_pages)
