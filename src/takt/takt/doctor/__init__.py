# SPDX-License-Identifier: Apache-2.0
"""The doctor: what stands between this machine and real time, and how to mend it.

One file per theme. Each check is a small function from a :class:`System` to a finding (None where
the question does not arise), so that a test can present any machine as a folder of files.
"""

from __future__ import annotations

from collections.abc import Callable

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
    threads,
    virtual,
)
from takt.doctor.finding import Finding, Severity
from takt.doctor.fingerprint import fingerprint
from takt.machine.settings import BY_FINDING, is_wanted
from takt.machine.system import System

__all__ = ["CHECKS", "SEVERITIES", "Check", "System", "findings", "fingerprint"]

Check = Callable[[System], Finding | None]

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
    found = [finding for check in CHECKS if (finding := _ask(check, system))]
    return sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))


def _ask(check: Check, system: System) -> Finding | None:
    """A file in a form that nobody has seen yet must not cost the other answers."""
    try:
        found = check(system)
        setting = BY_FINDING.get(found.id) if found and found.fix else None
        if found and setting and is_wanted(setting, system):
            found.setting = setting.id
        return found  # noqa: TRY300 - there is no exception to keep apart
    except (ValueError, LookupError, OSError) as error:
        return Finding(
            id=check.__name__.replace("_", "-"),
            title=check.__name__.replace("_", " ").capitalize(),
            severity=Severity.unknown,
            value=f"could not be understood: {error}",
            why="This machine answers in a form that Takt does not know; please report it.",
        )
