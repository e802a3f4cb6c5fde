# SPDX-License-Identifier: Apache-2.0
"""cyclictest as a probe keeps the contract also where it does not come to its end."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import numpy as np
import pytest
from probe_process import Probes, Samples

PERIOD_NS = 200_000


@pytest.fixture
def real_time() -> None:
    """cyclictest changes its policy in each case."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        pytest.skip("cyclictest needs the right to real-time priorities")
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


MANY = 100_000


def test_killed_alone_it_leaves_what_it_had_recorded(probes: Probes, real_time: None) -> None:
    words = ("--count", MANY, "--period-ns", PERIOD_NS, "--time-limit-ns", 600 * 10**9)
    running = probes.start("cyclictest", "wakeup", *words)
    running.wait_for_records(200)
    running.process.send_signal(signal.SIGKILL)
    assert running.end() == -signal.SIGKILL
    samples = running.recorded()
    assert samples.capacity == MANY
    assert samples.count >= 200
    assert samples.records["sequence"].tolist() == list(range(samples.count))
    assert (np.diff(samples.records["intended"]) == PERIOD_NS).all()
    assert (samples.records["received"] >= samples.records["intended"]).all()


def test_stopped_it_keeps_every_sample_that_cyclictest_took(
    probes: Probes, real_time: None
) -> None:
    words = ("--count", MANY, "--period-ns", PERIOD_NS, "--time-limit-ns", 600 * 10**9)
    running = probes.start("cyclictest", "wakeup", *words)
    running.wait_for_records(200)
    running.process.send_signal(signal.SIGTERM)
    assert running.end() == 0, running.stderr
    document, samples = running.document(), running.recorded()
    assert document["status"] == "stopped"
    assert document["received"] == document["sent"] == samples.count >= 200


def test_several_threads_have_a_file_and_a_period_each(
    probes: Probes, tmp_path: Path, real_time: None
) -> None:
    files = [tmp_path / f"{thread}.taktsamples" for thread in range(3)]
    words = ["--threads", 3, "--distance-ns", 2_000_000, "--period-ns", 2_000_000, "--count", 90]
    for file in files:
        words += ["--samples", file]
    running = probes.start("cyclictest", "wakeup", *words, record=False)
    assert running.end() == 0, running.stderr
    document = running.document()
    assert document["status"] == "complete"
    assert document["received"] == document["sent"] == 90 + 45 + 30
    for thread, (file, count) in enumerate(zip(files, (90, 45, 30), strict=True)):
        samples = Samples.read(file)
        assert (samples.capacity, samples.count) == (count, count)
        assert (np.diff(samples.records["intended"]) == 2_000_000 * (thread + 1)).all()
        assert (samples.records["received"] >= samples.records["intended"]).all()


@pytest.mark.parametrize(
    "words",
    [
        ("--threads", 0),
        ("--threads", 2, "--distance-ns", 1500),
        ("--threads", 2, "--samples", "one"),
    ],
)
def test_threads_that_cannot_be_are_refused(probes: Probes, words: tuple[object, ...]) -> None:
    done = probes.ask("cyclictest", "wakeup", *words)
    assert done.returncode == 2
    assert str(words[-2]) in done.stderr


def test_fewer_samples_than_asked_for_are_no_complete_measurement(
    probes: Probes, tmp_path: Path
) -> None:
    early = tmp_path / "cyclictest"
    early.write_text('#!/bin/sh\nfor i in 0 1 2; do echo "  0: $i: 5"; done\n')
    early.chmod(early.stat().st_mode | stat.S_IXUSR)
    probes.environment["PATH"] = f"{tmp_path}{os.pathsep}{probes.environment['PATH']}"
    running = probes.start("cyclictest", "wakeup", "--count", 10)
    assert running.end() == 1
    document = running.document()
    assert document["status"] == "failed"
    assert "3 of 10" in document["error"]["what"]
    assert running.recorded().count == 3


def test_without_the_right_to_real_time_priorities_it_says_what_to_do(
    probes: Probes, tmp_path: Path
) -> None:
    refused = tmp_path / "cyclictest"
    words = (
        "Unable to change scheduling policy!\\nProbably missing capabilities, either run as root"
    )
    refused.write_text(f"#!/bin/sh\nprintf '{words}' >&2\nexit 1\n")
    refused.chmod(0o755)
    probes.environment["PATH"] = f"{tmp_path}{os.pathsep}{probes.environment['PATH']}"
    running = probes.start("cyclictest", "wakeup", "--count", 10)
    assert running.end() == 1
    error = running.document()["error"]
    assert "lacks the right to real-time priorities" in error["what"]
    assert "rtprio 98" in error["fix"]


def test_no_room_for_the_samples_is_reported_before_the_measurement(probes: Probes) -> None:
    running = probes.start("cyclictest", "wakeup", "--count", 10**15)
    assert running.end() == 1
    assert "no room" in running.document()["error"]["what"]
