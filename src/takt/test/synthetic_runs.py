# SPDX-License-Identifier: Apache-2.0
"""Run folders with known content, for tests: realistic latencies without a measurement.

A series is a log-normal body around a median, slow drift and short bursts (autocorrelation, as a
scheduler's neighbours cause it), rare spikes, and lost samples. Equal arguments give equal folders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from takt.doctor.finding import Finding, Severity
from takt.measure.results.model import Cell, Note, ProbeResult, Run, Status, Verdict
from takt.measure.statistics.series import joined, read_series
from takt.measure.statistics.summary import summarise

STARTED = datetime(2026, 3, 2, 9, 30, tzinfo=timezone.utc)
DEADLINE_US = 1000.0
PERIOD_US = 1000.0
LOST_AFTER_US = 500_000.0


@dataclass(frozen=True)
class Point:
    """One point of the matrix and the shape of its latencies."""

    stack: str
    kind: str
    transport: str
    policy: str
    median_us: float
    payload_bytes: int = 0
    priority: int = 0
    spread: float = 0.10  # sigma of the log-normal body
    spikes: float = 0.001  # share of samples that a spike hits
    spike_us: float = 400.0  # mean of the spikes' exponential
    drift: float = 0.0  # sigma of the autocorrelated part, on the log scale
    between: float = 0.02  # sigma of the differences between repetitions, on the log scale
    losses: int = 0
    subscribers: int = 1
    fails: str | None = None
    denied: bool = False  # the system refused real-time scheduling
    frozen_us: tuple[float, float] = (0.0, 0.0)  # the probe is stopped for the first of the second
    busy: float = 0.0  # disturbances per second, of 20 ms in the mean, that stop the probe

    @property
    def key(self) -> str:
        """The name of the point, equal in every run."""
        payload = f"-{self.payload_bytes}B" if self.payload_bytes else ""
        scheduling = f"{self.policy}{self.priority}" if self.priority else self.policy
        return f"{self.stack}-{self.kind}-{self.transport}{payload}-{scheduling}"


def normal_and_real_time(point: Point, faster: float = 0.6) -> list[Point]:
    """Give the point twice: as it is, and under SCHED_FIFO with a quieter tail."""
    quiet = replace(
        point,
        policy="fifo",
        priority=80,
        median_us=point.median_us * faster,
        spread=point.spread * 0.6,
        spikes=point.spikes / 4,
        spike_us=point.spike_us / 6,
        losses=0,
    )
    return [point, quiet]


CHECK: list[Point] = [
    *normal_and_real_time(Point("raw", "wakeup", "nanosleep", "other", 58.0, spread=0.06)),
    *normal_and_real_time(Point("raw", "pingpong", "futex", "other", 21.0, spread=0.15)),
    *normal_and_real_time(Point("raw", "pingpong", "udp", "other", 62.0, 500, drift=0.1)),
    *normal_and_real_time(
        Point("rcl", "pingpong", "shm", "other", 145.0, 500, spikes=0.006, drift=0.15, losses=3)
    ),
    *normal_and_real_time(Point("rcl", "pingpong", "process", "other", 24.0, 500)),
    Point("rcl", "pubsub", "udp", "other", 96.0, 500, subscribers=2, spread=0.2),
]

FAILED = Point(
    "rcl",
    "pubsub",
    "udp",
    "fifo",
    96.0,
    500,
    priority=80,
    fails="The subscriber ended with signal 11 after 2.1 s.",
)


def latencies_us(point: Point, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw the latencies of one repetition in µs."""
    level = np.log(point.median_us) + rng.normal(0.0, point.between)
    log_latency = level + rng.normal(0.0, point.spread, count)
    if point.drift:
        log_latency += point.drift * autocorrelated(count, 0.98, rng)
    latency = np.exp(log_latency)
    hit = rng.random(count) < point.spikes
    latency[hit] += rng.exponential(point.spike_us, int(hit.sum()))
    if count:
        latency[0] *= 6.0  # the first sample pays for cold caches and discovery
    return np.asarray(latency, dtype=np.float64)


