# SPDX-License-Identifier: Apache-2.0
"""How a quantity of the suites is made from their runs, and what several findings share."""

from __future__ import annotations

from typing import Any

from takt.reproduce.evidence import Evidence
from takt.reproduce.quantity import Check, Quantity, Share, share
from takt.reproduce.rare import Counts
from takt.reproduce.runs import OfRun
from takt.reproduce.sticha2014.evidence import MS_1, MS_10, REALTIME
from takt.reproduce.sticha2014.runs import peaks_distance, peaks_place

Checked = Check[Evidence]

MEDIANS = "medians here, means there: on a shared machine a single stolen time slice moves a mean"
BETWEEN = (
    "the middle 99 % here, from the lowest to the highest there: extremes grow with the length of "
    "a run"
)
# What n measurements without a case leave possible at 95 % is 3 / n (rule of three). Twice of that
# is still half of what the thesis shows.
NEVER = "<= 2 * 3 / published_count"
# A case that comes less often than once in a run of the thesis is one that it would not speak of.
ONCE = "1 / published_run"


def mean(definition: str, of: OfRun[float], *more: object, **asked: Any) -> Quantity[Evidence]:
    """The mean over points and runs of a number of each run."""
    return Quantity(
        f"{definition}; mean over points and runs",
        lambda evidence: evidence.mean(of, *more, **asked),
    )


def how_often(definition: str, of: OfRun[Counts], *more: object, **asked: Any) -> Share[Evidence]:
    """How often something happens of how many times it could, in all runs."""
    return share(definition, lambda evidence: evidence.counts(of, *more, **asked))


def even_peaks(kind: str) -> Checked:
    """No place of the run has more of the extremes: less than half the way to where all are there.

    Evenly spread, their mean place is 0.5 and their mean distance from the middle 0.25.
    """
    asked = {"kind": kind, "scheduling": REALTIME}
    return Check(
        "0.25 <= place <= 0.75 and 0.125 <= distance <= 0.375",
        {
            "place": mean(
                "mean place of a run's ten highest and ten lowest values, 0 its start, 1 its end",
                peaks_place,
                **asked,
            ),
            "distance": mean(
                "mean distance of these from the middle of the run, from 0 to 0.5",
                peaks_distance,
                **asked,
            ),
        },
        differs="values that are neighbours count once: they are one disturbance",
    )


WORDS = {"period_us": "period"}


def alike(kind: str, limit: str, of: OfRun[float], what: str, *same: str) -> Checked:
    """Runs of the same point do not differ by more."""
    attributes = same or ("period_us", "scheduling", "load", "subscribers")
    asked = {"kind": kind, "scheduling": REALTIME, "period_us": (MS_1, MS_10)}
    return Check(
        f"apart <= {limit}",
        {
            "apart": Quantity(
                f"(highest - lowest) / mean of the runs' {what}, where "
                f"{', '.join(WORDS.get(one, one) for one in attributes)} are the same; median over "
                "these; drawn by points",
                lambda evidence: evidence.apart(of, attributes, **asked),
            )
        },
    )
