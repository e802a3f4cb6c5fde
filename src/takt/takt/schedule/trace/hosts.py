# SPDX-License-Identifier: Apache-2.0
"""What the trace of a robot on several hosts says of them: their cores, and their clocks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from takt.network.clocks import Between
from takt.schedule.trace.file import Names

HOST, CLOCK = "host", "clock"
_MILLIONTHS = 10**6


@dataclass(frozen=True)
class HostClock:
    """How the clock of a host relates to that of the first one, whose times the trace has."""

    host: str
    bound_ns: int  # the most by which its times in the trace are wrong
    drift_ppm: int  # the most by which the rates of both clocks differ, as far as was measured
    by: str  # who says so

    @classmethod
    def measured(cls, host: str, before: Between, after: Between, seconds: float) -> HostClock:
        """From two readings, so many seconds apart."""
        changed = abs(after.add_ns - before.add_ns)
        bound = max(before.bound_ns, after.bound_ns) + changed
        if not changed + before.bound_ns + after.bound_ns:
            return cls(host, 0, 0, before.by)
        rate = (changed + before.bound_ns + after.bound_ns) / max(seconds * 1e9, 1)
        return cls(host, bound, math.ceil(rate * _MILLIONTHS), before.by)

    @property
    def attribute(self) -> str:
        """As the trace has it: ``clock=HOST BOUND_NS DRIFT_PPM BY``."""
        return f"{CLOCK}={self.host} {self.bound_ns} {self.drift_ppm} {self.by}"

    @property
    def sentence(self) -> str:
        """For people."""
        return f"times of host {self.host} are ± {self.bound_ns / 1000:.6g} µs ({self.by})"


def clocks_of(names: Names) -> list[HostClock]:
    """Those of the hosts behind the first one; a damaged one is left out."""
    found = []
    for text in names.values(CLOCK):
        host, bound, drift, by = [*text.split(" ", 3), "", "", ""][:4]
        if bound.isdigit() and drift.isdigit():
            found.append(HostClock(host, int(bound), int(drift), by))
    return found


def first_cores(names: Names) -> dict[str, int]:
    """The number in the trace of each host's core 0."""
    each = (text.rpartition(" ") for text in names.values(HOST))
    return {host: int(core) for host, _, core in each if core.isdigit()}
