# SPDX-License-Identifier: Apache-2.0
"""What the tool computes in C++: histograms, schedulability, simulation, traces.

Times are integer nanoseconds; those in documents say their unit.
"""

from ._takt_core import (
    NO_DEADLINE,
    NO_TASK,
    NOT_TOLD,
    Declared,
    DeclaredCallback,
    DeclaredChain,
    Error,
    EventType,
    Histogram,
    Replay,
    Step,
    Trace,
    analyse,
    analyse_many,
    analyse_sets,
    declared,
    hyperperiod,
    simulate,
    simulate_many,
)

__all__ = [
    "NOT_TOLD",
    "NO_DEADLINE",
    "NO_TASK",
    "Declared",
    "DeclaredCallback",
    "DeclaredChain",
    "Error",
    "EventType",
    "Histogram",
    "Replay",
    "Step",
    "Trace",
    "analyse",
    "analyse_many",
    "analyse_sets",
    "declared",
    "hyperperiod",
    "simulate",
    "simulate_many",
]
