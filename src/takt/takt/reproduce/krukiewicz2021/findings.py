# SPDX-License-Identifier: Apache-2.0
"""The thesis's statements on deadline misses and overhead, as checks on this machine.

"proposed" is the thesis's executor; Takt takes its place. Where the thesis gives a share, about as
much is asked for, and an effect as large; where it says that something does not happen, it
may happen in less than MATTERS of the executions: single ones that stolen CPU time delayed are not
what it speaks of.
"""

from __future__ import annotations

from takt.reproduce.criterion import ALIKE, around, grown, grown_by
from takt.reproduce.krukiewicz2021 import ages, freshness
from takt.reproduce.krukiewicz2021.evidence import Evidence
from takt.reproduce.krukiewicz2021.extreme import extreme_share
from takt.reproduce.krukiewicz2021.points import (
    FULL,
    KB,
    MB,
    MISSES_CORES,
    MISSES_SIZES,
    TRANSPORT_SIZES,
    Point,
)
from takt.reproduce.quantity import Check, Quantity

MATTERS = 0.01
PERIODS = (10, 20)  # of the experiment on misses
TWO_CORES = "executed on two cores here; there on two isolated ones, of which one has the executor"
CPU_TIME = (
    "the CPU time between two callbacks here, the duration of one get_next_executable() there: "
    "Takt has no such call"
)
Checked = Check[Evidence]


def _missed(
    approach: str, nodes: int, utilization: float, size: int, cores: int = MISSES_CORES
) -> Quantity[Evidence]:
    point = Point("misses", approach, nodes, utilization, size, PERIODS, cores)
    return Quantity(
        f"misses / executions of each callback, on average over callbacks and runs: {point.name}",
        lambda evidence: evidence.miss_ratio(point),
        most=1,
    )


def _over(
    choose: str, approach: str, places: list[tuple[int, float, int]], of: str
) -> Quantity[Evidence]:
    asked = [Point("misses", approach, n, u, size, PERIODS, MISSES_CORES) for n, u, size in places]
    return extreme_share(
        choose,
        f"{choose} share of misses of {approach} over {len(asked)} applications: {of}",
        lambda evidence: [evidence.missed(point) for point in asked],
    )


def _overhead(table: str) -> Checked:
    def of(executor: str) -> Quantity[Evidence]:
        definition = f"{executor}'s mean overhead for each callback in µs, median of the rounds"
        return Quantity(definition, lambda evidence: evidence.overhead_mean(table, executor))

    return Check(
        f"1 + published_growth / {ALIKE} <= takt / baseline0 <= 1 + {ALIKE} * published_growth",
        {"takt": of("takt"), "baseline0": of("baseline0")},
        differs=CPU_TIME,
    )


def _from_size(nodes: int, utilization: float, size: int) -> Checked:
    """Small messages pass, those from a size on do not."""
    large = [(nodes, utilization, one) for one in MISSES_SIZES if one >= size]
    small = [(nodes, utilization, one) for one in MISSES_SIZES if one < size]
    return Check(
        f"least_with_large >= {MATTERS} and most_with_small < {MATTERS}",
        {
            "least_with_large": _over("lowest", "baseline1", large, "messages from that size on"),
            "most_with_small": _over("highest", "baseline1", small, "smaller ones, and none"),
        },
        differs=TWO_CORES,
    )


DDS_PROFILE = "here a DDS profile for large messages, there the default profile"


def _transport_us(size: int, approach: str, name: str) -> Quantity[Evidence]:
    point = Point("transport", approach, size=size, periods=(100,))
    return Quantity(
        f"median time from publishing to the use in the callback {name}, in µs",
        lambda evidence: evidence.age(point).median,
    )


def _transport(size: int) -> Checked:
    """Not half of it: "more than 6 times" is a threshold of the thesis's own."""
    return Check(
        "dds_us >= published_times_faster * by_pointer_us",
        {
            "dds_us": _transport_us(size, "baseline1", "through DDS"),
            "by_pointer_us": _transport_us(size, "takt", "by pointer"),
        },
        differs=DDS_PROFILE,
    )


def _always_faster(evidence: Evidence) -> float:
    return min(
        _transport_us(size, "baseline1", "").of(evidence)
        / max(1e-3, _transport_us(size, "takt", "").of(evidence))
        for size in TRANSPORT_SIZES
    )


def _miss_ratio(nodes: int, utilization: float, size: int) -> Checked:
    on_one = _missed("baseline1", nodes, utilization, size, 1)
    return Check(
        around("miss_ratio", "published_miss_ratio"),
        {"miss_ratio": _missed("baseline1", nodes, utilization, size)},
        differs=TWO_CORES,
        shown={"on_one_core": on_one} if utilization == FULL else {},
    )


_SIZES = [size for size in MISSES_SIZES if size]
_HALF = [(nodes, 0.5, size) for nodes in (4, 20, 50) for size in MISSES_SIZES]
_HALF_20 = [place for place in _HALF if place[0] == 20]
_WITH_MESSAGES = [(nodes, 0.75, size) for nodes in (4, 20, 50) for size in _SIZES]


