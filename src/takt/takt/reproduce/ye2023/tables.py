# SPDX-License-Identifier: Apache-2.0
"""Tables 3 to 5 beside this machine, and the numbers behind figures that have none in the paper."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from statistics import fmean, median

from takt.machine.preemption import preemption_model
from takt.machine.system import System
from takt.measure.results.model import AddressCheck, Cell, Percentiles
from takt.measure.results.unfinished import Unfinished, losses, unfinished
from takt.reproduce.draws import DRAWS, interval
from takt.reproduce.evidence import Evidence, Measured
from takt.reproduce.model import Figures, Row, size_in_words
from takt.reproduce.published import Published, PublishedRow
from takt.reproduce.scatter import Missing
from takt.reproduce.ye2023 import runs
from takt.reproduce.ye2023.quantities import (
    ETHERCAT,
    LOANS,
    POINTERS,
    REALTIME,
    SIX,
    SIZES,
    STRINGS,
    WAKEUP,
    level,
)

NAMES = {
    "rcl": "ROS 2",
    "rclcpp": "rclcpp",
    "ros1": "ROS 1",
    "rcl_fastrtps": "ROS 2 on Fast DDS",
    "rcl_cyclonedds": "ROS 2 on Cyclone DDS",
    "rcl_zenoh": "ROS 2 on Zenoh",
    "cyclonedds": "Cyclone DDS, without ROS 2",
    "rustdds": "RustDDS, without ROS 2",
    "cyclictest": "cyclictest",
    "raw": "Takt's own loop",
    "ethercat": "ethercrab, simulated slaves",
}


def rows(published: Published, measured: Measured, system: System, draws: int = DRAWS) -> list[Row]:
    """Every published row, then what was measured and is only drawn in the paper.

    ``draws`` are those of an interval.
    """
    found_rows = []
    for one in published.tables:
        match one.table:
            case "table 3":
                found_rows.append(_kernel(one, system))
            case "table 4":
                found_rows.append(_wakeups(one, measured))
            case "figure 33":
                found_rows.append(_cycles(one, measured))
            case _:
                found_rows.append(_quality(one, measured))
    return [*found_rows, *_sizes(measured), *_addresses(measured), *_fairness(measured, draws)]


def realtime(measured: Measured) -> bool:
    """Whether the kernel of a run has PREEMPT_RT."""
    return measured.run.machine.get("preemption") == REALTIME


def _row(one: PublishedRow, vendor: str, measured: Figures, why: str = "") -> Row:
    return Row(
        table=one.table,
        row=one.row,
        vendor=vendor,
        published=one.published,
        measured=measured,
        why="" if measured else why,
    )


def _kernel(one: PublishedRow, system: System) -> Row:
    option = str(one.point["option"])
    if not system.kernel_config:
        return _row(one, "this kernel", {}, "its configuration cannot be read")
    have = system.kernel_config.get(option, "n")
    words = f"{option} is not set" if have == "n" else f"{option}={have}"
    if option == "CONFIG_PREEMPT_RT":
        model, mode = preemption_model(system)
        words = " ".join(filter(None, (model, mode))) or words
    return _row(one, "this kernel", {"setting": words})


def _wakeups(one: PublishedRow, measured: Measured) -> Row:
    here = REALTIME if realtime(measured) else "native"
    stack = next((cell.stack for cell in measured.run.cells if cell.label == WAKEUP), "cyclictest")
    name = NAMES[stack]
    if one.point["kernel"] != here:
        found = measured.run.machine.get("preemption") or "unknown"
        return _row(one, name, {}, f"not measured: this kernel is {found}")
    try:
        cells = Evidence(measured, stack).cells(label=WAKEUP)
    except Missing:
        return _row(one, name, {}, "not measured: no samples came")
    period = float(one.point["period_us"])
    return _row(one, name, _amounts(runs.by_period(cells).get(period, []), 0),
                "not measured: no samples came")  # fmt: skip


def _cycles(one: PublishedRow, measured: Measured) -> Row:
    """The lowest and highest of all runs, the mean and the median of the runs' others."""
    name = NAMES["ethercat"]
    try:
        cells = Evidence(measured, "ethercat").cells(label=ETHERCAT)
    except Missing:
        return _row(one, name, {}, "not measured: no samples came")
    found = [(cell, cell.statistics.cyclic.jitter) for cell in cells
             if cell.statistics and cell.statistics.cyclic]  # fmt: skip
    if not found:
        return _row(one, name, {}, "not measured: too few cycles")
    period = cells[0].period_us
    each = [jitter for _, jitter in found]
    return _row(
        one,
        name,
        {
            "min_us": round(period + min(one.min_us for one in each), 1),
            "avg_us": round(period + fmean(one.mean_us for one in each), 1),
            "max_us": round(period + max(one.max_us for one in each), 1),
            "p999_us": round(period + median(one.p999_us for one in each), 1),
            "cycles": sum(cell.sent for cell in cells),
            "lost": sum(cell.lost for cell in cells),
            "wrong_counters": sum(cell.wrong_counters for cell in cells),
            "stolen_ms": round(sum(1e3 * cell.steal_seconds for cell in cells)),
        },
    )


