# SPDX-License-Identifier: Apache-2.0
"""Runs the programs that benchmarks compare: Takt's probes and benches, and cyclictest."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from takt.errors import Failure
from takt.measure.run import samples
from takt.network import stacks
from takt.processes import leftovers, process, recording
from takt.processes.rivals import Rivals
from takt.processes.scratch import temporary

LIMIT_S = 120.0  # of one program, most of which take seconds
_START_S = 20.0  # beside the time that a program is asked to measure
_STARTED_S, _SETTLED_S = 10.0, 1.0  # then it is left alone, as it measures


def system(name: str, package: str) -> Path:
    """The path of a program of the system; raises Failure with the package that holds it."""
    path = shutil.which(name)
    if path is None:
        raise Failure(f"{name} is not installed", fix=f"apt-get install {package}")
    return Path(path)


def output(command: list[str | Path], limit_s: float = LIMIT_S) -> str:
    """What a program prints; raises Failure with its last words where it fails.

    One that does not end in time is ended; who held its core meanwhile is named.
    """
    before, rivals = leftovers.present(), Rivals()
    try:
        with temporary() as folder:
            done = process.output(command, limit_s, _noting(leftovers.Journal(folder)))
    except subprocess.TimeoutExpired:
        what = f"{Path(command[0]).name} did not end within {limit_s:.0f} s and was terminated"
        held = rivals.reported()
        raise Failure(
            "; disturbance: ".join([what, *held]),
            fix="stop it, or move it to another core" if held else None,
        ) from None
    except OSError as error:
        raise Failure(f"{Path(command[0]).name} failed: {error}") from None
    finally:
        leftovers.sweep_since(before)
    if done.returncode:
        raise Failure(
            f"{Path(command[0]).name} ended with {process.how_ended(done.returncode)}: "
            f"{(done.stderr or done.stdout).strip()[-500:]}"
        )
    return done.stdout


def _noting(journal: leftovers.Journal) -> Callable[[int], bool]:
    """Notes the shared memory of a program, in case that we are killed, while there is news."""
    began = last_new = time.monotonic()
    known = False

    def look(pid: int) -> bool:
        nonlocal known, last_new
        now = time.monotonic()
        if journal.note([pid]):
            known, last_new = True, now
        return now - last_new < _SETTLED_S if known else now - began < _STARTED_S

    return look


def document(command: list[str | Path], limit_s: float = LIMIT_S) -> dict[str, Any]:
    """The JSON document that a program prints."""
    parsed: dict[str, Any] = json.loads(output(command, limit_s))
    return parsed


def figures(name: str, mode: str, **options: object) -> dict[str, Any]:
    """What a bench of Takt's measures at SCHED_FIFO; raises Failure where that is not allowed."""
    words = [
        word
        for key, value in options.items()
        for word in (f"--{key.replace('_', '-')}", _written(value))
    ]
    answer = document([stacks.program(name), mode, *words])
    for setting in answer["not_granted"]:
        if setting.startswith("policy fifo"):
            raise no_real_time(setting)
    return answer


def no_real_time(reason: str) -> Failure:
    """The error for a comparison that needs real-time priorities."""
    return Failure(
        f"SCHED_FIFO is not allowed here, so there is nothing to compare ({reason})",
        fix="./takt doctor says how to get it",
    )


def _written(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(int(value) if isinstance(value, bool) else value)


def probe_wakeups(count: int, period_us: int, priority: int, cpu: int) -> NDArray[np.int64]:
    """Wake-up latencies of the raw probe at SCHED_FIFO in ns, the first apart, one process."""
    with temporary() as folder:
        recorded = folder / f"wakeup{recording.SUFFIX}"
        options = {
            "policy": "fifo",
            "priority": priority,
            "cpu": cpu,
            "count": count + 1,
            "period-ns": period_us * 1000,
            "samples": recorded,
        }
        words = [str(word) for key, value in options.items() for word in (f"--{key}", value)]
        limit_s = _START_S + count * period_us / 1e6
        answer = document([stacks.program("probe_raw"), "wakeup", *words], limit_s)
        if answer["granted"]["policy"] != "fifo":
            raise no_real_time(f"the probe was granted {answer['granted']['policy']}")
        records = samples.read(recorded).records[1:]
        return np.asarray(records["received_ns"] - records["intended_ns"], dtype=np.int64)


def cyclictest_wakeups(count: int, period_us: int, priority: int, cpu: int) -> NDArray[np.int64]:
    """Wake-up latencies of rt-tests' cyclictest in ns, ascending, with the same settings."""
    options = f"-q -m -N -t1 -p{priority} -i{period_us} -a{cpu} -l{count} -h1000000"
    limit_s = _START_S + count * period_us / 1e6
    printed = output([system("cyclictest", "rt-tests"), *options.split()], limit_s)
    latencies: list[int] = []
    for line in printed.splitlines():
        if line and not line.startswith("#"):
            latency, times = line.split()[:2]
            latencies += [int(latency)] * int(times)
        elif line.startswith("# Histogram Overflows:"):  # above a millisecond: at the limit
            latencies += [1_000_000] * int(line.split(":")[1].split()[0])
    return np.asarray(latencies, dtype=np.int64)
