# SPDX-License-Identifier: Apache-2.0
"""The statements of Ye et al. 2023 on two kernels, and its figures with the curves of both."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from takt.reproduce.beside.evidence import Several, under
from takt.reproduce.beside.sides import Opened
from takt.reproduce.criterion import grown
from takt.reproduce.evidence import Evidence, Measured
from takt.reproduce.judgement import judge
from takt.reproduce.model import Figure, Finding
from takt.reproduce.published import Published
from takt.reproduce.quantity import Check, Quantity
from takt.reproduce.runs import OfRun
from takt.reproduce.ye2023 import drawing, runs
from takt.reproduce.ye2023.between import ROS1_STACK, ROS2_STACK, SIX_SIZES
from takt.reproduce.ye2023.drawing import SIZE, Curve
from takt.reproduce.ye2023.figures import FOLDER, GONE, LEAST_LARGE, MOST_SMALL, Drawn, part
from takt.reproduce.ye2023.quantities import (
    JITTER,
    LARGE,
    OF_ONE_LENGTH,
    REALTIME,
    SIX,
    SIZES,
    SMALL,
    WAKEUP,
    highest,
    kernel,
    level,
    over_periods,
    p50,
)
from takt.reproduce.ye2023.tables import NAMES

NATIVE = "native"
Both = Check[Several]
EVERY = (*SMALL, *LARGE)
TWO = "two kernels"  # what was measured


def _both(quantity: Callable[[], Quantity[Evidence]], name: str) -> dict[str, Quantity[Several]]:
    return {
        f"{name.replace('*', 'native')}": under(NATIVE, quantity()),
        f"{name.replace('*', 'rt')}": under(REALTIME, quantity()),
    }


def _lower(name: str) -> str:
    """As much lower as in the paper."""
    rt, native = name.replace("*", "rt"), name.replace("*", "native")
    return grown(native, rt, native, rt)


def _wakeups(words: str, of: OfRun[float]) -> Callable[[], Quantity[Evidence]]:
    return lambda: over_periods(words, of, "mean", WAKEUP)


def _faster(name: str, stack: str, words: str, label: str, sizes: tuple[int, ...]) -> Both:
    """No number is published: the direction decides."""
    return Check(
        f"{name}_rt_us < {name}_native_us",
        _both(lambda: p50(words, sizes, stack=stack, label=label), f"{name}_*_us"),
    )


CHECKS: dict[str, Both] = {
    "rt-wakeups-lower": Check(
        f"{_lower('max_*_us')} and avg_rt_us < avg_native_us and min_rt_us <= min_native_us",
        {
            **_both(
                lambda: highest("highest latency in µs of a run", runs.highest, label=WAKEUP),
                "max_*_us",
            ),
            **_both(_wakeups("mean latency in µs", runs.average), "avg_*_us"),
            **_both(_wakeups("lowest latency in µs of a run", runs.lowest), "min_*_us"),
        },
        differs=f"{OF_ONE_LENGTH}; cyclictest reports whole µs",
    ),
    "rt-ros2-faster": _faster("ros2", ROS2_STACK, "ROS 2", SIZES, EVERY),
    "rt-ros1-faster": _faster("ros1", ROS1_STACK, "ROS 1", SIZES, EVERY),
    # "Much lower", without a number: by half as much is not little.
    "rt-fluctuates-less": Check(
        "spread_rt_us < spread_native_us and max_rt_us * 1.5 <= max_native_us",
        {
            **_both(
                lambda: level(
                    "width in µs of the middle half of the latencies", runs.spread, EVERY,
                    stack=ROS2_STACK, label=SIZES,
                ),
                "spread_*_us",
            ),
            **_both(
                lambda: highest(
                    "highest latency in µs of a run", runs.highest, EVERY,
                    stack=ROS2_STACK, label=SIZES,
                ),
                "max_*_us",
            ),
        },
        differs=OF_ONE_LENGTH,
    ),
    "rt-six-faster": _faster("six", ROS2_STACK, "six subscribers", SIX, SIX_SIZES),
    "rt-jitter-lower": Check(
        _lower("*_us"),
        _both(
            lambda: highest(
                "largest jitter in µs of a run, early or late", runs.jitter_highest, how="highest",
                label=JITTER, stack="raw",
            ),
            "*_us",
        ),
        differs=OF_ONE_LENGTH,
    ),
}  # fmt: skip


def findings(published: Published, opened: Sequence[Opened]) -> list[Finding]:
    """What takes two kernels; undecided where one of them is missing."""
    there = Several(evidences(opened))
    return [
        published.finding(name, TWO, judge(check, published.beside[name].values, there))
        for name, check in CHECKS.items()
    ]


def evidences(opened: Sequence[Opened]) -> dict[str, Evidence]:
    """The first run of each kernel; wake-ups are those of the program that both have."""
    found: dict[str, Evidence] = {}
    for one in opened:
        if one.run is None:
            continue
        waking = next((cell.stack for cell in one.run.cells if cell.label == WAKEUP), "cyclictest")
        evidence = Evidence(Measured(one.run, one.folder), waking)
        found.setdefault(REALTIME if kernel(evidence) == REALTIME else NATIVE, evidence)
    return found


def figures(published: Published, opened: Sequence[Opened], folder: Path) -> list[Figure]:
    """Figures 12 to 15, 20 and 32 with the curves of every run."""
    drawn = {
        one.side.name: Drawn(published, Measured(one.run, one.folder), 0)
        for one in opened
        if one.run is not None
    }
    figures_drawn: list[Figure] = []

    def keep(
        figure: str, shown: list[Curve], draw: Callable[[Path, list[Curve]], list[Path]]
    ) -> None:
        if not any(one.at for one in shown):
            return  # no run has measured it
        with contextlib.suppress(*GONE):
            figures_drawn.extend(
                Figure(
                    figure=figure,
                    file=str(file.relative_to(folder)),
                    caption=f"{published.figures[figure].caption}; every run",
                )
                for file in draw(folder / FOLDER / figure, shown)
            )

    sizes = {stack: {"label": SIZES} for stack in (ROS1_STACK, ROS2_STACK)}
    title = "Median latency, and from the lowest to the highest execution"
    every = _curves(drawn, sizes)
    small = [part(one, 0, MOST_SMALL) for one in every]
    large = [part(one, LEAST_LARGE, None) for one in every]
    six = _curves(drawn, {ROS2_STACK: {"label": SIX}})
    keep("12", every, lambda file, shown: drawing.curves(file, title, shown, SIZE))
    keep("13", small, lambda file, shown: drawing.curves(file, "Small data", shown, SIZE))
    keep("14", large, lambda file, shown: drawing.bars(file, "Large data, median latency", shown))
    keep("30", six, lambda file, shown: drawing.curves(file, "Six subscribers", shown, SIZE))
    return figures_drawn


def _curves(drawn: Mapping[str, Drawn], asked: Mapping[str, dict[str, Any]]) -> list[Curve]:
    """One of each stack and run that was measured."""
    found = []
    for stack, more in asked.items():
        for side, one in drawn.items():
            with contextlib.suppress(*GONE):
                found.append(one.curve(f"{NAMES[stack]}, {side}", stack, "payload_bytes", **more))
    return found
