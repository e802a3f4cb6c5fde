# SPDX-License-Identifier: Apache-2.0
"""The statements of Ye et al. 2023 on ROS 1 beside ROS 2, and on several middlewares, as checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import geometric_mean

from takt.reproduce.criterion import ALIKE, alike
from takt.reproduce.evidence import Evidence
from takt.reproduce.quantity import Check, Quantity
from takt.reproduce.scatter import Missing
from takt.reproduce.ye2023 import runs
from takt.reproduce.ye2023.quantities import (
    KIB,
    LARGE,
    MIB,
    SIX,
    SIZES,
    SMALL,
    Checked,
    level,
    p50,
)

ROS1_STACK, ROS2_STACK = "ros1", "rcl"
# Below ROS 2, as in the paper, and without it.
ROS2_VENDORS = {
    ROS2_STACK: "Fast DDS",
    "rcl_fastrtps": "Fast DDS",
    "rcl_cyclonedds": "Cyclone DDS",
    "rcl_zenoh": "Zenoh",
}
BARE_VENDORS = {"cyclonedds": "Cyclone DDS", "rustdds": "RustDDS"}
VENDORS = ROS2_VENDORS | {stack: f"{name}, without ROS 2" for stack, name in BARE_VENDORS.items()}
_OVER = "geometric mean over the sizes with messages on all sides"
SIX_SIZES = (KIB, 64 * KIB, MIB, 4 * MIB)


def _of_vendors(chosen: Callable[[list[float]], float], evidence: Evidence) -> float:
    """Of medians over the sizes of which every one of them brought messages.

    Those below ROS 2 are compared with each other, if there are two.
    """
    there = {
        cells[0].stack for cells in evidence.measured.points.values() if cells[0].label == SIZES
    }
    below = [one for one in ROS2_VENDORS if one in there]
    stacks = below if len(below) > 1 else [one for one in VENDORS if one in there]
    if len(stacks) < 2:
        names = ", ".join(VENDORS[one] for one in stacks) or "none"
        raise Missing(f"at least two of the middlewares; measured: {names}")
    sizes = [
        size for size in (*SMALL, *LARGE) if all(_brought(one, size, evidence) for one in stacks)
    ]
    if not sizes:
        raise Missing("messages of one size at least that all of the middlewares bring")
    return chosen(
        [
            geometric_mean(
                [
                    evidence.mean(runs.p50, stack=one, label=SIZES, payload_bytes=size)
                    for size in sizes
                ]
            )
            for one in stacks
        ]
    )


def _brought(stack: str, size: int, evidence: Evidence) -> bool:
    try:
        return bool(evidence.keys(stack=stack, label=SIZES, payload_bytes=size))
    except Missing:
        return False


def _of_both(quantity: Quantity[Evidence]) -> Quantity[Evidence]:
    """The same; Missing with a fix where one of the two was not measured."""

    def found(evidence: Evidence) -> float:
        there = {cells[0].stack for cells in evidence.measured.points.values()}
        if ROS1_STACK not in there:
            raise Missing("ROS 1 beside ROS 2: ./takt setup ros1 installs it")
        if ROS2_STACK not in there:
            raise Missing("ROS 2 against ROS 1; the paper measured only ROS 1")
        return quantity.of(evidence)

    return replace(quantity, of=found)


def _p50(stack: str, sizes: tuple[int, ...]) -> Quantity[Evidence]:
    name = "ROS 1" if stack == ROS1_STACK else "ROS 2"
    return _of_both(p50(name, sizes, label=SIZES, stack=stack))


def _lead(size: int) -> Quantity[Evidence]:
    """How much sooner ROS 2 is there."""
    name = "1 MB" if size == MIB else "16 MB"

    def found(evidence: Evidence) -> float:
        ros1, ros2 = (
            evidence.mean(runs.p50, stack=stack, label=SIZES, payload_bytes=size)
            for stack in (ROS1_STACK, ROS2_STACK)
        )
        return ros1 - ros2

    return _of_both(Quantity(f"median latency in µs of ROS 1 less that of ROS 2; {name}", found))


CHECKS: dict[str, Checked] = {
    # No number is published: the direction decides.
    "sizes-large-ros2": Check(
        "ros2_us < ros1_us",
        {
            "ros1_us": _p50(ROS1_STACK, LARGE),
            "ros2_us": _p50(ROS2_STACK, LARGE),
        },
    ),
    "sizes-lead-grows": Check(
        "lead_16mb_us > lead_1mb_us and lead_16mb_us > 0",
        {"lead_1mb_us": _lead(MIB), "lead_16mb_us": _lead(16 * MIB)},
    ),
    "sizes-small-alike": Check(
        alike("ros2_us", "ros1_us"),
        {
            "ros1_us": _p50(ROS1_STACK, SMALL),
            "ros2_us": _p50(ROS2_STACK, SMALL),
        },
    ),
    "vendors-alike": Check(
        f"slowest_us <= {ALIKE} * fastest_us",
        {
            "fastest_us": Quantity(
                f"median latency in µs of the fastest middleware; {_OVER}",
                partial(_of_vendors, min),
            ),
            "slowest_us": Quantity(
                f"median latency in µs of the slowest middleware; {_OVER}",
                partial(_of_vendors, max),
            ),
        },
        differs="below rcl here where this ROS 2 has several; else Fast DDS below rcl, Cyclone DDS "
        "and RustDDS without ROS 2: their messages do not pass through rcl; there each of them "
        "below rclcpp. Each takes its default: Fast DDS shared memory, Cyclone DDS and RustDDS "
        "UDP, Zenoh TCP",
    ),
    "six-ros2-fairer": Check(
        "ros2_fairness > ros1_fairness",
        {
            name: _of_both(
                level(
                    f"Jain's index of six subscribers' medians, {words}",
                    runs.fairness,
                    SIX_SIZES,
                    most=1,
                    label=SIX,
                    stack=stack,
                )
            )
            for name, words, stack in (
                ("ros1_fairness", "ROS 1", ROS1_STACK),
                ("ros2_fairness", "ROS 2", ROS2_STACK),
            )
        }
        | {
            name: level(
                f"slowest subscriber's median as a multiple of the fastest one's, {words}",
                runs.unfairness,
                SIX_SIZES,
                least=1,
                label=SIX,
                stack=stack,
            )
            for name, words, stack in (
                ("ros1_slowest", "ROS 1", ROS1_STACK),
                ("ros2_slowest", "ROS 2", ROS2_STACK),
            )
        },
    ),
}
