# SPDX-License-Identifier: Apache-2.0
"""What an application assumes about its cores: supply, latency and interrupts."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from takt.documents.quantities import Duration, Strict
from takt.documents.units import format_duration, parse_duration
from takt.schedule.application.executors import Cpu

WHOLE = 1_000_000_000  # the denominator of a rate in the core (takt/application/core.hpp)
LONGEST = 3_600_000_000_000


def _positive(value: int) -> int:
    if value == 0:
        raise ValueError("must be greater than 0")
    return _short(value)


def _short(value: int) -> int:
    if value > LONGEST:
        raise ValueError("must be at most 1h")
    return value


def _quota(text: str) -> str:
    parse_cpu_max(text)
    return text


def parse_cpu_max(text: str) -> tuple[int | None, int]:
    """Quota and period in ns; a bare number is in µs, as in the kernel's file; None: no quota."""
    words = text.split()
    if len(words) != 2:
        raise ValueError("cpu_max has a quota and a period, such as 20ms 100ms")
    period = _limit(words[1])
    if words[0] == "max":
        return None, period
    return _limit(words[0]), period


def _limit(word: str) -> int:
    value = int(word) * 1000 if word.isdecimal() else parse_duration(word)
    return _positive(value)


Time = Annotated[Duration, AfterValidator(_short)]
PositiveTime = Annotated[Duration, AfterValidator(_positive)]


class Supply(Strict):
    """The least time that a core provides: a budget in each period, or a rate after a delay.

    A quota of a control group is a budget, too.
    """

    budget: PositiveTime | None = Field(
        None, description="with period: CPU time that is provided in each period, anywhere in it"
    )
    period: PositiveTime | None = Field(None, description="period of the budget")
    rate: Annotated[float, Field(gt=1e-9, le=1)] | None = Field(
        None, description="share of the core that is provided after the delay; at most 1"
    )
    delay: Time | None = Field(
        None, description="with rate: longest time without any supply; default: 0s"
    )

    cpu_max: Annotated[str, AfterValidator(_quota)] | None = Field(
        None,
        description="quota and period of the control group (cpu.max), such as 20ms 100ms; all "
        "cores of the application share it, and only threads without a real-time policy have it",
    )

    @model_validator(mode="after")
    def _one_form(self) -> Supply:
        periodic = self.budget is not None or self.period is not None
        bounded = self.rate is not None or self.delay is not None
        if periodic + bounded + (self.cpu_max is not None) != 1:
            raise ValueError(
                "a supply has either budget and period (budget: 8ms, period: 10ms), rate and "
                "delay (rate: 0.9, delay: 2ms) or cpu_max (cpu_max: 20ms 100ms)"
            )
        if periodic and (self.budget is None or self.period is None):
            raise ValueError("a budget needs its period: give both, such as 8ms in 10ms")
        if bounded and self.rate is None:
            raise ValueError("a delay needs a rate: give both, such as rate: 0.9, delay: 2ms")
        if self.budget is not None and self.period is not None and self.budget > self.period:
            raise ValueError(
                f"budget {format_duration(self.budget)} is above its period, "
                f"{format_duration(self.period)}: give at most the period"
            )
        return self


class Interrupts(Strict):
    """Interrupts of one source; they take time from every callback of the core."""

    period: PositiveTime = Field(description="least distance of two interrupts in the long run")
    duration: PositiveTime = Field(description="longest time that one interrupt takes")
    burst: Annotated[int, Field(ge=1, le=1000, strict=True)] = Field(
        1, description="maximum number of interrupts at once; default: 1"
    )


class Measured(Strict):
    """Evidence for a measured supply; takt measure supply writes it."""

    windows: Annotated[int, Field(ge=1, le=1_000_000_000, strict=True)] = Field(
        description="number of windows in which the core was watched"
    )
    window: PositiveTime = Field(description="length of each")


class Core(Strict):
    """What is known about a core that does not provide all of its time at once."""

    supply: Supply | None = Field(
        None, description="least time that the core provides; default: all"
    )
    latency: Time | None = Field(
        None,
        description="longest time until a job that is due begins to compute: wake-up and sections "
        "of the kernel that are not preempted; counts once a job; default: 0s",
    )
    interrupts: list[Interrupts] = Field(
        [], description="sources of interrupts; default: none that count"
    )
    measured: Measured | None = Field(
        None, description="evidence for a measured supply; default: it is declared"
    )


class Computer(Strict):
    """One host of a robot."""

    cores: dict[Cpu, Core] = Field(
        {},
        description="supply, latency and interrupts of its cores, by number; default: a core "
        "provides all of its time at once",
    )


def budget_of(quota: int, period: int, cores: int) -> int:
    """What one of so many cores gets at least of a quota in ns; 0: nothing is guaranteed.

    The threads of the group on the other cores may use all of these.
    """
    return max(0, min(period, quota - (cores - 1) * period))


def flat_core(cpu: int, core: Core, cores: int) -> dict[str, Any]:
    """A core in the flat form, of so many; a rate in billionths, rounded down."""
    entry: dict[str, Any] = {"cpu": cpu}
    supply = core.supply
    if supply is not None and supply.cpu_max is not None:
        quota, period = parse_cpu_max(supply.cpu_max)
        if quota is not None:
            entry["supply"] = {"budget": budget_of(quota, period, cores), "period": period}
    elif supply is not None:
        given = {"budget": supply.budget, "period": supply.period, "delay": supply.delay}
        entry["supply"] = {key: value for key, value in given.items() if value is not None}
        if supply.rate is not None:
            rate = Decimal(str(supply.rate)) * WHOLE
            entry["supply"]["rate"] = int(rate.to_integral_value(ROUND_FLOOR))
    if core.latency is not None:
        entry["latency"] = core.latency
    if core.interrupts:
        entry["interrupts"] = [
            {"period": one.period, "duration": one.duration, "burst": one.burst}
            for one in core.interrupts
        ]
    if core.measured is not None:
        entry["measured"] = {"windows": core.measured.windows, "window": core.measured.window}
    return entry
