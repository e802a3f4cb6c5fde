# SPDX-License-Identifier: Apache-2.0
"""The trace of a real executor: an example of takt_rcl, run here."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from takt.network import stacks
from takt.schedule.explain.jobs import Job, job_of
from takt.schedule.trace import file as files
from takt.schedule.trace.file import Step, replay

PERIOD = 100_000_000


@dataclass
class Kept:
    slices: list[tuple[int, int]] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    preemptions: dict[int, int] = field(default_factory=dict)  # by serial
    last: int = 0

    def take(self, step: Step) -> None:
        times = step.events["time"].tolist()
        assert times == sorted(times)
        assert not times or times[0] >= self.last
        self.last = times[-1] if times else self.last
        jobs, slices = step.jobs, step.slices
        self.slices += zip(slices["begin"].tolist(), slices["end"].tolist(), strict=True)
        self.jobs += [job_of(jobs, row) for row in range(len(jobs["task"]))]
        self.preemptions |= zip(jobs["serial"].tolist(), jobs["preemptions"].tolist(), strict=True)


@pytest.fixture
def trace(tmp_path: Path, ros_domain: None) -> files.Trace:
    """Of ``priorities``: a slow task that an urgent one interrupts in every period."""
    for prefix in stacks.prefixes():
        example = prefix / "lib" / "takt_rcl" / "priorities"
        if example.exists():
            break
    else:
        pytest.skip("takt_rcl's example priorities is not installed")
    path = tmp_path / "priorities.takttrace"
    subprocess.run([example, path], check=True, timeout=150, stdout=subprocess.DEVNULL)
    return files.read(path)


def test_a_real_trace_reports_who_interrupted_whom(trace: files.Trace) -> None:
    kept = Kept()
    replay(trace, [kept])
    assert trace.closed_in_order
    assert (trace.lost, trace.unknown) == (0, 0)
    by_name = {trace.names.task(job.task): [] for job in kept.jobs}
    for job in kept.jobs:
        by_name[trace.names.task(job.task)].append(job)
    slow, urgent = by_name["slow"], by_name["urgent"]
    assert urgent[-1].job == 2
    for task in (slow, urgent):
        releases = [job.release for job in task]
        assert all((one - releases[0]) % PERIOD == 0 for one in releases)
        assert [job.job for job in task] == [(one - releases[0]) // PERIOD for one in releases]
        assert all(job.end is None or job.start >= job.release for job in task)
        assert all(job.deadline == job.release + PERIOD for job in task)
    if trace.names.not_granted():
        return  # without real-time priorities nobody need be interrupted
    for low, high in zip(slow, urgent, strict=True):
        assert kept.preemptions[low.serial] >= 1
        assert low.start < high.start < high.end < low.end
    for begin, end in kept.slices:
        assert begin < end
