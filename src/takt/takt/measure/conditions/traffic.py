# SPDX-License-Identifier: Apache-2.0
"""Other traffic on the link between two hosts: UDP by iperf3, both ways at one rate.

It goes over IPv6, the messages over IPv4, so the kernel counts the two apart without a filter in
their way. What counts is what was received: traffic below its rate, or above its limit, fails the
cell.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path as Folder
from typing import Protocol

from takt.errors import Failure
from takt.measure.conditions.condition import Condition
from takt.measure.conditions.machine import machines
from takt.measure.results.model import Cell, Conditions, Note
from takt.network import second_path, shaping
from takt.network.hosts import Hosts
from takt.network.namespace import Link
from takt.processes.supervision import Program

IPERF3 = "iperf3"
PORT = 5201
DATAGRAM = 1400  # bytes; with its headers it is one frame
LEAST = 0.9  # of the rate
MOST = 1.05  # of a limit, for what the bucket had saved before
# It stands for what other machines send: a load of this one's CPUs must not slow it down.
BEFORE_LOAD = ["nice", "--adjustment=-20"]
_BEGUN = 10 * DATAGRAM


@dataclass(frozen=True)
class Received:
    """What came of traffic up to a moment: on the second host, and on the first."""

    at: tuple[float, float]  # s, of the clock of each
    payload: tuple[int, int]  # bytes


class Path(Protocol):
    """The way of the traffic."""

    server: str  # the address that the server binds
    client: str  # the same, as the client calls it

    def placed(self, server: Program, client: Program) -> list[Program]:
        """The two, each to be started on its host."""

    def listens(self) -> bool:
        """Whether the server can be called."""

    def received(self) -> Received:
        """As the kernels count it."""


class OverLink:
    """To the network namespace of this machine."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.server = self.client = link.traffic_addresses[1]

    def placed(self, server: Program, client: Program) -> list[Program]:
        """The server is behind the link."""
        return [replace(server, command=self._link.inside(server.command)), client]

    def listens(self) -> bool:
        """On the second host."""
        return self._link.listens(PORT)

    def received(self) -> Received:
        """Both at one moment."""
        now = self._link.carried()
        return Received((now.at, now.at), (now.traffic_there, now.traffic_back))


class BetweenHosts:
    """From the host of ping or publisher to the other one, of which one at least is a worker."""

    def __init__(self, hosts: Hosts, names: Sequence[str], run_folder: Folder) -> None:
        self._sides = hosts.passive, hosts.active
        self._ends = [one.call(second_path.end_of, one.address) for one in self._sides]
        self._machines = machines(hosts, run_folder, names)
        self.server = self._ends[0].as_of(self._ends[0].interface)
        self.client = self._ends[0].as_of(self._ends[1].interface)

    def placed(self, server: Program, client: Program) -> list[Program]:
        """Each by the agent of its host."""
        active, passive = self._machines
        return [passive.placed(server), active.placed(client)]

    def listens(self) -> bool:
        """On the second host."""
        return self._sides[0].call(second_path.listens, PORT)

    def received(self) -> Received:
        """One after the other, each with the time of its own clock."""
        each = zip(self._sides, self._ends, strict=True)
        there, back = (one.call(second_path.received, end.interface) for one, end in each)
        return Received((there[0], back[0]), (there[1], back[1]))


class Traffic(Condition):
    """The traffic of one cell."""

    def __init__(self, cell: Cell, path: Path, folder: Folder) -> None:
        self._mbps, self._path = cell.traffic_mbps, path
        limited = cell.queue == shaping.LIMITED
        self._limit = shaping.SHARE * cell.link_mbps if limited else math.inf  # Mbit/s, each way
        self._idle = self._before = self._after = path.received()
        server = [*BEFORE_LOAD, IPERF3, "--server", "--bind", path.server, "--port", str(PORT)]
        client = [*BEFORE_LOAD, IPERF3, "--client", path.client, "--port", str(PORT)]
        client += ["--udp", "--bidir"]
        client += ["--bitrate", str(round(cell.traffic_mbps * 1e6)), "--length", str(DATAGRAM)]
        client += ["--time", "0"]
        self.programs = path.placed(
            _program(cell, folder, "server", server), _program(cell, folder, "client", client)
        )
        self.programs[0].ready = path.listens
        self.programs[1].ready = self._flows

    def begin(self) -> None:
        """From here on it counts."""
        with contextlib.suppress(Failure):  # of a lost host: its programs say so
            self._before = self._after = self._path.received()

    def end(self) -> None:
        """Up to here it counts."""
        with contextlib.suppress(Failure):
            self._after = self._path.received()

    def record(self, into: Conditions) -> None:
        """The rates that were received."""
        into.traffic_there_mbps, into.traffic_back_mbps = (round(one, 3) for one in self._rates())

    def fault(self, _cell: Cell) -> Note | None:
        """Where it was slower than asked."""
        if self._after is self._before:
            why = "a machine at an end did not answer"
            return Note(what="nothing is known of the traffic", why=why, fix="measure it again")
        there, back = self._rates()
        if max(there, back) > MOST * self._limit:
            why = f"{there:.3g} Mbit/s reached the second host, {back:.3g} Mbit/s the first"
            fix = "check that the kernel has htb and u32: tc -s class show"
            return Note(what=f"the traffic exceeded {self._limit:g} Mbit/s", why=why, fix=fix)
        if min(there, back) >= LEAST * min(self._mbps, self._limit):
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
        now = self._path.received()
        return all(
            new - old > _BEGUN for old, new in zip(self._idle.payload, now.payload, strict=True)
        )

    def _rates(self) -> tuple[float, float]:
        """There and back, in Mbit/s."""
        there, back = (
            8e-6 * (self._after.payload[way] - self._before.payload[way]) / seconds
            if (seconds := self._after.at[way] - self._before.at[way]) > 0
            else 0.0
            for way in (0, 1)
        )
        return there, back


def _program(cell: Cell, folder: Folder, role: str, command: list[str]) -> Program:
    name = f"{cell.id}.iperf3.{role}"
    return Program(
        role=f"traffic's {role}",
        command=command,
        result=folder / f"{name}.json",
        stderr=folder / f"{name}.stderr",
        background=True,
    )