def _quality(one: PublishedRow, measured: Measured) -> Row:
    try:
        cell = Evidence(measured, "rcl").cells(**one.point)[0]
    except Missing:
        return _row(one, "ROS 2", {}, "not measured: no samples came")
    asked: Figures = {
        "history": cell.history.upper(),
        "depth": "none" if cell.history == "keep_all" else cell.depth,
        "reliability": cell.reliability.replace("_", " "),
        "durability": cell.durability.replace("_", " "),
        "deadline": "default",  # of every probe
    }
    return _row(one, "ROS 2", asked)


def _latencies(cells: list[Cell]) -> Figures:
    """Lowest and highest of all runs, the mean of all samples, medians of the runs' medians."""
    found = [cell.statistics.latency for cell in cells if cell.statistics]
    return _amounts(found, sum(cell.lost for cell in cells))


def _amounts(found: list[Percentiles], lost: int) -> Figures:
    if not found:
        return {}
    count = sum(one.count for one in found)
    return {
        "min_us": round(min(one.min_us for one in found), 1),
        "avg_us": round(sum(one.mean_us * one.count for one in found) / count, 1),
        "max_us": round(max(one.max_us for one in found), 1),
        "p50_us": round(median(one.p50_us for one in found), 1),
        "p90_us": round(median(one.p90_us for one in found), 1),
        "lost": lost,
        "executions": count,
    }


def fairness_interval(
    measured: Measured, stack: str, size: int, draws: int
) -> tuple[float, float] | None:
    """Of Jain's index at 95 %; None: one run does not tell. Raises Missing."""
    words = "Jain's index of the subscribers' medians"
    index = level(words, runs.fairness, (size,), most=1, label=SIX)
    return interval(index, Evidence(measured, stack), draws)


def _points(
    measured: Measured, label: str, *, lost: bool = False
) -> Iterator[tuple[str, int, list[Cell]]]:
    """The stack, the size and the runs of each point of a label, small ones first.

    ``lost``: those too of which not one message came.
    """
    found: dict[tuple[int, int, str], list[Cell]] = {}
    order = list(NAMES)
    for cell in measured.run.cells:
        empty = lost and unfinished(cell) is Unfinished.lost
        if cell.label == label and (cell.statistics or empty):
            key = (cell.payload_bytes, order.index(cell.stack), cell.stack)
            found.setdefault(key, []).append(cell)
    for (size, _, stack), cells in sorted(found.items(), key=lambda one: one[0]):
        yield stack, size, cells


def _sizes(measured: Measured) -> Iterator[Row]:
    """Other middlewares have a table of their own: the paper compares ROS 1 and ROS 2 by itself.

    The middleware of ROS 2 is in both.
    """
    for label, more in ((SIZES, ""), (STRINGS, ", strings")):
        points = list(_points(measured, label, lost=True))
        others = {(stack, size) for stack, size, _ in points if stack not in {"rcl", "ros1"}}
        beside = {size for _, size in others} if "rcl_fastrtps" not in dict(others) else set()
        for stack, size, cells in points:
            if stack == "rcl" and size in beside:
                yield _latency("figure 20", size, NAMES["rcl_fastrtps"], cells)
            table = "figure 20" if (stack, size) in others else "figure 12"
            yield _latency(table, size, NAMES[stack] + more, cells)


def _latency(table: str, size: int, vendor: str, cells: list[Cell]) -> Row:
    return Row(
        table=table,
        row=size_in_words(size),
        vendor=vendor,
        published={},
        measured=_latencies(cells),
        why="" if any(one.statistics for one in cells) else losses(cells),
    )


def _addresses(measured: Measured) -> Iterator[Row]:
    """Of each way within one process: how many messages came at the address of their sending."""
    found: dict[tuple[str, str], list[AddressCheck]] = {}
    for cell in measured.run.cells:
        if cell.label in {POINTERS, LOANS} and cell.addresses:
            found.setdefault((cell.transport, cell.stack), []).append(cell.addresses)
    for (way, stack), each in sorted(found.items()):
        takts = stack == "rcl" and way != "loan"
        yield Row(
            table="figure 22",
            row=way,
            vendor=NAMES[stack] + ", Takt's own library" * takts,
            published={},
            measured={
                "messages": sum(one.compared for one in each),
                "same_address": sum(one.same for one in each),
            },
        )


def _fairness(measured: Measured, draws: int) -> Iterator[Row]:
    for stack, size, cells in _points(measured, SIX):
        with contextlib.suppress(Missing):
            medians = [runs.medians(cell) for cell in cells]
            low, high = fairness_interval(measured, stack, size, draws) or (None, None)
            yield Row(
                table="figure 28",
                row=size_in_words(size),
                vendor=NAMES[stack],
                published={},
                measured={
                    "fastest_us": round(fmean(min(one) for one in medians), 1),
                    "slowest_us": round(fmean(max(one) for one in medians), 1),
                    "slowest_of_fastest": round(fmean(max(one) / min(one) for one in medians), 3),
                    "fairness": round(fmean(map(runs.jain, medians)), 4),
                    "fairness_at_least": None if low is None else round(low, 4),
                    "fairness_at_most": None if high is None else round(high, 4),
                    "lost": sum(cell.lost for cell in cells),
                    "runs": len(cells),
                },
            )
