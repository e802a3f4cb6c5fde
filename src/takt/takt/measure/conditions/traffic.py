# SPDX-License-Identifier: Apache-2.0
"""Other traffic on the link between two hosts: UDP by iperf3, both ways at one rate.

It goes over IPv6, the messages over IPv4, so the kernel counts the two apart without a filter in
their way. What counts is what was received: traffic below its rate fails the cell.
"""

from __future__ import annotations

from pathlib import Path

from takt.measure.results.model import Cell, Conditions, Note
from takt.network.namespace import Link
from takt.processes.supervision import Program

IPERF3 = "iperf3"
PORT = 5201
DATAGRAM = 1400  # bytes; with its headers it is one frame
LEAST = 0.9  # of the rate
# It stands for what other machines send: a load of this one's CPUs must not slow it down.
BEFORE_LOAD = ["nice", "--adjustment=-20"]
_BEGUN = 10 * DATAGRAM


class Traffic:
    """The traffic of one cell."""

    def __init__(self, cell: Cell, link: Link, folder: Path) -> None:
        self._mbps, self._link = cell.traffic_mbps, link
        self._idle = self._before = self._after = link.carried()
        address = link.traffic_addresses[1]
        server = [*BEFORE_LOAD, IPERF3, "--server", "--bind", address, "--port", str(PORT)]
        client = [*BEFORE_LOAD, IPERF3, "--client", address, "--port", str(PORT)]
        client += ["--udp", "--bidir"]
        client += ["--bitrate", str(round(cell.traffic_mbps * 1e6)), "--length", str(DATAGRAM)]
        client += ["--time", "0"]
        self.programs = [
            _program(cell, folder, "server", link.inside(server)),
            _program(cell, folder, "client", client),
        ]
        self.programs[0].ready = lambda: link.listens(PORT)
        self.programs[1].ready = self._flows

    def begin(self) -> None:
        """From here on it counts."""
        self._before = self._link.carried()

    def end(self) -> None:
        """Up to here it counts."""
        self._after = self._link.carried()

    def record(self, into: Conditions) -> None:
        """The rates that were received."""
        into.traffic_there_mbps, into.traffic_back_mbps = (round(one, 3) for one in self._rates())

    def fault(self, _cell: Cell) -> Note | None:
        """Where it was slower than asked."""
        there, back = self._rates()
        if min(there, back) >= LEAST * self._mbps:
            return None
        why = f"{there:.3g} Mbit/s reached the second host, {back:.3g} Mbit/s the first"
        fix = "use a faster link or a lower rate, or leave iperf3 more CPU time"
        return Note(what=f"the traffic did not reach {self._mbps:g} Mbit/s", why=why, fix=fix)

    def missing(self) -> Note:
        """What is said where it was not there in time."""
        words = [one.last_words() for one in self.programs]
        why = "; ".join(filter(None, words)) or "no traffic arrived over the link"
        fix = f"try it by hand: {' '.join(self.programs[1].command)}"
        return Note(what="the traffic did not start", why=why, fix=fix)

    def _flows(self) -> bool:
        now = self._link.carried()
        there = now.traffic_there - self._idle.traffic_there
        back = now.traffic_back - self._idle.traffic_back
        return min(there, back) > _BEGUN

    def _rates(self) -> tuple[float, float]:
        """There and back, in Mbit/s."""
        seconds = self._after.at - self._before.at
        if seconds <= 0:
            return 0.0, 0.0
        there = self._after.traffic_there - self._before.traffic_there
        back = self._after.traffic_back - self._before.traffic_back
        return 8e-6 * there / seconds, 8e-6 * back / seconds


def _program(cell: Cell, folder: Path, role: str, command: list[str]) -> Program:
    name = f"{cell.id}.iperf3.{role}"
    return Program(
        role=f"traffic's {role}",
        command=command,
        result=folder / f"{name}.json",
        stderr=folder / f"{name}.stderr",
        background=True,
    )
