# SPDX-License-Identifier: Apache-2.0
"""Which interrupts and softirqs took some CPUs, and when: the kernel's tracepoints (perf.py).

Their numbers and fields are in tracefs, which root may read where it is mounted. A softirq that a
thread's own system call starts counts, too; interrupts of the processor's own, such as its timer's,
are no events of this kind: what they start as softirqs is.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from takt.processes.perf import LOST, SAMPLE, Event, Ring, lost
from takt.processes.switches import INTERRUPT, Held, Longest

#: Where tracefs may be mounted.
PLACES = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
LEAST_NS = 1_000  # shorter ones are not kept
_NAMES = ("irq_handler_entry", "irq_handler_exit", "softirq_entry", "softirq_exit")
# Their numbers are part of the kernel's interface: include/linux/interrupt.h.
_SOFTIRQS = (
    *("HI", "TIMER", "NET_TX", "NET_RX", "BLOCK"),
    *("IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"),
)
_TRACEPOINT, _RAW = 2, 1 << 10


@dataclass(frozen=True)
class Tracepoint:
    """As tracefs describes it: its number, and where its fields begin."""

    name: str
    number: int
    fields: dict[str, int]


@dataclass
class _Handling:
    which: tuple[bool, int]  # whether it is a softirq, and its number
    name: str
    since: int


class Handled:
    """What the records of one CPU say: an interrupt within another one counts apart from it."""

    def __init__(self, cpu: int, points: Collection[Tracepoint]) -> None:
        self._cpu = cpu
        self._points = {one.number: one for one in points}
        self._open: list[_Handling] = []

    def take(self, body: bytes) -> Iterator[Held]:
        """A sample of a tracepoint: its time, and what it has in its fields."""
        at, size = struct.unpack_from("<QI", body)
        raw = body[12 : 12 + size]
        point = self._points.get(struct.unpack_from("<H", raw)[0])
        if point is None:
            return
        soft = point.name.startswith("softirq")
        (number,) = struct.unpack_from("<I", raw, point.fields["vec" if soft else "irq"])
        if self._open:
            last = self._open[-1]
            if at - last.since >= LEAST_NS:
                yield Held(last.since, at, self._cpu, INTERRUPT, last.name)
        if point.name.endswith("entry"):
            name = _softirq(number) if soft else _interrupt(number, raw, point)
            self._open.append(_Handling((soft, number), name, at))
            return
        if self._open and self._open[-1].which == (soft, number):
            self._open.pop()
        else:  # it began before the recording, or what was lost
            self._open.clear()
        if self._open:
            self._open[-1].since = at

    def forget(self) -> None:
        """Records were lost: what runs is not known."""
        self._open.clear()


class Interrupts:
    """Those of these CPUs, from now on. Look often: a full ring loses some."""

    def __init__(self, cpus: Collection[int]) -> None:
        """Raises no error: ``refused`` says why nothing is recorded."""
        self.refused: str | None = None
        self.lost = 0  # records
        self._kept = Longest()
        self._rings: list[tuple[Ring, Handled]] = []
        try:
            points = tracepoints()
            events = [Event(_TRACEPOINT, one.number, _RAW, period=1) for one in points]
            for cpu in sorted(cpus):
                self._rings.append((Ring(cpu, events), Handled(cpu, points)))
        except OSError as error:
            self.refused = _reason(error)
            self.close()

    def look(self) -> None:
        """Takes what the kernel has recorded since the last look."""
        for ring, handled in self._rings:
            for kind, _, body in ring.records():
                if kind == SAMPLE:
                    for one in handled.take(body):
                        self._kept.add(one)
                elif kind == LOST:
                    self.lost += lost(body)
                    handled.forget()

    def end(self) -> None:
        """The last look."""
        self.look()
        self.close()

    @property
    def held(self) -> list[Held]:
        """What is kept, by time."""
        return self._kept.by_time()

    @property
    def left_out(self) -> int:
        """Interrupts that are not kept: there were longer ones."""
        return self._kept.left_out

    def close(self) -> None:
        """Stops recording; what was taken is kept."""
        for ring, _ in self._rings:
            ring.close()
        self._rings = []


def tracepoints() -> list[Tracepoint]:
    """Raises OSError where tracefs cannot be read."""
    for place in PLACES:
        with suppress(FileNotFoundError):
            return [_described(place / "events" / "irq" / name) for name in _NAMES]
    raise FileNotFoundError(0, f"no tracefs: mount -t tracefs nodev {PLACES[0]}")


def _reason(error: OSError) -> str:
    if error.filename:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, FileNotFoundError):
        return str(error.strerror)
    return f"perf_event_open: {error.strerror}"


def _described(folder: Path) -> Tracepoint:
    number = int((folder / "id").read_text())
    text = (folder / "format").read_text()
    found = re.findall(r"field:[^;]*?(\w+)(?:\[\d*\])?;\s*offset:(\d+);", text)
    return Tracepoint(folder.name, number, {name: int(at) for name, at in found})


def _softirq(number: int) -> str:
    return f"softirq {_SOFTIRQS[number] if number < len(_SOFTIRQS) else number}"


def _interrupt(number: int, raw: bytes, point: Tracepoint) -> str:
    where = struct.unpack_from("<I", raw, point.fields["name"])[0]
    at, size = where & 0xFFFF, where >> 16
    name = raw[at : at + size].split(b"\0", 1)[0].decode(errors="replace")
    return f"interrupt {number} {name}".rstrip()
