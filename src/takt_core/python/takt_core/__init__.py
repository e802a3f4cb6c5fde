# SPDX-License-Identifier: Apache-2.0
"""What the tool computes in C++: statistics of timing samples, schedulability, simulation.

Times are integer nanoseconds; those in documents say their unit.
"""

from ._takt_core import (
    Histogram,
    OrderStatistics,
    analyse,
    analyse_many,
    analyse_sets,
    exceedance,
    extremes,
    hyperperiod,
    order_statistics,
    simulate,
    simulate_many,
)

__all__ = [
    "Histogram",
    "OrderStatistics",
    "analyse",
    "analyse_many",
    "analyse_sets",
    "exceedance",
    "extremes",
    "hyperperiod",
    "order_statistics",
    "simulate",
    "simulate_many",
]
