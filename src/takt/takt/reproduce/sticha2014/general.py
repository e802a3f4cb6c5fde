# SPDX-License-Identifier: Apache-2.0
"""General findings (Sticha 2014, section 4.4)."""

from __future__ import annotations

import numpy as np

from takt.measure.results.model import Cell
from takt.reproduce.judgement import Missing
from takt.reproduce.model import Answer, answer
from takt.reproduce.sticha2014.confidence import every, median_within, ratio
from takt.reproduce.sticha2014.evidence import MS_1, Evidence

KINDS = ("timer-oneshot", "timer-cyclic", "pubsub")
RR_INTERVAL_MS = 100.0


def fifo_equals_rr(evidence: Evidence) -> Answer:
    """The two real-time policies, point by point."""
    ratios = [
        fifo.p50_us / rr.p50_us
        for rr, fifo in _pairs(evidence, "rr", "fifo")
        if rr.kind != "timer-cyclic" and fifo.p50_us and rr.p50_us
    ]
    # A cyclic timer's latency has an arbitrary zero: its jitter is what can be compared.
    ratios += [
        fifo.statistics.cyclic.jitter.stddev_us / rr.statistics.cyclic.jitter.stddev_us
        for rr, fifo in _pairs(evidence, "rr", "fifo")
        if rr.statistics
        and fifo.statistics
        and rr.statistics.cyclic
        and fifo.statistics.cyclic
        and rr.statistics.cyclic.jitter.stddev_us
    ]
    if not ratios:
        raise Missing("no points with both policies")
    low, middle, high = np.percentile(ratios, [25, 50, 75])
    return answer(
        "the median ratio over all points is within 15 % of 1",
        median_within(ratios, 1 / 1.15, 1.15),
        median_ratio=float(middle),
        quarter_ratio=float(low),
        three_quarters_ratio=float(high),
        points=len(ratios),
    )


def rr_interval(evidence: Evidence) -> Answer:
    """The time slice, as the system tells it."""
    intervals = {
        probe.obtained.get("rr_interval_ns", 0) / 1e6
        for cell in evidence.measured
        if cell.policy == "rr"
        for probe in cell.probes
        if probe.obtained.get("policy") == "rr"
    }
    if not intervals:
        raise Missing("no process got round robin")
    interval = max(intervals)
    return answer(
        "sched_rr_get_interval says 100 ms",
        abs(interval - RR_INTERVAL_MS) < 5,
        rr_interval_ms=float(interval),
    )


def unpredictable(evidence: Evidence) -> Answer:
    """Normal scheduling against real-time, for each kind, with CPU load."""
    figures: dict[str, float] = {}
    wider = []
    for kind in KINDS:
        normal, realtime = (
            evidence.jitter_us(**asked)
            if kind == "timer-cyclic"
            else evidence.latency_us(kind, **asked)
            for asked in (
                {"policy": policy, "period_us": MS_1, "load": "cpu"} for policy in ("other", "rr")
            )
        )
        wide = ratio(lambda a, b: _width(a) / _width(b), [normal, realtime])
        wider.append(wide.above(2))
        figures[f"{kind}_normal_width_us"] = _width(np.concatenate(normal))
        figures[f"{kind}_realtime_width_us"] = _width(np.concatenate(realtime))
        figures[f"{kind}_ratio"] = wide.value
    return answer(
        "under CPU load the middle 99 % of the values are twice as wide without real-time "
        "priority, for each of the three suites",
        every(wider),
        **{name.replace("-", "_"): value for name, value in figures.items()},
    )


CHECKS = {
    "fifo-equals-rr": fifo_equals_rr,
    "rr-interval": rr_interval,
    "unpredictable-without-rt": unpredictable,
}


def _pairs(evidence: Evidence, first: str, second: str) -> list[tuple[Cell, Cell]]:
    """Cells that differ only in their policy."""

    def point(cell: Cell) -> tuple[object, ...]:
        where = (cell.kind, cell.transport, cell.period_us, cell.payload_bytes, cell.load)
        return (*where, cell.subscribers, cell.talkers, cell.wait, cell.repetition)

    others = {point(cell): cell for cell in evidence.measured if cell.policy == second}
    return [
        (cell, others[point(cell)])
        for cell in evidence.measured
        if cell.policy == first and point(cell) in others
    ]


def _width(values: np.ndarray) -> float:
    low, high = np.percentile(values, [0.5, 99.5])
    return max(float(high - low), 1e-3)
