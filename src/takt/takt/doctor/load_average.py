# SPDX-License-Identifier: Apache-2.0
"""How much the machine has to do at this moment: measurements are only as quiet as it is."""

from __future__ import annotations

from takt.doctor.check import UNREADABLE, Check, Judgement, good, note, warning
from takt.machine.system import System


def _cpus(system: System) -> Judgement:
    count = len(system.online)
    if not count:
        return UNREADABLE
    if count == 1:
        return warning("1", "give the machine at least two CPUs")
    return good(str(count)) if count > 2 else note(str(count))


def _load(system: System) -> Judgement:
    words = (system.text("/proc/loadavg") or "").split()
    window = system.window
    if not words:
        return UNREADABLE
    busy = window.busy if window else 0.0
    share = float(words[0]) / max(1, len(system.online))
    value = f"load average {words[0]}, {busy:.0%} busy now"
    if names := ", ".join(f"{name} {cpus:.0%}" for name, cpus in window.busiest) if window else "":
        value += f" ({names})"
    if busy > 0.5 or share > 1:
        return warning(value, "end it, or measure again later")
    return good(value)


CHECKS = (
    Check(
        "load",
        "Load at the moment",
        _load,
        "What else runs now is measured too. That is right when it will also run on the "
        "robot, and wrong when it is a build or a browser.",
    ),
    Check(
        "cpus",
        "Number of CPUs",
        _cpus,
        "A control loop wants a core of its own; interrupts, the middleware's threads and all "
        "else need at least one more.",
    ),
)
