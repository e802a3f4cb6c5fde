# SPDX-License-Identifier: Apache-2.0
"""Executes an application for a day, in pieces, and sums up what a single piece cannot show.

``python -m setup.long_execution --out results/day examples/three_tasks.app.yaml --hours 24``

Each piece is one ``takt execute``. What is kept of it is a line of pieces.jsonl, with how far its
releases drifted from their period and how much memory its processes had taken more in the end. The
same command continues where it was stopped or killed; a piece that did not end is executed again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from setup import lines

from takt.schedule.trace import file as traces

LINES = "pieces.jsonl"
LOOK_S = 1.0


@dataclass(frozen=True)
class Piece:
    """What is kept of one."""

    begun: str  # in UTC
    seconds: float
    jobs: int
    misses: int
    skipped: int
    unfinished: int
    lost_events: int  # of its trace
    drift_ns: int  # the most of all timers; -1: periods change
    memory_kb: int  # of all processes of the execution, in its second quarter
    grown_kb: int  # from there to its last quarter
    disturbances: list[str] = field(default_factory=list)


class Drift:
    """How far releases lie from where the first one and the period put them."""

    def __init__(self, periods: Mapping[int, int]) -> None:
        self._periods = periods
        self._first: dict[int, tuple[int, int]] = {}
        self.worst_ns = 0

    def take(self, step: traces.Step) -> None:
        """Looks at the releases of these events."""
        events = step.events
        rows = events["type"] == traces.Type.release
        columns = (events[name][rows] for name in ("time", "job"))
        for task, (at, number) in traces.by_number(events["task"][rows], *columns):
            if task in self._periods:
                time_0, job_0 = self._first.setdefault(task, (int(at[0]), int(number[0])))
                passed = (number.astype(np.int64) - job_0) * self._periods[task]
                self.worst_ns = max(self.worst_ns, int(np.abs(at - time_0 - passed).max()))


def main() -> int:
    """1 if a piece failed, or releases drifted; else 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("application", type=Path, help="application file")
    parser.add_argument("--out", type=Path, required=True, help="folder of this execution")
    parser.add_argument("--hours", type=float, default=24.0, help="in all (%(default)s)")
    parser.add_argument("--piece", type=float, default=600.0, help="seconds of one (%(default)s)")
    given = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        while sum(one.seconds for one in pieces(given.out)) < given.hours * 3600:
            execute(given.application, given.out, given.piece)
            print(summary(pieces(given.out)), flush=True)
    done = pieces(given.out)
    print(summary(done))
    return 1 if any(one.drift_ns > 0 for one in done) else 0


def pieces(out: Path) -> list[Piece]:
    """All that have ended."""
    return [Piece(**one) for one in lines.read(out / LINES)]


def execute(application: Path, out: Path, seconds: float) -> None:
    """One piece; raises SystemExit where it fails, with what was said of it."""
    place = out / "piece"
    shutil.rmtree(place, ignore_errors=True)  # one that did not end
    place.mkdir(parents=True)
    words = ["execute", str(application), "--duration", f"{seconds}s", "--json"]
    words += ["--out", str(place)]
    begun = datetime.now(timezone.utc).isoformat(timespec="seconds")
    with (place / "said").open("w+", encoding="utf-8") as said:
        tool = subprocess.Popen([sys.executable, "-m", "takt", *words], stdout=said)
        memory = _watched(tool)
        said.seek(0)
        text = said.read()
    if tool.returncode != 0:
        raise SystemExit(f"the piece begun at {begun} failed: exit code {tool.returncode}\n{text}")
    document = json.loads(text)
    callbacks = document["metrics"]["callbacks"]
    trace = traces.read(traces.only_trace(place))
    quarter = max(1, len(memory) // 4)  # of whose median a start and an end are no part
    warm, late = (
        int(np.median(part or [0])) for part in (memory[quarter : 2 * quarter], memory[-quarter:])
    )
    piece = Piece(
        begun=begun,
        seconds=seconds,
        jobs=sum(one["executions"] for one in callbacks),
        misses=sum(one["misses"] for one in callbacks),
        skipped=sum(one["skipped"] for one in callbacks),
        unfinished=sum(one["unfinished"] for one in callbacks),
        lost_events=trace.lost,
        drift_ns=drift(trace),
        memory_kb=warm,
        grown_kb=late - warm,
        disturbances=document["disturbances"],
    )
    lines.append(out / LINES, asdict(piece))
    shutil.rmtree(place)


def drift(trace: traces.Trace) -> int:
    """Of all timers of an application whose periods do not change."""
    flat: dict[str, Any] = json.loads(traces.description(trace.names) or "{}")
    if flat.get("switches"):
        return -1
    timers = {one["name"]: one.get("period") for one in flat.get("callbacks", [])}
    numbers = {number: timers.get(name) for number, name in trace.names.tasks.items()}
    found = Drift({number: period for number, period in numbers.items() if period})
    traces.replay(trace, [found])
    return found.worst_ns


def summary(done: list[Piece]) -> str:
    """All pieces in a line."""
    if not done:
        return "no piece has ended"
    return (
        f"{len(done)} pieces, {sum(one.seconds for one in done) / 3600:.2f} h, "
        f"{sum(one.jobs for one in done):,} jobs, {sum(one.misses for one in done)} misses, "
        f"{sum(one.skipped for one in done)} skipped, {sum(one.unfinished for one in done)} "
        f"unfinished, {sum(one.lost_events for one in done)} lost events; "
        f"drift at most {max(one.drift_ns for one in done)} ns; "
        f"memory {max(one.memory_kb for one in done)} kB, grown by "
        f"{min(one.grown_kb for one in done)} to {max(one.grown_kb for one in done)} kB in a "
        f"piece; {sum(bool(one.disturbances) for one in done)} pieces disturbed"
    )


def _watched(tool: subprocess.Popen[bytes]) -> list[int]:
    """How much memory the runner's processes had, at each look; kB."""
    found: list[int] = []
    parent = psutil.Process(tool.pid)
    while tool.poll() is None:
        with contextlib.suppress(psutil.Error):
            below = [one for one in parent.children(recursive=True) if "app_runner" in one.name()]
            if memory := sum(one.memory_info().rss for one in below) // 1024:
                found.append(memory)
        time.sleep(LOOK_S)
    return found


if __name__ == "__main__":
    sys.exit(main())
