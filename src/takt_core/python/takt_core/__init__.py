# SPDX-License-Identifier: Apache-2.0
"""What the tool computes in C++: quantities, bounds, histograms, analyses, simulations, traces.

Times are integer nanoseconds; those in documents say their unit.
"""

from typing import TYPE_CHECKING, Any

from ._statistics import (
    Histogram,
    Quantity,
    exceedance,
    has_unit_of,
    parse_quantity,
    units_of,
)

if TYPE_CHECKING:
    from ._applications import (
        NO_DEADLINE,
        NO_TASK,
        NOT_RECORDED,
        Declared,
        DeclaredCallback,
        DeclaredChain,
        Error,
        EventType,
        Replay,
        Step,
        Threads,
        Trace,
        analyse,
        analyse_many,
        analyse_sets,
        declared,
        hyperperiod,
        node_priorities,
        simulate,
        simulate_many,
        topics_of_scenarios,
    )

__all__ = [
    "NOT_RECORDED",
    "NO_DEADLINE",
    "NO_TASK",
    "Declared",
    "DeclaredCallback",
    "DeclaredChain",
    "Error",
    "EventType",
    "Histogram",
    "Quantity",
    "Replay",
    "Step",
    "Threads",
    "Trace",
    "analyse",
    "analyse_many",
    "analyse_sets",
    "declared",
    "exceedance",
    "has_unit_of",
    "hyperperiod",
    "node_priorities",
    "parse_quantity",
    "simulate",
    "simulate_many",
    "topics_of_scenarios",
    "units_of",
]


def __getattr__(name: str) -> Any:
    """Loads the applications' part when it is asked for: a build to measure has none."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _applications

    return getattr(_applications, name)
