# SPDX-License-Identifier: Apache-2.0
"""How much the machine has to do at this moment: measurements are only as quiet as it is."""

from __future__ import annotations

from takt.doctor.finding import Finding, Severity
from takt.machine.system import System


def cpu_count(system: System) -> Finding:
    """Judges whether there is a core to spare for the loop."""
    count = len(system.online)
    return Finding(
        id="cpus",
        title="Number of CPUs",
        severity=Severity.unknown
        if not count
        else Severity.warning
        if count == 1
        else Severity.good
        if count > 2
        else Severity.note,
        value=str(count) if count else "could not be read",
        why="A control loop wants a core of its own; interrupts, the middleware's threads and all "
        "else need at least one more.",
        fix="give the machine at least two CPUs" if count == 1 else None,
    )


def load(system: System) -> Finding:
    """Names what else runs at this moment."""
    words = (system.text("/proc/loadavg") or "").split()
    window = system.window
    names = ", ".join(f"{name} {cpus:.0%}" for name, cpus in window.busiest) if window else ""
    if not words:
        severity, value = Severity.unknown, "could not be read"
    else:
        busy = window.busy if window else 0.0
        share = float(words[0]) / max(1, len(system.online))
        severity = Severity.warning if busy > 0.5 or share > 1 else Severity.good
        value = f"load average {words[0]}, {busy:.0%} busy now"
        value += f" ({names})" if names else ""
    return Finding(
        id="load",
        title="Load at the moment",
        severity=severity,
        value=value,
        why="What else runs now is measured too. That is right when it will also run on the "
        "robot, and wrong when it is a build or a browser.",
        fix="end it, or measure again later" if severity is Severity.warning else None,
    )


CHECKS = (load, cpu_count)
