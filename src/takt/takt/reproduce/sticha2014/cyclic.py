# SPDX-License-Identifier: Apache-2.0
"""Statements on the cyclic timer (Sticha 2014, section 4.2.2 and chapter 5), as checks."""

from __future__ import annotations

from typing import Any

from takt.reproduce.criterion import EFFECT, grown_by
from takt.reproduce.evidence import Evidence
from takt.reproduce.quantity import Check, Quantity
from takt.reproduce.sticha2014 import runs
from takt.reproduce.sticha2014.evidence import MS_1, MS_10, NO_LOAD, REALTIME
from takt.reproduce.sticha2014.quantities import (
    BETWEEN,
    NEVER,
    ONCE,
    Checked,
    alike,
    even_peaks,
    how_often,
    mean,
)

KIND = "timer-cyclic"
EARLY_US, LATE_US = (-1000.0, -600.0), (0.0, 400.0)
RATES: dict[str, Any] = {"kind": KIND, "scheduling": REALTIME, "period_us": (MS_1, MS_10)}


def _cluster(name: str, period: float) -> Quantity[Evidence]:
    return how_often(
        f"jitter between -1000 and -600 µs of all jitter, at {name}",
        runs.within,
        *EARLY_US,
        kind=KIND,
        scheduling=REALTIME,
        period_us=period,
    )


def _positive(name: str, period: float) -> Quantity[Evidence]:
    return mean(
        f"median of the positive jitter in µs at {name}, idle",
        runs.positive_p50,
        kind=KIND,
        scheduling=REALTIME,
        period_us=period,
        load=NO_LOAD,
    )


def _width(name: str, period: float) -> Quantity[Evidence]:
    return mean(
        f"width in µs of the middle 99 % of the jitter at {name}, round robin, idle",
        runs.width,
        kind=KIND,
        scheduling="rr",
        period_us=period,
        load=NO_LOAD,
    )


def _first(place: int, word: str) -> Quantity[Evidence]:
    return mean(
        f"jitter of the {word} interval in µs at 100 Hz",
        runs.first_jitter,
        place,
        kind=KIND,
        scheduling=REALTIME,
        period_us=MS_10,
    )


CHECKS: dict[str, Checked] = {
    "cyclic-negative-cluster": Check(
        f"share_1khz > published_share {EFFECT} and share_100hz > published_share {EFFECT}",
        {"share_1khz": _cluster("1 kHz", MS_1), "share_100hz": _cluster("100 Hz", MS_10)},
    ),
    "cyclic-two-clusters": Check(
        f"outside < {ONCE}",
        {
            "outside": how_often(
                "jitter neither from -1000 to -600 nor from 0 to 400 µs, first two intervals apart",
                runs.outside,
                EARLY_US,
                LATE_US,
                **RATES,
            )
        },
    ),
    "cyclic-first-two-negative": Check(
        f"-first_us > -published_first_us {EFFECT} and -second_us > -published_second_us {EFFECT}",
        {"first_us": _first(0, "first"), "second_us": _first(1, "second")},
    ),
    # Output 4.2 prints whole microseconds of a period of a millisecond.
    "cyclic-rate-kept": Check(
        "rate_error <= 0.001 and passed_over <= 0.001",
        {
            "rate_error": mean(
                "how far the calls' rate is from the one asked for, as a share of it",
                runs.rate_error,
                **RATES,
            ),
            "passed_over": how_often("expiries without a call", runs.passed_over, **RATES),
        },
        differs="the drift of the calls here, the mean of the jitter there: an expiry that is "
        "passed over is a jitter of a whole period",
    ),
    "cyclic-400us": Check(
        f"exceeded {NEVER}",
        {
            "exceeded": how_often(
                "jitter from 400 µs on, at 1 kHz and 100 Hz and real-time priority",
                runs.beyond,
                LATE_US[1],
                **RATES,
            )
        },
    ),
    "cyclic-jitter-grows-with-period": Check(
        grown_by("p50_100hz_us", "p50_1khz_us", "published_growth"),
        {"p50_100hz_us": _positive("100 Hz", MS_10), "p50_1khz_us": _positive("1 kHz", MS_1)},
        differs="medians here; the thesis gives no number, but calls it similar to the one-shot "
        "timer's growth from 100 to 150 µs",
    ),
    "cyclic-peaks-random": even_peaks(KIND),
    # No number is published; by half as much is not small.
    "cyclic-above-1khz": Check(
        "width_2khz_us > width_1khz_us and width_5khz_us >= 1.5 * width_1khz_us",
        {
            "width_1khz_us": _width("1 kHz", MS_1),
            "width_2khz_us": _width("2 kHz", 500.0),
            "width_5khz_us": _width("5 kHz", 200.0),
        },
        differs=BETWEEN,
    ),
    # Idle and loaded alike: "independent of the test parameters and the system's condition".
    "cyclic-deterministic": alike(
        KIND,
        "0.1",
        runs.width,
        "widths of the middle 99 % of the jitter",
        "period_us",
        "scheduling",
    ),
}
