# SPDX-License-Identifier: Apache-2.0
"""Exact statistics of timing samples, computed in C++. All times are integer nanoseconds."""

from ._takt_core import (
    Histogram,
    OrderStatistics,
    exceedance,
    extremes,
    order_statistics,
)

__all__ = ["Histogram", "OrderStatistics", "exceedance", "extremes", "order_statistics"]
