# SPDX-License-Identifier: Apache-2.0
"""For how long the kernel throttled the processes of an execution that have a quota (cpu_max)."""

from __future__ import annotations

from takt.machine.cpu_quota import Throttled
from takt.schedule.trace.file import Names

_QUOTA = "quota"


def attribute(name: str, one: Throttled) -> str:
    """Of a process, as a trace has it."""
    return f"{_QUOTA}={one.ns} {one.times} {one.periods} {name}"


def measured(names: Names) -> dict[str, Throttled]:
    """What an execution has recorded of its quotas, by process."""
    found = {}
    for text in names.values(_QUOTA):
        ns, times, periods, name = text.split(" ", 3)
        found[name] = Throttled(int(ns), int(times), int(periods))
    return found


def sentence(name: str, one: Throttled) -> str:
    """How often a process was throttled, in words."""
    if not one.times:
        return f"process {name} was never throttled ({one.periods} periods of its quota)"
    return (
        f"process {name} was throttled in {one.times} of {one.periods} periods of its quota, for "
        f"{one.ns / 1e6:.1f} ms together"
    )
