# SPDX-License-Identifier: Apache-2.0
"""What the tool computes in C++: statistics of timing samples, schedulability, simulation.

Times are integer nanoseconds; those in documents say their unit.
"""

from typing import TYPE_CHECKING, Any

from ._statistics import Histogram, OrderStatistics, exceedance, extremes, order_statistics

if TYPE_CHECKING:
    from ._applications import (
        analyse,
        analyse_many,
        analyse_sets,
        hyperperiod,
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


def __getattr__(name: str) -> Any:
    """Loads analysis and simulator when they are asked for: a build to measure has neither."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _applications

    return getattr(_applications, name)
