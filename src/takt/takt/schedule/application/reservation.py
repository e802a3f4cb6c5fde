# SPDX-License-Identifier: Apache-2.0
"""What the kernel has reserved for a process: SCHED_DEADLINE, or the quota of its control group.

A budget in each period, at any time within it: a periodic resource (Shin & Lee 2003), whose longest
time without supply is 2 (period - budget). See sched_getattr(2) and the kernel's documentation of
cpu.max.
"""

from __future__ import annotations

import os
from pathlib import Path

from takt.documents.units import format_duration
from takt.errors import TaktError
from takt.machine.scheduling import reservation_of
from takt.schedule.application.cores import Supply, parse_cpu_max

PROC, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")


def reservation(process: int) -> Supply:
    """What is reserved for a process; raises TaktError where it is nothing, or not one thing."""
    where = f"process {process}"
    try:
        threads = sorted(int(one.name) for one in (PROC / str(process) / "task").iterdir())
    except OSError as error:
        raise TaktError(
            f"it cannot be read: {error.strerror}", where=where, fix="give a running process"
        ) from None
    reserved = {found for thread in threads if (found := deadline_of(thread))}
    if len(reserved) > 1:
        raise TaktError(
            "its threads have different SCHED_DEADLINE reservations",
            where=where,
            fix="describe each core in the app.yaml: cores: {1: {supply: {budget: …, period: …}}}",
        )
    for budget, period in reserved:
        times = {"budget": format_duration(budget), "period": format_duration(period)}
        return Supply.model_validate(times)
    quotas = quotas_of(process)
    if len(quotas) > 1:
        raise TaktError(
            f"its control groups have several quotas: {', '.join(quotas)}",
            where=where,
            fix="keep one of them: set the others to max",
        )
    for text in quotas.values():
        return Supply(cpu_max=text)
    raise TaktError(
        "it has no SCHED_DEADLINE reservation, and its control groups no quota (cpu.max)",
        where=where,
        fix="leave out --supply, or measure what the cores provide: takt measure supply",
    )


def deadline_of(thread: int) -> tuple[int, int] | None:
    """Budget and period of a thread at SCHED_DEADLINE, in ns."""
    found = reservation_of(thread)
    return (found[0], found[2]) if found else None


def quotas_of(process: int) -> dict[str, str]:
    """The quotas of its control group and of those above, by folder: text of cpu.max."""
    found = {}
    for line in (PROC / str(process) / "cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            found.update(_limits(GROUPS, path))
        elif "cpu" in controllers.split(","):
            found.update(_limits(GROUPS / "cpu", path))
    return found


def _limits(root: Path, path: str) -> dict[str, str]:
    found = {}
    folder = Path(os.path.normpath(root / path.lstrip("/")))
    while folder == root or root in folder.parents:
        text = _text(folder / "cpu.max")
        if text is None:  # version 1
            quota, period = (_text(folder / f"cpu.cfs_{one}_us") for one in ("quota", "period"))
            text = f"{quota} {period}" if quota and period and quota != "-1" else None
        if text and (limit := parse_cpu_max(text))[0] is not None:
            found[f"{folder} ({format_duration(limit[0] or 0)} in {format_duration(limit[1])})"] = (
                text
            )
        folder = folder.parent
    return found


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="ascii").strip()
    except OSError:
        return None
