# SPDX-License-Identifier: Apache-2.0
"""Real-time threads of others, and how much of some cores they took while something was measured.

A thread of a lower priority waits as long as they run, and may never run at all.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
#: As /proc numbers them. All others share what these leave.
_REAL_TIME = {1: "SCHED_FIFO", 2: "SCHED_RR", 6: "SCHED_DEADLINE"}
_LEAST_SHARE = 0.1  # of the time: less is what a robot's own threads and interrupts take
_MOST_REPORTED = 3
# Where the fields of /proc/PID/stat are, behind the name.
_UTIME, _STIME, _START, _PROCESSOR, _PRIORITY, _POLICY = 11, 12, 19, 36, 37, 38


@dataclass(frozen=True)
class _Thread:
    process: int
    name: str
    policy: str
    priority: int
    cpu: int  # the last one that it ran on
    used_s: float


class Rivals:
    """The real-time threads that are there when this is made, and what they did since."""

    def __init__(self) -> None:
        self._began_s = time.monotonic()
        self._before = _threads()

    def reported(
        self,
        cpus: Collection[int] = (),
        *,
        least: float = _LEAST_SHARE,
        but: Collection[int] = (),
    ) -> list[str]:
        """Those that had a good part of one of these cores (none: of any), the worst first.

        ``least`` is that part; ``but`` are processes that are no rivals.
        """
        elapsed_s = time.monotonic() - self._began_s
        found: list[tuple[float, _Thread]] = []
        for key, thread in _threads().items():
            known = self._before.get(key)
            used_s = thread.used_s - (known.used_s if known else 0.0)
            if thread.process in but or (cpus and thread.cpu not in cpus):
                continue
            if used_s > least * elapsed_s:
                found.append((used_s, thread))
        found.sort(key=lambda one: -one[0])
        return [
            f"{_who(thread)} occupied CPU {thread.cpu} for {used_s:.1f} of {elapsed_s:.1f} s"
            for used_s, thread in found[:_MOST_REPORTED]
        ]


def _who(thread: _Thread) -> str:
    priority = f" {thread.priority}" if thread.priority else ""
    return f"process {thread.process} ({thread.name}, {thread.policy}{priority})"


def _threads() -> dict[tuple[int, int], _Thread]:
    """By thread id and start: an id is used again."""
    found = {}
    threads = [one for process in _numbers_in(PROC) for one in _numbers_in(process / "task")]
    for stat in (thread / "stat" for thread in threads):
        try:
            text = stat.read_text(encoding="utf-8", errors="replace")
            name, fields = text[text.index("(") + 1 : text.rindex(")")], text.rpartition(")")[2]
            numbers = [int(one) for one in fields.split()[1:]]
        except (OSError, ValueError):
            continue  # it has ended meanwhile
        value = [0, *numbers]
        if value[_POLICY] not in _REAL_TIME:
            continue
        found[int(stat.parent.name), value[_START]] = _Thread(
            process=int(stat.parts[-4]),
            name=name,
            policy=_REAL_TIME[value[_POLICY]],
            priority=value[_PRIORITY],
            cpu=value[_PROCESSOR],
            used_s=(value[_UTIME] + value[_STIME]) * _TICK_S,
        )
    return found


def _numbers_in(folder: Path) -> list[Path]:
    """What is called by a number there; nothing where it has ended meanwhile."""
    try:
        found = list(folder.iterdir())
    except OSError:
        return []
    return [one for one in found if one.name.isdecimal()]