def _mean(approach: str) -> Quantity[Evidence]:
    asked = [
        Point("misses", approach, n, u, size, PERIODS, MISSES_CORES)
        for n, u, size in _WITH_MESSAGES
    ]
    return Quantity(
        f"mean share of misses of {approach} over {len(asked)} applications with messages at 0.75",
        lambda evidence: sum(evidence.miss_ratio(point) for point in asked) / len(asked),
    )


MISSES: dict[str, Checked] = {
    "transport-faster-256k": _transport(256 * KB),
    "transport-faster-1m": _transport(MB),
    # "Significantly", without a number; by half as much is not little.
    "transport-faster-always": Check(
        "lowest >= 1.5",
        {
            "lowest": Quantity(
                "median time through DDS / by pointer, the lowest of all sizes", _always_faster
            )
        },
        differs=DDS_PROFILE,
    ),
    "overhead-small": _overhead("5.6"),
    "overhead-large": _overhead("5.7"),
    "overhead-subscriptions": _overhead("5.8"),
    "misses-none-at-half": Check(
        f"highest < {MATTERS}",
        {"highest": _over("highest", "takt", _HALF, "utilization 0.5, every size")},
        differs=TWO_CORES,
    ),
    "misses-none-small": Check(
        f"baseline1 < {MATTERS} and takt < {MATTERS}",
        {
            "baseline1": _over("highest", "baseline1", [(4, 0.5, 0), (4, 0.5, 256 * KB)], "small"),
            "takt": _over("highest", "takt", [(4, 0.5, 0), (4, 0.5, 256 * KB)], "small"),
        },
        differs=TWO_CORES,
    ),
    "misses-baseline1-large-messages": _from_size(4, 0.75, 2 * MB),
    "misses-baseline1-full": _miss_ratio(4, 1.0, 256 * KB),
    "misses-takt-full-4-without-messages": Check(
        f"{around('takt', 'published_proposed')} and baseline1 < published_baseline1",
        {"takt": _missed("takt", 4, 1.0, 0), "baseline1": _missed("baseline1", 4, 1.0, 0)},
        differs=TWO_CORES,
        shown={
            "takt_on_one_core": _missed("takt", 4, 1.0, 0, 1),
            "baseline1_on_one_core": _missed("baseline1", 4, 1.0, 0, 1),
        },
    ),
    "misses-baseline1-20-nodes-half": Check(
        f"highest < {MATTERS}",
        {"highest": _over("highest", "baseline1", _HALF_20, "20 nodes at 0.5, every size")},
        differs=TWO_CORES,
    ),
    "misses-baseline1-20-nodes": _from_size(20, 0.75, 512 * KB),
    "misses-baseline1-20-nodes-8m": Check(
        f"nodes_20 >= {MATTERS} and {grown_by('nodes_20', 'nodes_4', 'published_growth')}",
        {
            "nodes_20": _missed("baseline1", 20, 0.75, 8 * MB),
            "nodes_4": _missed("baseline1", 4, 0.75, 8 * MB),
        },
        differs=TWO_CORES,
    ),
    "misses-takt-full-20-without-messages": Check(
        f"{around('nodes_20', 'published_proposed_20')} and "
        + grown("nodes_20", "nodes_4", "proposed_20", "proposed_4"),
        {
            "nodes_20": _missed("takt", 20, 1.0, 0),
            "nodes_4": _missed("takt", 4, 1.0, 0),
        },
        differs=TWO_CORES,
        shown={
            "nodes_20_on_one_core": _missed("takt", 20, 1.0, 0, 1),
            "nodes_4_on_one_core": _missed("takt", 4, 1.0, 0, 1),
        },
    ),
    "misses-baseline1-50-nodes": _miss_ratio(50, 0.5, 512 * KB),
    "misses-baseline1-50-nodes-grow": Check(
        f"smallest < small < large < largest and largest >= smallest + {MATTERS}",
        {
            name: _missed("baseline1", 50, 0.5, size)
            for name, size in zip(("smallest", "small", "large", "largest"), _SIZES, strict=True)
        },
        differs=TWO_CORES,
    ),
    "misses-takt-50-nodes": Check(
        f"at_75 >= {MATTERS} and at_100 >= {MATTERS}",
        {
            f"at_{load * 100:.0f}": _over(
                "highest", "takt", [(50, load, size) for size in MISSES_SIZES], f"50 nodes, {load}"
            )
            for load in (0.75, 1.0)
        },
        differs=TWO_CORES,
    ),
    "misses-reduced": Check(
        f"{around('baseline1', 'published_baseline1')} and "
        + grown("baseline1", "takt", "baseline1", "proposed"),
        {"baseline1": _mean("baseline1"), "takt": _mean("takt")},
        differs=f"{TWO_CORES}; all applications with messages here, the thesis does not say which",
    ),
}

CHECKS: dict[str, Checked] = MISSES | freshness.CHECKS | ages.CHECKS