def autocorrelated(count: int, rho: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw a first-order autoregressive series of unit variance."""
    from scipy.signal import lfilter

    noise = rng.normal(0.0, np.sqrt(1.0 - rho * rho), count)
    if count:
        noise[0] = rng.normal()
    filtered = lfilter([1.0], [1.0, -rho], noise)
    return np.asarray(filtered, dtype=np.float64)


def write_samples(
    file: Path,
    latency_us: NDArray[np.float64],
    losses: int,
    rng: np.random.Generator,
    stops_us: Sequence[tuple[float, float]] = (),
) -> None:
    """Write one Parquet file as the tool does; from and to when the probe stops, from its start."""
    count = len(latency_us)
    start = 5_000_000_000
    intended = start + np.arange(count, dtype=np.int64) * round(PERIOD_US * 1000)
    sent = intended + rng.gamma(4.0, 900.0, count).astype(np.int64)
    for begin, end in stops_us:
        first, last = start + round(begin * 1000), start + round(end * 1000)
        sent[(sent >= first) & (sent < last)] = last
    received = sent + (latency_us * 1000).astype(np.int64)
    if losses:
        received[rng.choice(np.arange(1, count), losses, replace=False)] = 0
    file.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table(
        {
            "sequence": np.arange(count, dtype=np.uint64),
            "intended_ns": intended,
            "sent_ns": sent,
            "received_ns": received,
        }
    )
    parquet.write_table(table, file)


def stops(point: Point, count: int, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Draw from and to when the probe is stopped, in µs from its start."""
    whole = count * PERIOD_US
    length, period = point.frozen_us
    found = [(begin, begin + length) for begin in np.arange(0, whole, period)] if period else []
    if point.busy:
        begins = rng.uniform(0, whole, rng.poisson(point.busy * whole / 1e6))
        found += [(begin, begin + rng.exponential(20_000.0)) for begin in begins]
    return found


def write_cell(
    folder: Path, point: Point, repetition: int, order: int, count: int, rng: np.random.Generator
) -> Cell:
    """Write the samples of one cell and give its entry in ``run.json``."""
    cell = Cell(
        id=f"{point.key}-r{repetition}",
        key=point.key,
        repetition=repetition,
        order=order,
        status=Status.complete,
        stack=point.stack,
        kind=point.kind,
        transport=point.transport,
        payload_bytes=point.payload_bytes,
        scheduling=point.policy,
        priority=point.priority,
        cpu=[1] if point.policy != "other" else [],
        period_us=PERIOD_US,
        samples_requested=count,
        deadline_us=DEADLINE_US,
        lost_after_us=LOST_AFTER_US,
        subscribers=point.subscribers,
        reliability="reliable",
        depth=10,
        started=STARTED + timedelta(seconds=20 * order),
        seconds=count * PERIOD_US / 1e6,
        steal_seconds=round(0.004 * (1 + order % 3), 6),
        others_seconds=round(0.031 * (1 + order % 2), 6),
        probes=[_probe(point, count)],
    )
    if point.fails:
        cell.status = Status.failed
        cell.error = Note(
            what=point.fails,
            why="The middleware's shared memory was full.",
            fix="Remove left-over segments in /dev/shm and run again.",
        )
        return cell
    cell.samples = [
        f"samples/{cell.id}-{number}.parquet"
        if point.subscribers > 1
        else f"samples/{cell.id}.parquet"
        for number in range(point.subscribers)
    ]
    for name in cell.samples:
        latency, stopped = latencies_us(point, count, rng), stops(point, count, rng)
        write_samples(folder / name, latency, point.losses, rng, stopped)
    series = joined([read_series(folder / name) for name in cell.samples])
    statistics = summarise([series], DEADLINE_US)
    assert statistics is not None
    cell.statistics = statistics
    cell.count, cell.sent = statistics.latency.count + len(cell.samples), count
    cell.lost = len(series.lost_ns)
    cell.p50_us, cell.p99_us = statistics.latency.p50_us, statistics.latency.p99_us
    cell.p999_us, cell.max_us = statistics.latency.p999_us, statistics.latency.max_us
    return cell


def _probe(point: Point, count: int) -> ProbeResult:
    requested = {
        "policy": point.policy,
        "priority": point.priority,
        "cpu": [1] if point.policy != "other" else [],
    }
    granted = {**requested, "policy": "other", "priority": 0} if point.denied else requested
    granted = {
        **granted,
        "memory_locked": point.policy != "other",
        "timer_slack_ns": 50_000,
        "minor_faults": 0,
        "major_faults": 0,
        "voluntary_switches": count,
        "involuntary_switches": 3,
        "threads": [
            {
                "tid": 7,
                "name": "probe",
                "policy": point.policy,
                "priority": point.priority,
                "cpu": [1],
            }
        ],
    }
    return ProbeResult(
        role="both",
        status="complete",
        sent=count,
        received=count,
        requested=requested,
        granted=granted,
        notes=[DENIED] if point.denied else [],
    )


def write_run(
    folder: Path,
    points: Sequence[Point],
    repetitions: int = 3,
    count: int = 4000,
    seed: int = 1,
    name: str = "check",
) -> Run:
    """Write a whole run folder and return what its ``run.json`` says."""
    rng = np.random.default_rng(seed)
    places = rng.permutation(len(points) * repetitions)
    cells = [
        write_cell(
            folder, point, repetition, int(places[number * repetitions + repetition]), count, rng
        )
        for number, point in enumerate(points)
        for repetition in range(repetitions)
    ]
    failed = any(cell.status is Status.failed for cell in cells)
    run = Run(
        name=name,
        status=Status.partial if failed else Status.complete,
        started=STARTED,
        ended=STARTED + timedelta(seconds=20 * len(cells)),
        seed=seed,
        experiment={"name": name, "repetitions": repetitions, "samples": count, "seed": seed},
        machine=MACHINE,
        versions={"takt": "0.1.0", "ros": "kilted", "rmw": "rmw_fastrtps_cpp"},
        doctor=DOCTOR,
        cells=cells,
        verdict=VERDICT,
    )
    write_document(folder, run)
    return run


def write_document(folder: Path, run: Run) -> None:
    """Write (or replace) ``run.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(run.model_dump_json(indent=2) + "\n", encoding="utf-8")


DENIED = Note(
    what="SCHED_FIFO was refused",
    why="this user may not use real-time priorities",
    fix="add 'username - rtprio 98' to /etc/security/limits.conf and log in again",
)

MACHINE = {
    "kernel": "6.1.0-31-rt-amd64",
    "preemption": "PREEMPT_DYNAMIC voluntary",
    "cpu": {"model": "Example CPU 2.5 GHz", "online": 2, "governor": "unknown", "isolated": []},
    "memory_bytes": 25_276_510_208,
    "virtualised": "kvm",
    "clock_source": "tsc",
}

DOCTOR = [
    Finding(
        id="preemption",
        title="Kernel preemption model",
        severity=Severity.problem,
        value="voluntary",
        why="Kernel code delays a real-time thread until it yields: milliseconds are possible.",
        fix="Boot a PREEMPT_RT kernel: apt install linux-image-rt-amd64, then restart.",
    ),
    Finding(
        id="rt-throttling",
        title="Real-time throttling",
        severity=Severity.warning,
        value="950 ms of each second",
        why="A busy real-time thread is stopped for the last 50 ms of each second.",
        fix="sysctl kernel.sched_rt_runtime_us=-1",
    ),
    Finding(
        id="swap",
        title="Swap",
        severity=Severity.good,
        value="off",
        why="Memory that was swapped out costs milliseconds to bring back.",
    ),
    Finding(
        id="governor",
        title="CPU frequency governor",
        severity=Severity.unknown,
        value="not visible in this virtual machine",
        why="A governor that saves power lets the first work after a pause run slowly.",
        fix="On the host: cpupower frequency-set -g performance",
    ),
]

VERDICT = Verdict(
    level="fair",
    headline="Real-time scheduling works here, but this kernel cannot promise deadlines below 1 ms",
    reasons=[
        "Every response under SCHED_FIFO came within the deadline of 1 ms.",
        "The kernel is not PREEMPT_RT, so a delay of milliseconds can happen at any time.",
        "The hypervisor took CPU time away during the measurement.",
    ],
)
