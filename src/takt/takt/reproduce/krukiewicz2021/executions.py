# SPDX-License-Identifier: Apache-2.0
"""Executes the points in random order; what is there already is not executed again.

As in section 5.2: each application several times, for a strict time, in random order. The traces
and the metrics of each run stay in the folder.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from takt.documents.reading import read_json
from takt.documents.writing import check_room, failure, write_text
from takt.errors import Failure, TaktError
from takt.processes.signals import stopping
from takt.processes.supervision import Stop
from takt.reproduce.krukiewicz2021.beginning import COPY, RCLCPP, Baselines
from takt.reproduce.krukiewicz2021.points import BASELINE, Point, central, flat, points
from takt.reproduce.model import Unfinished
from takt.schedule.execution import execute
from takt.schedule.metrics import Metrics, measure

RUNS, LENGTH_S = 5, 30.0  # of the thesis
SHORTEST_S = 2.0
LEAST_RUNS = 2
FULL = "finished executions are kept: free space there; the same command with --out continues"
OVERHEADS = "overheads of the executors, tables 5.6 to 5.8"
RCLCPP_BASELINE = "rclcpp_baseline1"  # the same with rclcpp's own executor
START_S = 2.0  # of an application, and its end; only for the estimate
SHORTEST_S_PER_NODE = 0.1  # dozens of processes keep the core busy for a while after their start
# A listener of 10 Hz: with fewer uses of data it is not known that less than 1 % of them are old.
SHORTEST_S_OF_AGES = 6.5


LEAST_SCALE_OF_ALL = LEAST_RUNS * SHORTEST_S / (RUNS * LENGTH_S)  # below, points are left out


@dataclass(frozen=True)
class Extent:
    """What is executed at a scale."""

    points: list[Point]
    runs: int
    length_s: float
    left_out: int  # points

    @classmethod
    def at(cls, scale: float) -> Extent:
        """First shorter runs, then fewer of them, then fewer points, but never the central ones.

        How far runs differ is what decides: even the smallest scale has LEAST_RUNS of each point.
        """
        every = points()
        each_s = RUNS * LENGTH_S * scale
        runs = max(LEAST_RUNS, min(RUNS, int(each_s / SHORTEST_S)))
        length_s = min(LENGTH_S, max(SHORTEST_S, each_s / runs))
        kept = math.ceil(len(every) * min(1.0, each_s / (LEAST_RUNS * SHORTEST_S)))
        kept = max(kept, sum(central(point) for point in every))
        return cls(every[:kept], runs, round(length_s, 1), len(every) - kept)

    @property
    def asked(self) -> list[tuple[Point, int]]:
        """Every point and run, in the random order in which they are executed."""
        asked = [(point, run) for point in self.points for run in range(self.runs)]
        random.Random(1).shuffle(asked)  # noqa: S311 - the same order when it is gone on with
        return asked

    def left(self, folder: Path) -> list[tuple[Point, int]]:
        """What is not in a folder yet."""
        return [one for one in self.asked if not (folder / f"{name_of(*one)}.json").exists()]

    def seconds(self, asked: list[tuple[Point, int]]) -> float:
        """How long that takes, about."""
        return sum(self.length_of(point) + START_S for point, _ in asked)

    def length_of(self, point: Point) -> float:
        """How long a run of a point is, in seconds."""
        shortest = SHORTEST_S_OF_AGES if point.experiment == "age" else 0.0
        return max(self.length_s, point.nodes * SHORTEST_S_PER_NODE, shortest)


def name_of(point: Point, run: int) -> str:
    """Names a run; usable as a file's name."""
    return f"{point.name}-run{run + 1}"


@dataclass
class Executions:
    """The metrics of all runs of all points that were executed."""

    metrics: dict[Point, list[Metrics]] = field(default_factory=dict)
    failed: dict[tuple[Point, int], str] = field(default_factory=dict)  # and why
    left: list[tuple[Point, int]] = field(default_factory=list)  # stopped before, or meanwhile
    overhead_left: bool = False  # stopped before the overheads were measured
    overhead_failed: str = ""  # and why

    def unfinished(self, extent: Extent) -> list[Unfinished]:
        """What has no metrics, by points."""
        found: dict[tuple[Point, str], int] = {}
        for (point, _), why in self.failed.items():
            found[point, why] = found.get((point, why), 0) + 1
        for point, _ in self.left:
            found[point, ""] = found.get((point, ""), 0) + 1
        points = [
            _unfinished(point.name, runs, extent.runs, why) for (point, why), runs in found.items()
        ]
        if self.overhead_left or self.overhead_failed:
            points.append(_unfinished(OVERHEADS, 1, 1, self.overhead_failed))
        return points


def _unfinished(name: str, runs: int, of: int, why: str) -> Unfinished:
    return Unfinished(
        point=name,
        key=name,
        state="failed" if why else "waiting",
        runs=runs,
        of=of,
        why=why or "not executed yet",
    )


def execute_all(
    extent: Extent, folder: Path, say: Callable[[str], None], baselines: Baselines = COPY
) -> Executions:
    """Runs what is not in the folder yet; Ctrl-C ends it, and what was executed stays.

    Raises Failure where the folder's disk is full; an execution that filled it has failed.
    """
    cpus = sorted(os.sched_getaffinity(0))
    asked = extent.asked
    done, stop = Executions(), Stop()
    with stopping(stop):
        for count, (point, run) in enumerate(asked, 1):
            name = name_of(point, run)
            kept = folder / f"{name}.json"
            if not kept.exists():
                if stop.requested:
                    done.left.append((point, run))
                    continue
                check_room(folder, FULL)
                if point.cores > len(cpus):
                    done.failed[point, run] = f"it takes {point.cores} CPUs, this process has fewer"
                    continue
                say(f"{count} of {len(asked)}: {name}")
                own = cpus[-point.cores :]
                try:
                    _execute(
                        point,
                        run,
                        extent.length_of(point),
                        kept,
                        own,
                        stop,
                        approach_of(point, baselines),
                    )
                except Failure as error:
                    done.failed[point, run] = error.what
                    continue
                except OSError as error:
                    done.failed[point, run] = failure(error).what
                    continue
            if kept.exists():
                done.metrics.setdefault(point, []).append(read_kept(kept))
            else:
                done.left.append((point, run))
    return done


def read_kept(file: Path) -> Metrics:
    """What an execution of before came to; raises TaktError for a file that is none."""
    document = read_json(file)
    try:
        return Metrics.model_validate(document)
    except ValidationError as error:
        raise TaktError(
            f"not metrics of an execution: {error.error_count()} errors",
            where=str(file),
            fix="remove it; the same command executes it again",
        ) from None


def approach_of(point: Point, baselines: Baselines) -> str:
    """By which ``takt execute`` runs a point."""
    if point.approach == BASELINE:
        return RCLCPP_BASELINE if baselines == RCLCPP else BASELINE
    return "takt"


def _execute(
    point: Point,
    run: int,
    length_s: float,
    kept: Path,
    cpus: list[int],
    stop: Stop,
    approach: str,
) -> None:
    trace = kept.with_suffix(".takttrace")
    execution = execute(
        flat(point, cpus), approach, trace=trace, duration_s=length_s, seed=run + 1, stop=stop
    )
    if execution.status == "complete":
        write_text(kept, measure(trace).model_dump_json())
