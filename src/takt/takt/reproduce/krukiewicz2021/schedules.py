# SPDX-License-Identifier: Apache-2.0
"""The thesis's schedules of three tasks (figures 2.4, 2.5, 2.9), simulated.

Task 1 produces, task 3 computes with what it produced, task 2 is in between (section 2.2.1). The
thesis gives no times: periods and execution times here are chosen, the order is not. It comes from
the simulation of rclcpp's single-threaded executor (the thesis's baseline0) and of Takt's.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from takt.schedule.simulation.simulate import simulate
from takt.schedule.trace.file import read, replay
from takt.schedule.view.gather import Gathered, Gathering

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

MS = 1_000_000  # ns
PERIOD_MS = 20
WCET_MS = {"task_1": 3, "task_2": 5, "task_3": 4}
DELIVERY_MS = 1  # of a message by a subscription's callback; by pointer none
SPECIAL_MS = 2 * PERIOD_MS  # from here on the data is limited
MAX_AGE_MS = 5
READER, TOPIC = "task_3.compute", "data"
TASKS = {"task_1": "task_1.produce", "task_2": "task_2.report", "task_3": READER}
TIMER, SUBSCRIPTION = "#2f6fb0", "#8a4fbf"  # the thesis's blue and purple


@dataclass(frozen=True)
class Stretch:
    """Who had the core; times in ms."""

    task: str  # of TASKS
    begin: float
    end: float
    delivers: bool  # a subscription's callback


@dataclass(frozen=True)
class Use:
    """A start of task 3, and the age of the data that it has; times in ms."""

    at: float
    age: float | None  # None: no data
    old: bool  # task 1 has produced since


@dataclass(frozen=True)
class Schedule:
    """One simulated schedule."""

    title: str
    stretches: list[Stretch]
    uses: list[Use]
    special: float | None = None  # the time from which the data is limited


def schedules() -> dict[str, list[Schedule]]:
    """Those of each figure."""
    by_rclcpp = {"executor": "rclcpp_single_threaded", "overheads": {"deliver": DELIVERY_MS * MS}}
    delivered = {"policy": "np-fp", "priorities": {"task_1": 30, "task_2": 10, "task_3": 20}}
    regular = {"policy": "np-fp", "priorities": {"task_1": 20, "task_2": 30, "task_3": 40}}
    limit = {"topic": TOPIC, "max_age": MAX_AGE_MS * MS}
    aware = regular | {
        "scenarios": [
            {"name": "regular", "tasks": []},
            {"name": "special", "tasks": [{"task": READER, "reads": [limit], "writes": []}]},
        ],
        "switches": [{"at": SPECIAL_MS * MS, "scenario": "special"}],
    }
    return {
        "2.4": [_simulated("rclcpp's single-threaded executor", 3, by_rclcpp)],
        "2.5": [_simulated("Takt: task 3 has a higher priority than task 2", 3, delivered)],
        "2.9": [
            _simulated("(a) baseline0: rclcpp's single-threaded executor", 4, by_rclcpp),
            _simulated(
                f"(b) Takt: from {SPECIAL_MS} ms on data is {MAX_AGE_MS} ms old at most",
                4,
                aware,
                SPECIAL_MS,
            ),
        ],
    }


def _simulated(
    title: str, periods: int, more: Mapping[str, Any], special: float | None = None
) -> Schedule:
    fields = {name: value for name, value in more.items() if name != "priorities"}
    priorities: Mapping[str, int] = more.get("priorities", {})
    application = {"version": 1, "name": "three_tasks", **fields}
    application["callbacks"] = [_callback(task, priorities) for task in TASKS]
    application["topics"] = [{"name": TOPIC, "bytes": 512_000}]
    with tempfile.TemporaryDirectory(prefix="takt-schedule-") as folder:
        file = Path(folder) / "x.takttrace"
        simulate(application, where=title, duration=periods * PERIOD_MS * MS, trace=file)
        trace = read(file)
        gathering = Gathering(trace)
        replay(trace, [gathering])
        names = trace.names
    found = gathering.result()
    data = next(number for number, name in names.topics.items() if name == TOPIC)
    return Schedule(title, _stretches(found, names.tasks), _uses(found, names.tasks, data), special)


def _callback(task: str, priorities: Mapping[str, int]) -> dict[str, Any]:
    callback: dict[str, Any] = {
        "name": TASKS[task],
        "node": task,
        "kind": "timer",
        "period": PERIOD_MS * MS,
        "execution": {"worst": WCET_MS[task] * MS},
    }
    if task in priorities:
        callback["priority"] = priorities[task]
    if task == "task_1":
        callback["writes"] = [TOPIC]
    if task == "task_3":
        callback["reads"] = [{"topic": TOPIC}]
    return callback


def _stretches(found: Gathered, tasks: Mapping[int, str]) -> list[Stretch]:
    """In the order of time; a subscription's callback has a name of its own in its node."""
    rows = zip(*(found.slices[name].tolist() for name in ("task", "begin", "end")), strict=True)
    return [
        Stretch(
            (name := tasks[task]).partition(".")[0],
            begin / MS,
            end / MS,
            name not in TASKS.values(),
        )
        for task, begin, end in rows
    ]


