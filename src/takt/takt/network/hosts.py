# SPDX-License-Identifier: Apache-2.0
"""Where the two roles of a cell are: here, behind a link, or on the machine of a worker."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

from takt.errors import Failure
from takt.network import clocks, transport
from takt.network.namespace import HERE, THERE, Link
from takt.network.stacks import of_role
from takt.network.workers import Remote

RAW_PORT = 7400
Value = TypeVar("Value")


def other_hosts(host: str) -> list[str]:
    """The hosts of a cell that are workers."""
    return [name for name in host.split(",") if name not in (HERE, THERE)]


@dataclass
class Side:
    """One of the two hosts, or both where there is one."""

    address: str = transport.LOOPBACK
    link: Link | None = None  # it is the far end of this one
    remote: Remote | None = None

    def call(self, function: Callable[..., Value], *arguments: object) -> Value:
        """What a function of Takt's returns there; raises Gone, or what it raises."""
        if self.remote:
            found: Value = self.remote.ask("call", function=function, arguments=arguments)
            return found
        return function(*arguments)

    def free_port(self) -> int:
        """A UDP port that nobody uses there."""
        if self.link:
            return RAW_PORT  # nobody else is there
        if self.remote:
            return int(self.remote.ask("free_port", address=self.address))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind((self.address, 0))
            return int(free.getsockname()[1])

    def clock(self) -> clocks.Clock:
        """Its clock now."""
        return self.remote.clock() if self.remote else clocks.read()


@dataclass
class Hosts:
    """Of a cell: the host of ping or publisher, and that of pong or subscribers."""

    active: Side
    passive: Side
    link: Link | None = None
    _spent: float = 0.0
    _workers_here: bool = False

    @classmethod
    def one(cls) -> Hosts:
        """This machine alone."""
        side = Side()
        return cls(side, side)

    def of(self, role: str) -> Side:
        """That of a role."""
        return of_role((self.active, self.passive), role)

    def other(self, role: str) -> Side:
        """That of those it talks to."""
        return of_role((self.passive, self.active), role)

    def spent_here(self) -> tuple[float, float | None]:
        """Seconds of CPU time of the workers that are on this machine, and of what they started.

        And when that was so, by CLOCK_MONOTONIC; None: there are none, or they do not answer.
        """
        with contextlib.suppress(Failure):  # of a lost host: as it was
            each = [one.ask("spent") for one in self.remotes]
            spent = {pid: (seconds, at) for on, pid, seconds, at in each if on == clocks.identity()}
            self._workers_here = bool(spent)
            if spent:
                self._spent = sum(seconds for seconds, _ in spent.values())
                return self._spent, fmean(at for _, at in spent.values())
        return self._spent, None

    @property
    def one_is_here(self) -> bool:
        """Whether this machine is one of them, also by a worker whose time was asked for."""
        return self._workers_here or not (self.active.remote and self.passive.remote)

    @property
    def remotes(self) -> list[Remote]:
        """Those that are workers."""
        return [one.remote for one in (self.active, self.passive) if one.remote]
