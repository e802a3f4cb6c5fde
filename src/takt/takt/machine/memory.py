# SPDX-License-Identifier: Apache-2.0
"""Settings of memory and of what a user may have of it: swap, pages, buffers, limits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from takt.machine.kernel import file
from takt.machine.place import KernelFile, OwnFile, file_value
from takt.machine.setting import ANY_PATH, Listed, Setting, Wish
from takt.machine.swap_area import SwapArea, swap_areas
from takt.machine.system import System, parse_cpu_list

# A megabyte message is some 16 datagrams of 64 KiB that arrive as one burst.
ENOUGH_RECEIVE_BUFFER = 2 * 2**20
BUFFER = 8 * 2**20
USUAL_PRIORITY = 80  # above the interrupt threads of a PREEMPT_RT kernel, which run at 50
LIMITS_FILE = "/etc/security/limits.d/90-takt.conf"
LIMITS = "@realtime - rtprio 98\n@realtime - memlock unlimited\n"
_HUGE = "/sys/kernel/mm/transparent_hugepage/enabled"
_BALANCING = "/proc/sys/kernel/numa_balancing"


def memory_bytes(system: System, name: str) -> int | None:
    """A line of ``/proc/meminfo`` in bytes."""
    words = system.pairs("/proc/meminfo").get(name, "").split()
    return int(words[0]) * 1024 if words and words[0].isdecimal() else None


def _swap(system: System) -> Iterator[Wish]:
    """All areas, where what lies in them fits into memory; the lowest priority first.

    Areas of the kernel's own priorities get these back in the reverse order.
    """
    total, free = memory_bytes(system, "SwapTotal"), memory_bytes(system, "SwapFree")
    available = memory_bytes(system, "MemAvailable")
    if total is None or free is None or available is None or total - free > available // 2:
        return
    areas = swap_areas(system.text("/proc/swaps") or "")
    for path in sorted(areas, key=lambda one: areas[one]):
        yield Wish(SwapArea(path=path), "off")


def _huge_pages(system: System) -> Iterator[Wish]:
    if "[always]" in (system.text(_HUGE) or ""):
        yield Wish(KernelFile(path=_HUGE, form="choice"), "madvise")


def _balancing(system: System) -> Iterator[Wish]:
    if len(parse_cpu_list(system.text("/sys/devices/system/node/online"))) > 1:
        yield from file(_BALANCING, "0")(system)


def _buffers(system: System) -> Iterator[Wish]:
    for name in ("rmem_max", "wmem_max"):
        path = f"/proc/sys/net/core/{name}"
        size = system.number(path)
        if size is None or size < ENOUGH_RECEIVE_BUFFER:
            yield from file(path, str(BUFFER))(system)


def _limits(system: System) -> Iterator[Wish]:
    """Where logins have limits, and nobody is granted a priority by another file."""
    folder = "/etc/security/limits.d"
    if not system.exists(folder):
        return
    files = ["/etc/security/limits.conf", *system.glob(f"{folder}/*.conf")]
    others = (system.text(path) or "" for path in files if path != LIMITS_FILE)
    if not any(_grants(line) for text in others for line in text.splitlines()):
        owner = system.path(folder).stat()  # root's, on any machine that is no test
        value = file_value(LIMITS, 0o644, (owner.st_uid, owner.st_gid))
        yield Wish(OwnFile(path=LIMITS_FILE), value)


def _grants(line: str) -> bool:
    words = line.partition("#")[0].split()
    granted = words[3] if len(words) == 4 and words[2] == "rtprio" else "0"
    return granted in ("unlimited", "-1") or (
        granted.isdecimal() and int(granted) >= USUAL_PRIORITY
    )


SETTINGS = (
    Setting(
        id="limits",
        title="Limits of the group realtime",
        why="Without these limits, only root may use SCHED_FIFO and locked memory.",
        findings=("sched-fifo", "locked-memory"),
        wishes=_limits,
        places=(Listed(OwnFile, re.escape(LIMITS_FILE)),),
        by_hand=lambda _: (
            "sudo groupadd -f realtime && sudo usermod -aG realtime $USER\n"
            "printf '@realtime - rtprio 98\\n@realtime - memlock unlimited\\n' | "
            f"sudo tee {LIMITS_FILE}   # then log in again"
        ),
        caution="effective at the next login, after: sudo groupadd -f realtime && sudo usermod "
        "-aG realtime $USER",
    ),
    Setting(
        id="swap",
        title="Swap",
        why="Loading a page from disk takes milliseconds.",
        findings=("swap",),
        wishes=_swap,
        places=(Listed(SwapArea, ANY_PATH),),
        by_hand=lambda _: "sudo swapoff -a   # and remove the swap line from /etc/fstab",
        caution="when memory runs out, the kernel kills programs instead",
    ),
    Setting(
        id="huge-pages",
        title="Transparent huge pages",
        why="The kernel moves pages of the loop, which then waits for them.",
        findings=("huge-pages",),
        wishes=_huge_pages,
        places=(Listed(KernelFile, f"{_HUGE} choice"),),
        by_hand=lambda _: f"echo madvise | sudo tee {_HUGE}",
    ),
    Setting(
        id="numa",
        title="Automatic NUMA balancing",
        why="It unmaps pages of a running loop to move them.",
        findings=("numa",),
        wishes=_balancing,
        places=(Listed(KernelFile, _BALANCING),),
        by_hand=lambda _: "sudo sysctl -w kernel.numa_balancing=0",
    ),
    Setting(
        id="udp-buffers",
        title="Socket buffers",
        why="Datagrams of a burst that do not fit are dropped.",
        findings=("udp-buffers",),
        wishes=_buffers,
        places=(Listed(KernelFile, "/proc/sys/net/core/[rw]mem_max"),),
        by_hand=lambda _: (
            f"echo net.core.rmem_max={BUFFER} | sudo tee /etc/sysctl.d/60-ros.conf && "
            "sudo sysctl --system"
        ),
    ),
)
