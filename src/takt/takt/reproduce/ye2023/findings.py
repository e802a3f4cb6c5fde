# SPDX-License-Identifier: Apache-2.0
"""The statements of Ye et al. 2023 on one stack each, as checks."""

from __future__ import annotations

from statistics import fmean

from takt.reproduce.criterion import ALIKE, LEAST, alike, reaching
from takt.reproduce.evidence import Evidence
from takt.reproduce.quantity import Check, Quantity
from takt.reproduce.ye2023 import runs
from takt.reproduce.ye2023.kernels import CYCLES, JITTERS
from takt.reproduce.ye2023.quantities import (
    BEST_EFFORT,
    EXECUTIONS,
    FREQUENCIES,
    KIB,
    LARGE,
    MIB,
    NEVER,
    OF_ONE_LENGTH,
    ONE_PROCESS,
    POINTERS,
    RELIABLE,
    SIX,
    SIZES,
    SMALL,
    THIS_KERNEL,
    Checked,
    how_often,
    level,
    only_native,
    only_rclcpp,
    only_realtime,
    over_periods,
    p50,
)

MEDIANS = "medians of the runs, where the paper shows means"


def _same_address(way: str) -> Quantity[Evidence]:
    """Of all sizes and runs of a way by pointer."""

    def found(evidence: Evidence) -> float:
        return fmean(
            fmean(evidence.value(cell, runs.same_address) for cell in evidence.point(key))
            for key in evidence.keys(label=POINTERS, transport=way)
        )

    words = "messages that arrive at the address at which they were published, as a share"
    return Quantity(f"{words}; {way}, mean over sizes and runs", found)


# A message is copied or it is not: nothing is between all of them and none.
BY_POINTER: dict[str, Checked] = {
    "pointer-unique-same": Check(
        "same >= 0.9", {"same": _same_address("unique_ptr")}, not_asked=only_rclcpp
    ),
    "pointer-others-copied": Check(
        "same_shared_ptr <= 0.1 and same_const_ref <= 0.1",
        {
            "same_shared_ptr": _same_address("shared_ptr"),
            "same_const_ref": _same_address("const_ref"),
        },
        differs="at least one copy; how many there are is not counted",
        not_asked=only_rclcpp,
    ),
}

# Of ROS 1 and of ROS 2.
FAIRNESS = {
    "slowest": level(
        "slowest subscriber's median as a multiple of the fastest one's",
        runs.unfairness,
        (4 * MIB,),
        least=1,
        label=SIX,
    ),
    "fairness": level(
        "Jain's index of the subscribers' medians", runs.fairness, (4 * MIB,), most=1, label=SIX
    ),
}
EITHER: dict[str, Checked] = {
    "sizes-small-constant": Check(
        f"p50_64kb_us <= {ALIKE} * p50_64b_us",
        {
            "p50_64b_us": p50("between processes", (64,), label=SIZES),
            "p50_64kb_us": p50("between processes", (64 * KIB,), label=SIZES),
        },
    ),
    "sizes-grow": Check(
        f"p50_16mb_us >= {ALIKE} * p50_512kb_us",
        {
            "p50_512kb_us": p50("between processes", (512 * KIB,), label=SIZES),
            "p50_16mb_us": p50("between processes", (16 * MIB,), label=SIZES),
        },
    ),
}
ROS2: dict[str, Checked] = {
    "sizes-fluctuate": Check(
        f"spread_large_us >= {ALIKE} * spread_small_us",
        {
            "spread_small_us": level(
                "width in µs of the middle half of the latencies", runs.spread, SMALL, label=SIZES
            ),
            "spread_large_us": level(
                "width in µs of the middle half of the latencies", runs.spread, LARGE, label=SIZES
            ),
        },
        differs=THIS_KERNEL,
    ),
    "sizes-64b-late": Check(
        "highest_us > p50_64kb_us and " + reaching("highest_us"),
        {
            "highest_us": level("highest latency in µs of a run", runs.highest, (64,), label=SIZES),
            "p50_64kb_us": p50("between processes", (64 * KIB,), label=SIZES),
        },
        differs=OF_ONE_LENGTH,
        length=EXECUTIONS,
        not_asked=only_native,
    ),
    "qos-small-alike": Check(
        alike("best_effort_us", "reliable_us"),
        {
            "best_effort_us": p50("best effort", SMALL, label=BEST_EFFORT),
            "reliable_us": p50("reliable", SMALL, label=RELIABLE),
        },
    ),
    "qos-large-best-effort": Check(
        "best_effort_us < reliable_us",
        {
            "best_effort_us": p50("best effort", LARGE, label=BEST_EFFORT),
            "reliable_us": p50("reliable", LARGE, label=RELIABLE),
        },
    ),
    "process-small-alike": Check(
        alike("within_us", "between_us"),
        {
            "within_us": p50("within one process", SMALL, label=ONE_PROCESS),
            "between_us": p50("between processes", SMALL, label=SIZES),
        },
        differs=MEDIANS,
    ),
    "process-large-faster": Check(
        f"between_us >= {ALIKE} * within_us",
        {
            "within_us": p50("within one process", LARGE, label=ONE_PROCESS),
            "between_us": p50("between processes", LARGE, label=SIZES),
        },
        differs=MEDIANS,
    ),
    "six-ros2-alike": Check(
        f"slowest <= {ALIKE}",
        FAIRNESS,
    ),
    "six-ros2-by-size": Check(
        f"p50_4mb_us >= {ALIKE} * p50_64kb_us",
        {
            "p50_64kb_us": p50("six subscribers", (64 * KIB,), label=SIX),
            "p50_4mb_us": p50("six subscribers", (4 * MIB,), label=SIX),
        },
    ),
    "frequencies-alike": Check(
        f"slowest_us <= {ALIKE} * fastest_us",
        {
            "fastest_us": over_periods(
                "median latency in µs at 1 KB", runs.p50, "lowest", FREQUENCIES
            ),
            "slowest_us": over_periods(
                "median latency in µs at 1 KB", runs.p50, "highest", FREQUENCIES
            ),
        },
        not_asked=only_realtime,
    ),
    "frequencies-150us": Check(
        f"later {NEVER}",
        {
            "later": how_often(
                "latencies of 150 µs and more at 1 KB", runs.beyond, 150.0, label=FREQUENCIES
            )
        },
        differs="counted for one frequency, because the paper does not give the number of "
        "frequencies",
        not_asked=only_realtime,
    ),
}
ROS1: dict[str, Checked] = {
    "six-ros1-unlike": Check(
        f"slowest > 1 + (published_slowest - 1) {LEAST}",
        FAIRNESS,
        differs="medians here; the paper does not define its latencies",
    ),
}
CHECKS: dict[str, dict[str, Checked]] = {
    "rcl": {**EITHER, **ROS2, **BY_POINTER},
    "ros1": {**EITHER, **ROS1},
    "rclcpp": BY_POINTER,
    "raw": JITTERS,
    "ethercat": CYCLES,
}
