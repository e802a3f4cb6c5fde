# SPDX-License-Identifier: Apache-2.0
"""Which interrupts and softirqs took some CPUs, and when: the kernel's tracepoints (perf.py).

Their numbers and fields are in tracefs, which root may read where it is mounted. A softirq that a
thread's own system call starts counts, too. Interrupts of the processor's own, such as its timer's
and the requests of other cores, have no number: on x86 they are named by their handler, on other
processors only what they start as softirqs is seen.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from takt.processes.perf import LOST, SAMPLE, Event, Ring, lost
from takt.processes.switches import INTERRUPT, Held, Stretches

#: Where tracefs may be mounted.
PLACES = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
LEAST_NS = 1_000  # shorter ones are not kept
_NAMES = ("irq_handler_entry", "irq_handler_exit", "softirq_entry", "softirq_exit")
# The group of the processor's own: arch/x86/include/asm/trace/irq_vectors.h.
_OWN = "irq_vectors"
# Their numbers are part of the kernel's interface: include/linux/interrupt.h.
_SOFTIRQS = (
    *("HI", "TIMER", "NET_TX", "NET_RX", "BLOCK"),
    *("IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"),
)
_FIELDS = {"irq_handler": "irq", "softirq": "vec"}  # with the number; of all others: "vector"
_TRACEPOINT, _RAW = 2, 1 << 10


@dataclass(frozen=True)
class Tracepoint:
    """As tracefs describes it: its number, and where its fields begin."""

    name: str
    number: int
    fields: dict[str, int]


@dataclass
class _Handling:
    which: tuple[str, int]  # its kind, and its number
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
        kind, _, edge = point.name.rpartition("_")
        (number,) = struct.unpack_from("<I", raw, point.fields[_FIELDS.get(kind, "vector")])
        if self._open:
            last = self._open[-1]
            if at - last.since >= LEAST_NS:
                yield Held(last.since, at, self._cpu, INTERRUPT, last.name)
        if edge == "entry":
            self._open.append(_Handling((kind, number), _name(kind, number, raw, point), at))
            return
        if self._open and self._open[-1].which == (kind, number):
            self._open.pop()
        else:  # it began before the recording, or what was lost
            self._open.clear()
        if self._open:
            self._open[-1].since = at

    def forget(self) -> None:
        """Records were lost: what runs is not known."""
        self._open.clear()


class Interrupts(Stretches[Ring]):
    """Those of these CPUs, from now on. Look often: a full ring loses some."""

    def __init__(self, cpus: Collection[int]) -> None:
        """Raises no error: ``refused`` says why nothing is recorded."""
        super().__init__()
        self._handled: dict[Ring, Handled] = {}
        try:
            points = tracepoints()
            events = [Event(_TRACEPOINT, one.number, _RAW, period=1) for one in points]
            for cpu in sorted(cpus):
                self._rings.append(Ring(cpu, events))
                self._handled[self._rings[-1]] = Handled(cpu, points)
        except OSError as error:
            self.refused = _reason(error)
            self.close()

    def look(self) -> None:
        """Takes what the kernel has recorded since the last look."""
        for ring in self._rings:
            handled = self._handled[ring]
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


def tracepoints() -> list[Tracepoint]:
    """Raises OSError where tracefs cannot be read."""
    for place in PLACES:
        with suppress(FileNotFoundError):
            events = place / "events"
            own = sorted((events / _OWN).glob("*_entry")) + sorted((events / _OWN).glob("*_exit"))
            return [_described(one) for one in [*(events / "irq" / name for name in _NAMES), *own]]
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


def _name(kind: str, number: int, raw: bytes, point: Tracepoint) -> str:
    if kind == "softirq":
        return f"softirq {_SOFTIRQS[number] if number < len(_SOFTIRQS) else number}"
    if kind != "irq_handler":
        return f"interrupt {kind}"
    where = struct.unpack_from("<I", raw, point.fields["name"])[0]
    at, size = where & 0xFFFF, where >> 16
    name = raw[at : at + size].split(b"\0", 1)[0].decode(errors="replace")
    return f"interrupt {number} {name}".rstrip()
