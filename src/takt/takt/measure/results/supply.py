# SPDX-License-Identifier: Apache-2.0
"""What a run says of the supply of cores: models of ``run.json`` and of ``--json``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Taker(BaseModel):
    """Somebody who had the core while it was watched, or a counter of the kernel about it."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["program", "interrupt", "softirq", "steal"]
    name: str  # of the thread or the interrupt
    count: int = 0  # how often; of programs, within windows
    seconds: float | None = None  # that it had the core; None: a counter does not say
    longest_us: float | None = None  # at once


class SupplyPoint(BaseModel):
    """One point of the curve of the least supply."""

    length_us: float  # of a stretch
    least_us: float  # that any stretch of this length provided


class PeriodicResource(BaseModel):
    """A budget in each period."""

    budget_us: float
    period_us: float


class ShortGaps(BaseModel):
    """Gaps as short as those of interrupts."""

    count: int
    period_us: float | None  # mean distance; None: there are none
    median_us: float | None
    longest_us: float | None


class CoreSupply(BaseModel):
    """The supply of one core over all of its cells; rate and delay are None where it has none."""

    cpu: int
    cells: list[str]
    windows: int  # in which it was watched; several in a row count as one if gaps are long
    window_us: float  # length of each, at least
    mean_share: float  # of the windows that was provided
    least_share: float  # in the worst window
    longest_gap_us: float
    rate: float | None  # nowhere above the least supply, after the delay
    delay_us: float | None
    periodic: PeriodicResource | None  # below the same; None: there is none
    latency_us: float  # of 99 % of the wake-ups; slower ones count as gaps
    short_gaps: ShortGaps
    curve: list[SupplyPoint]
    takers: list[Taker]
