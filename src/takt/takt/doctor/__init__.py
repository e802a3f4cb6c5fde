# SPDX-License-Identifier: Apache-2.0
"""The doctor: what stands between this machine and real time, and how to fix it.

One table, a file per theme. A row has an id, a title, the function that reads a :class:`System` and
judges it, and why it matters to a robot; so a test can present any machine as a folder of files.
"""

from __future__ import annotations

from takt.doctor import (
    clock,
    container,
    isolation,
    kernel,
    load_average,
    memory,
    network,
    power,
    privileges,
    real_time_groups,
    threads,
    virtual,
)
from takt.doctor.check import Check
from takt.doctor.finding import Finding, Severity
from takt.doctor.fingerprint import fingerprint
from takt.machine.system import System

__all__ = ["CHECKS", "SEVERITIES", "Check", "System", "findings", "fingerprint"]

CHECKS: tuple[Check, ...] = (
    *kernel.CHECKS,
    *threads.CHECKS,
    *privileges.CHECKS,
    *virtual.CHECKS,
    *isolation.CHECKS,
    *power.CHECKS,
    *clock.CHECKS,
    *memory.CHECKS,
    *container.CHECKS,
    *real_time_groups.CHECKS,
    *network.CHECKS,
    *load_average.CHECKS,
)

# Worst first; what is unknown stands before what is merely worth knowing.
SEVERITIES = (
    Severity.problem,
    Severity.warning,
    Severity.unknown,
    Severity.note,
    Severity.good,
)


def findings(system: System | None = None) -> list[Finding]:
    """All findings, worst first; within a severity in the order of effect on a robot's loop."""
    system = system or System()
    found = [finding for check in CHECKS if (finding := check.ask(system))]
    return sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))