def _uses(found: Gathered, tasks: Mapping[int, str], data: int) -> list[Use]:
    """Data comes to task 3 when its job starts, or by a subscription's callback before."""
    messages = found.messages
    of_data = messages["topic"] == data
    came, published_at = messages["to"][of_data], messages["from"][of_data]
    published = np.sort(found.published.get(data, np.empty(0, np.int64)))
    at_start = any(tasks[user] == READER for user in messages["user"][of_data].tolist())
    jobs = found.jobs
    starts = np.sort(jobs["start"][[tasks[task] == READER for task in jobs["task"].tolist()]])
    uses = []
    for start in starts.tolist():
        there = published_at[came <= start] if at_start else published_at[came < start]
        newest = published[published <= start].max(initial=-1)
        used = int(there.max(initial=-1))
        age = (start - used) / MS if used >= 0 else None
        uses.append(Use(start / MS, age, bool(newest > used)))
    return uses


def draw(every: list[Schedule]) -> Picture:
    """One schedule below the other, a row for each task, in blue timers, in purple messages."""
    from matplotlib.figure import Figure as NewPicture
    from matplotlib.patches import Patch

    picture = NewPicture(figsize=(9, 0.6 + 2.4 * len(every)), layout="constrained")
    names = list(TASKS)
    panels = picture.subplots(len(every), 1, squeeze=False, sharex=True)[:, 0]
    for axes, schedule in zip(panels, every, strict=True):
        for one in schedule.stretches:
            colour = SUBSCRIPTION if one.delivers else TIMER
            place, width = names.index(one.task), one.end - one.begin
            axes.barh(place, width, left=one.begin, height=0.6, color=colour)
        for use in schedule.uses:
            words = "no data" if use.age is None else f"{use.age:g} ms"
            colour = "#b3261e" if use.old else "#111111"
            axes.text(use.at, 2.75, words, color=colour, fontsize=8, ha="left", va="center")
        if schedule.special is not None:
            axes.axvline(schedule.special, linestyle="--", color="#c96a12", linewidth=1)
        axes.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
        axes.set_ylim(3.1, -0.5)
        axes.set_title(schedule.title)
        axes.grid(axis="x", alpha=0.3)
    panels[-1].set_xlabel("time (ms)")
    panels[0].legend(
        handles=[
            Patch(color=TIMER, label="timer"),
            Patch(color=SUBSCRIPTION, label="subscription"),
            Patch(color="none", label="below: age of the data;\nred: task 1 has newer"),
        ],
        fontsize=8,
        loc="upper left",
        bbox_to_anchor=(1, 1),
    )
    return picture
