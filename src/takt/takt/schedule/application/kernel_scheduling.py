# SPDX-License-Identifier: Apache-2.0
"""How the kernel schedules the thread of a process: by one of three classes.

SCHED_DEADLINE goes before SCHED_FIFO, and this before SCHED_OTHER. The core (C++) checks what fits
together; here is what the file says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from takt.documents.quantities import Strict
from takt.documents.units import format_duration
from takt.schedule.application.cores import PositiveTime, parse_cpu_max
from takt.schedule.application.executors import Priority

_WAYS = ("priority", "reservation", "nice")

# What the kernel takes; ns (sched_setattr: runtime >> 10 above 0; kernel/sched/core.c).
_LEAST_RUNTIME = 1024
_LEAST_QUOTA = 1_000_000
_LONGEST_QUOTA_PERIOD = 1_000_000_000


def _quota(text: str) -> str:
    quota, period = parse_cpu_max(text)
    if quota is None:
        raise ValueError("cpu_max max limits nothing: remove it")
    if quota > period:
        raise ValueError(
            f"cpu_max {text} is that of several cores, and a process has one thread: give at most "
            f"{format_duration(period)} in {format_duration(period)}, or remove it"
        )
    if quota < _LEAST_QUOTA or period > _LONGEST_QUOTA_PERIOD:
        raise ValueError(
            f"cpu_max {text} is refused by the kernel: give a quota of at least 1 ms "
            "and a period of at most 1 s"
        )
    return text


class Reservation(Strict):
    """A reservation of the kernel (SCHED_DEADLINE)."""

    runtime: PositiveTime = Field(description="CPU time that the thread has in each period")
    deadline: PositiveTime | None = Field(
        None,
        description="time from the begin of a period within which it has that; default: period",
    )
    period: PositiveTime = Field(description="time after which there is a new runtime")

    @model_validator(mode="after")
    def _ascending(self) -> Reservation:
        if self.runtime < _LEAST_RUNTIME:
            raise ValueError(
                f"a reservation with a runtime of {format_duration(self.runtime)} is refused by "
                f"the kernel (SCHED_DEADLINE): give at least {_LEAST_RUNTIME} ns"
            )
        within = self.period if self.deadline is None else self.deadline
        if not self.runtime <= within <= self.period:
            raise ValueError(
                f"a reservation has runtime <= deadline <= period, and this one "
                f"{format_duration(self.runtime)}, {format_duration(within)}, "
                f"{format_duration(self.period)}: lower the runtime, or lengthen the others"
            )
        return self


class KernelScheduling(Strict):
    """Of the thread of a process."""

    priority: Priority | None = Field(
        None,
        description="real-time priority (SCHED_FIFO) of its thread; unique on the core; or one of "
        "reservation and nice; default: none",
    )
    reservation: Reservation | None = Field(
        None,
        description="CPU time that the kernel reserves for its thread (SCHED_DEADLINE), above all "
        "priorities; default: none",
    )
    nice: Annotated[int, Field(ge=-20, le=19, strict=True)] | None = Field(
        None,
        description="nice value of its thread (SCHED_OTHER), below all priorities; default: none",
    )
    cpu_max: Annotated[str, AfterValidator(_quota)] | None = Field(
        None,
        description="with nice: quota and period of its control group (cpu.max), such as 20ms "
        "100ms; default: no quota",
    )

    @model_validator(mode="after")
    def _one_way(self) -> KernelScheduling:
        given = [key for key in _WAYS if getattr(self, key) is not None]
        if not given:
            raise ValueError(
                "key priority is missing: give the real-time priority (SCHED_FIFO) of the process, "
                "such as priority: 80, or a reservation (SCHED_DEADLINE), or nice (SCHED_OTHER)"
            )
        if len(given) > 1:
            raise ValueError(
                f"{' and '.join(given)} are given, and the kernel schedules a thread in one way: "
                "keep one of them"
            )
        if self.cpu_max is not None and self.nice is None:
            raise ValueError(
                f"cpu_max is given with a {given[0]}, and the kernel applies quotas to SCHED_OTHER "
                f"only: remove it, or give nice in place of the {given[0]}"
            )
        return self


def flat_scheduling(process: KernelScheduling) -> dict[str, Any]:
    """As the core parses it."""
    found: dict[str, Any] = {
        key: value for key in ("priority", "nice") if (value := getattr(process, key)) is not None
    }
    if (one := process.reservation) is not None:
        deadline = one.period if one.deadline is None else one.deadline
        found["reservation"] = {
            "runtime": one.runtime,
            "deadline": deadline,
            "period": one.period,
        }
    if process.cpu_max is not None:
        quota, period = parse_cpu_max(process.cpu_max)
        found["quota"] = {"budget": quota, "period": period}
    return found


def written_scheduling(process: Mapping[str, Any]) -> dict[str, Any]:
    """Of a process in its flat form, as a file has it."""
    found = {key: process[key] for key in ("priority", "nice") if key in process}
    if one := process.get("reservation"):
        keys = ("runtime", "deadline", "period")
        left_out = {"deadline"} if one["deadline"] == one["period"] else set()
        times = {key: format_duration(one[key]) for key in keys if key not in left_out}
        found["reservation"] = times
    if one := process.get("quota"):
        found["cpu_max"] = f"{format_duration(one['budget'])} {format_duration(one['period'])}"
    return found


def scheduling_text(process: Mapping[str, Any]) -> str:
    """Of a process in its flat form, in words: ``priority 80``."""
    if one := process.get("reservation"):
        within = (
            "" if one["deadline"] == one["period"] else f" (in {format_duration(one['deadline'])})"
        )
        return (
            f"reservation of {format_duration(one['runtime'])}{within} in every "
            f"{format_duration(one['period'])}"
        )
    if "nice" not in process:
        return f"priority {process['priority']}"
    written = written_scheduling(process)
    quota = f", cpu_max {written['cpu_max']}" if "cpu_max" in written else ""
    return f"nice {process['nice']}{quota}"
