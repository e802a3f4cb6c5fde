# SPDX-License-Identifier: Apache-2.0
"""How a quantity of the paper is made from its runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import fmean, geometric_mean
from typing import Any

from takt.reproduce import quantity
from takt.reproduce.evidence import Evidence
from takt.reproduce.model import size_in_words
from takt.reproduce.quantity import Check, Highest, Quantity, Share, share
from takt.reproduce.rare import Counts
from takt.reproduce.runs import OfRun
from takt.reproduce.ye2023 import runs

Checked = Check[Evidence]

KIB, MIB = 1024, 1024 * 1024
SMALL = (64, KIB, 64 * KIB)
LARGE = (MIB, 4 * MIB, 16 * MIB)
# Of a point only the way that stands for the paper's, whatever else is measured.
SIZES, RELIABLE, BEST_EFFORT = "sizes", "reliable", "best-effort"
ONE_PROCESS, STRINGS, POINTERS, LOANS = "one-process", "strings", "pointers", "loans"
SIX, FREQUENCIES, JITTER, WAKEUP = "six", "frequencies", "jitter", "wakeup"
ETHERCAT = "ethercat"
REALTIME = "PREEMPT_RT"
# What n measurements without a case leave possible at 95 % is 3 / n (rule of three). Twice of that
# is still half of what the paper shows.
NEVER = "<= 2 * 3 / published_count"
THIS_KERNEL = "the running kernel, see table 3; the paper compares two kernels"
OF_ONE_LENGTH = "the median of the runs' highest, of runs of one length, which a scale shortens"
# Samples of the paper's runs: wake-ups of the slowest frequency, executions, cycles of a timer.
SHORTEST_WAKEUPS, EXECUTIONS, CYCLES_OF_TIMER = 81_000, 121, 10_000
CHOOSE: dict[str, Callable[[Sequence[float]], float]] = {
    "lowest": min,
    "highest": max,
    "mean": fmean,
}


def kernel(evidence: Evidence) -> str:
    """The preemption model of the kernel under which a run was measured."""
    return str(evidence.measured.run.machine.get("preemption") or "unknown")


def only_realtime(evidence: Evidence) -> str:
    """Why a statement about PREEMPT_RT is not asked of this kernel; empty: it is."""
    here = kernel(evidence)
    return "" if here == REALTIME else f"it is about {REALTIME}; this kernel is {here}"


def only_native(evidence: Evidence) -> str:
    """Why a statement about the native kernel is not asked of this kernel; empty: it is."""
    return f"it is about the native kernel; this one is {REALTIME}" * (kernel(evidence) == REALTIME)


def only_rclcpp(evidence: Evidence) -> str:
    """Why a statement about rclcpp's pointers is not asked of another library; empty: it is."""
    return "it is about rclcpp; this is Takt's own library" * (evidence.stack != "rclcpp")


def level(
    words: str,
    of: OfRun[float],
    sizes: tuple[int, ...],
    *,
    least: float = -math.inf,
    most: float = math.inf,
    **asked: Any,
) -> Quantity[Evidence]:
    """Of several sizes, each of which counts alike; none of them may be missing."""
    names = ", ".join(map(size_in_words, sizes))
    mean = "geometric mean over sizes of the " if len(sizes) > 1 else ""

    def found(evidence: Evidence) -> float:
        each = [evidence.mean(of, payload_bytes=size, **asked) for size in sizes]
        return geometric_mean(each)

    return Quantity(f"{words}; {names}; {mean}mean over runs", found, least=least, most=most)


def p50(words: str, sizes: tuple[int, ...], **asked: Any) -> Quantity[Evidence]:
    """The median latency of one or several sizes."""
    return level(f"median latency in µs, {words}", runs.p50, sizes, **asked)


def highest(
    words: str, of: OfRun[float], sizes: tuple[int, ...] = (), how: str = "mean", **asked: Any
) -> Highest[Evidence]:
    """The highest value of a run, of several sizes or frequencies; see :func:`over_periods`."""
    join = geometric_mean if sizes else CHOOSE[how]
    each = ", ".join(map(size_in_words, sizes)) or _of_all(how)
    more = {"payload_bytes": sizes} if sizes else {}

    def keys(evidence: Evidence) -> list[str]:
        if not sizes:
            return evidence.keys(**asked)
        return [key for size in sizes for key in evidence.keys(payload_bytes=size, **asked)]

    return quantity.highest(
        f"{words}; {each}; median over runs",
        lambda evidence: [
            [evidence.value(cell, of) for cell in evidence.point(key)] for key in keys(evidence)
        ],
        lambda evidence: min(cell.samples_requested for cell in evidence.cells(**asked, **more)),
        join,
    )


def over_periods(
    words: str, of: OfRun[float], how: str, label: str, **asked: Any
) -> Quantity[Evidence]:
    """Of the frequencies of a label the ``lowest``, the ``highest`` or the ``mean``."""

    def found(evidence: Evidence) -> float:
        each = [
            fmean(evidence.value(cell, of) for cell in evidence.point(key))
            for key in evidence.keys(label=label, **asked)
        ]
        return CHOOSE[how](each)

    return Quantity(f"{words}; {_of_all(how)}, mean over runs", found)


def _of_all(how: str) -> str:
    return "mean over frequencies" if how == "mean" else f"{how} of all frequencies"


def how_often(words: str, of: OfRun[Counts], *more: object, **asked: Any) -> Share[Evidence]:
    """How often something happens of how many times it could, in all runs."""
    return share(f"{words}, as a share", lambda evidence: evidence.counts(of, *more, **asked))
