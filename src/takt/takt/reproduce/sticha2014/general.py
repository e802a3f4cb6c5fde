# SPDX-License-Identifier: Apache-2.0
"""General statements (Sticha 2014, section 4.4), as checks."""

from __future__ import annotations

from statistics import fmean, median

from takt.reproduce.evidence import Evidence
from takt.reproduce.quantity import Check, Quantity
from takt.reproduce.scatter import Missing
from takt.reproduce.sticha2014 import runs
from takt.reproduce.sticha2014.evidence import MS_1
from takt.reproduce.sticha2014.quantities import BETWEEN, Checked, how_often, mean

KINDS = {"oneshot": "timer-oneshot", "cyclic": "timer-cyclic", "pubsub": "pubsub"}
_KINDS = tuple(KINDS.values())


ALIKE = ("kind", "transport", "period_us", "load", "subscribers")


def _fifo_by_rr(evidence: Evidence) -> float:
    """A cyclic timer's latency has an arbitrary zero: its jitter is what can be compared."""
    both = [
        {_point(evidence, key): key for key in evidence.keys(kind=_KINDS, scheduling=policy)}
        for policy in ("fifo", "rr")
    ]
    ratios = []
    for point in (one for one in both[0] if one in both[1]):  # in the same order each time
        of = runs.jitter_deviation if point[0] == "timer-cyclic" else runs.p50
        fifo, rr = (
            fmean(evidence.value(cell, of) for cell in evidence.point(keys[point])) for keys in both
        )
        ratios += [fifo / rr] if rr else []
    if not ratios:
        raise Missing("no samples of points with both policies")
    return median(ratios)


def _point(evidence: Evidence, key: str) -> tuple[object, ...]:
    return tuple(getattr(evidence.measured.points[key][0], name) for name in ALIKE)


def _wider(kind: str) -> Quantity[Evidence]:
    def ratio(evidence: Evidence) -> float:
        other, rr = (
            evidence.mean(
                runs.width,
                kind=kind,
                scheduling=one,
                period_us=MS_1,
                load="cpu",
                subscribers=1,
            )
            for one in ("other", "rr")
        )
        return other / rr

    return Quantity(
        f"{kind}, 1 ms, CPU load: width of the middle 99 % without real-time priority / with it",
        ratio,
    )


CHECKS: dict[str, Checked] = {
    # No number is published; the means of figure 4.1 and output 4.1 differ by a thirtieth.
    "fifo-equals-rr": Check(
        "1 / 1.15 <= fifo_by_rr <= 1.15",
        {
            "fifo_by_rr": Quantity(
                "median latency, of the cyclic timer the jitter's standard deviation, of FIFO / of "
                "round robin; median over all points",
                _fifo_by_rr,
            )
        },
    ),
    "rr-interval": Check(
        "published_rr_interval_ms * 0.95 <= rr_interval_ms <= published_rr_interval_ms * 1.05",
        {
            "rr_interval_ms": mean(
                "value of sched_rr_get_interval, in ms",
                runs.time_slice,
                kind=_KINDS,
                scheduling="rr",
            )
        },
    ),
    "shutdown-hangs-on-one-core": Check(
        "hung >= 0.5",
        {
            "hung": how_often(
                "runs on one core whose publisher or subscriber did not end in time",
                runs.hung,
                kind="pubsub",
                cpu=(0,),
                failed=True,
            )
        },
        differs="both nodes have one core here, the whole system there: ROS 1's master may run on "
        "another one, ROS 2 has none",
    ),
    # No number is published; figure 4.5 shows many times as much.
    "unpredictable-without-rt": Check(
        "oneshot >= 2 and cyclic >= 2 and pubsub >= 2",
        {name: _wider(kind) for name, kind in KINDS.items()},
        differs=f"{BETWEEN}; with CPU load here, the thesis does not say whether there",
    ),
}
