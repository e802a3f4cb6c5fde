# SPDX-License-Identifier: Apache-2.0
"""How the threads of recorded processes were scheduled.

A line in a file, each time that a thread has another scheduling than before: ``thread TIME PROCESS
THREAD POLICY PRIORITY NICE CPUS NAME`` (ns of CLOCK_MONOTONIC). The policy of a reservation is
``deadline:RUNTIME:DEADLINE:PERIOD``, in ns. A thread that ran for less than a look is missing.
"""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from takt.documents.own import printable
from takt.errors import TaktError
from takt.machine.scheduling import Scheduling, scheduling_of, threads_of
from takt.machine.system import parse_cpu_list
from takt.schedule.ros2.called import Handle
from takt.schedule.ros2.recordings import begun
from takt.schedule.ros2.recordings import read as header

FILE = "threads"
_EVERY_S = 1.0  # threads of a process that is known


@dataclass(frozen=True)
class State:
    """A thread from a time on."""

    time: int
    name: str
    scheduling: Scheduling


@dataclass
class Threads:
    """Of all processes of a folder."""

    states: dict[Handle, list[State]] = field(default_factory=lambda: defaultdict(list))

    def last(self, thread: Handle) -> State | None:
        """How it was scheduled at the end; None: not recorded."""
        return self.states[thread][-1] if thread in self.states else None

    def of(self, process: int) -> list[Handle]:
        """All threads of one process that were there."""
        return [one for one in self.states if one[0] == process]

    def ranks(self, thread: Handle, since: int) -> list[str]:
        """The policies and priorities that it had, one after the other, from a time on."""
        found: list[str] = []
        for one in self.states.get(thread, []):
            if one.time <= since:
                found.clear()
            if not found or found[-1] != one.scheduling.rank:
                found.append(one.scheduling.rank)
        return found


class Watch:
    """Records them from now on; needs looks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[Path, int] = {}  # recordings with their processes
        self._last: dict[Handle, tuple[str, Scheduling]] = {}
        self._next = 0.0

    def look(self) -> None:
        """At new processes each time, at the others once a second."""
        now = time.monotonic()
        processes = self._new()
        if now >= self._next:
            self._next = now + _EVERY_S
            processes = list(self._known.values())
        lines = [line for one in processes for line in self._changes(one)]
        if lines:
            # A disk that is full ends the recording of the events; these are less.
            with suppress(OSError), (self._folder / FILE).open("a", encoding="utf-8") as file:
                file.writelines(f"{printable(line)}\n" for line in lines)

    def _new(self) -> list[int]:
        found = []
        with suppress(OSError):
            for file in begun(self._folder):
                if file not in self._known:
                    with suppress(TaktError):
                        found.append(self._known.setdefault(file, header(file).process))
        return found

    def _changes(self, process: int) -> list[str]:
        lines = []
        for number, name in threads_of(process):
            with suppress(OSError):  # it has ended meanwhile
                found = scheduling_of(number)
                if self._last.get((process, number)) != (name, found):
                    self._last[process, number] = name, found
                    at = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
                    policy = found.policy.replace(" ", "-")
                    policy = ":".join([policy, *map(str, found.reservation or ())])
                    lines.append(
                        f"thread {at} {process} {number} {policy} {found.priority} {found.nice} "
                        f"{found.cores} {name}"
                    )
        return lines


def read(folder: Path) -> Threads:
    """By time; what is not as Takt writes it is left out, and so are all where there is no file."""
    found = Threads()
    try:
        text = (folder / FILE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return found
    for line in text.splitlines():
        fields = line.split(" ", 8)
        if len(fields) < 9 or fields[0] != "thread":
            continue
        with suppress(ValueError):
            at, process, thread = (int(one) for one in fields[1:4])
            priority, nice = (int(one) for one in fields[5:7])
            cpus = frozenset(parse_cpu_list(fields[7]))
            policy, *times = printable(fields[4]).split(":")
            reserved = tuple(map(int, times))
            scheduling = Scheduling(
                policy, priority, nice, cpus, reserved if len(reserved) == 3 else None
            )
            found.states[process, thread].append(State(at, printable(fields[8]), scheduling))
    for each in found.states.values():
        each.sort(key=lambda one: one.time)
    return found
