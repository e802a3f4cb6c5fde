# SPDX-License-Identifier: Apache-2.0
"""What ``takt record`` costs the program that it records: its events with and without it."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path

from takt.bench import programs
from takt.bench.model import Bar, Bench, interleaved, median
from takt.network import stacks
from takt.processes.preload import preloaded
from takt.processes.scratch import temporary

LIBRARY = "libtakt_record.so"
FULL = ("stop", "ring")  # what a recording does when its space is used up
BYTES = 64 << 20  # what takt record takes; more than the bench records
CALLBACK_LIMIT_NS = 500.0
EVENTS = 7  # of a callback of a subscription: wait, execute, three takes, begin, end
# An event of LTTng, from "ros2_tracing: Multipurpose Low-Overhead Framework for Real-Time Tracing
# of ROS 2" (2022).
PUBLISHED_EVENT_NS = 158.0


def record_ros(rounds: int, cpu: int, progress: Callable[[str], None]) -> Bench:
    """Recording adds less than 0.5 µs to a callback, and to an event less than LTTng's 158 ns."""
    recorder = stacks.program(LIBRARY)
    variants = {"without": partial(_without, cpu)}
    variants |= {full: partial(_recorded, cpu, recorder, full) for full in FULL}
    measured = interleaved(variants, rounds, seed=1, progress=progress)
    bars = []
    for full in FULL:
        what = "into a ring" if full == "ring" else "until it is full"
        more = [
            on["callback_ns"] - off["callback_ns"]
            for off, on in zip(measured["without"], measured[full], strict=True)
        ]
        detail = {
            "without_ns": median(measured["without"], "callback_ns"),
            "with_ns": median(measured[full], "callback_ns"),
        }
        added = statistics.median(more)
        bars += [
            Bar(
                name=f"a callback, recorded {what}",
                value=added,
                limit=CALLBACK_LIMIT_NS,
                unit="ns",
                detail=detail,
            ),
            Bar(
                name=f"one of its events, recorded {what}",
                value=added / EVENTS,
                limit=PUBLISHED_EVENT_NS,
                unit="ns",
            ),
        ]
    return Bench(bench="record-ros", rounds=rounds, bars=bars)


def _without(cpu: int) -> dict[str, float]:
    return _figures([], cpu)


def _recorded(cpu: int, recorder: Path, full: str) -> dict[str, float]:
    with temporary() as folder:
        environment = {
            "LD_PRELOAD": preloaded(recorder)["LD_PRELOAD"],
            "TAKT_RECORD_FOLDER": str(folder),
            "TAKT_RECORD_BYTES": str(BYTES),
            "TAKT_RECORD_FULL": full,
        }
        return _figures(["env", *(f"{name}={value}" for name, value in environment.items())], cpu)


def _figures(before: list[str | Path], cpu: int) -> dict[str, float]:
    answer = programs.document([*before, stacks.program("bench_record_ros"), str(cpu)])
    return {"callback_ns": float(answer["callback_ns"])}
