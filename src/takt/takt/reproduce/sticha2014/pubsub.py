# SPDX-License-Identifier: Apache-2.0
"""Statements on publish/subscribe (Sticha 2014, section 4.3.2 and chapter 5), as checks."""

from __future__ import annotations

from typing import Any

from takt.pages import text
from takt.reproduce.criterion import grown
from takt.reproduce.evidence import Evidence
from takt.reproduce.quantity import Check, Quantity
from takt.reproduce.rare import Counts
from takt.reproduce.runs import OfRun
from takt.reproduce.sticha2014 import runs
from takt.reproduce.sticha2014.evidence import MS_1, MS_10, NO_LOAD, REALTIME
from takt.reproduce.sticha2014.quantities import (
    BETWEEN,
    MEDIANS,
    NEVER,
    Checked,
    alike,
    even_peaks,
    how_often,
    mean,
)

KIND = "pubsub"


def _p50(name: str, period: float) -> Quantity[Evidence]:
    return mean(
        f"median latency in µs at {name}, 1 subscriber, idle",
        runs.p50,
        kind=KIND,
        scheduling=REALTIME,
        period_us=period,
        subscribers=1,
        load=NO_LOAD,
    )


def _width(subscribers: int) -> Quantity[Evidence]:
    return mean(
        "width in µs of the middle 99 % of latencies at 100 Hz, "
        f"{text.number_of(subscribers, 'subscriber')}, idle",
        runs.width,
        kind=KIND,
        scheduling=REALTIME,
        period_us=MS_10,
        subscribers=subscribers,
        load=NO_LOAD,
    )


def _never(definition: str, of: OfRun[Counts], limit: float, **asked: Any) -> Checked:
    asked = {"kind": KIND, "scheduling": REALTIME, **asked}
    return Check(f"exceeded {NEVER}", {"exceeded": how_often(definition, of, limit, **asked)})


CHECKS: dict[str, Checked] = {
    # The highest of all others would grow with the length of a run.
    "pubsub-first-highest": Check(
        "above > 0.5 and " + grown("first_us", "p50_us", "first_us", "mean_us"),
        {
            "above": how_often(
                "subscribers whose first message is later than 99 % of its others",
                runs.first_above,
                kind=KIND,
                scheduling=REALTIME,
            ),
            "first_us": mean(
                "latency of the first message in µs, median over a run's subscribers",
                runs.first_message,
                kind=KIND,
                scheduling=REALTIME,
            ),
            "p50_us": mean(
                "median latency of all others in µs", runs.p50, kind=KIND, scheduling=REALTIME
            ),
        },
        differs="later than 99 % of the others here, than all of them there: the highest of them "
        "grows with the length of a run",
    ),
    "pubsub-peaks-random": even_peaks(KIND),
    "pubsub-five-subscribers-broaden": Check(
        grown("width_5_us", "width_1_us", "range_5_us", "range_1_us"),
        {"width_5_us": _width(5), "width_1_us": _width(1)},
        differs=BETWEEN,
    ),
    "pubsub-rate-lowers-latency": Check(
        grown("p50_100hz_us", "p50_1khz_us", "mean_100hz_us", "mean_1khz_us"),
        {"p50_1khz_us": _p50("1 kHz", MS_1), "p50_100hz_us": _p50("100 Hz", MS_10)},
        differs=MEDIANS,
    ),
    "pubsub-deterministic": alike(KIND, "0.1", runs.p50, "median latencies"),
    "pubsub-1600us": _never(
        "latencies from 1.6 ms on, first messages included", runs.beyond_with_first, 1600.0
    ),
    "pubsub-1400us": _never(
        "latencies of at least 1.4 ms, without first messages", runs.beyond, 1400.0
    ),
    "pubsub-500us-one-subscriber": _never(
        "latencies of at least 500 µs with 1 subscriber, without first messages",
        runs.beyond,
        500.0,
        subscribers=1,
    ),
}
