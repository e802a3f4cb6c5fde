# SPDX-License-Identifier: Apache-2.0
"""``takt bench record-ros``: what recording adds, from known figures, and that it records."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from takt.bench import BENCHES
from takt.bench.record_ros import EVENTS, LIBRARY
from takt.errors import Failure
from takt.network import stacks
from takt.processes.preload import preloaded
from takt.schedule.ros2.recordings import events, recordings

CALLS = 100_000  # of the real program


def installed(folder: Path, stop_ns: int, ring_ns: int) -> None:
    """A program that takes 21 ns without a recorder, and a library that is none."""
    program = folder / "lib" / "takt_record" / "bench_record_ros"
    program.parent.mkdir(parents=True)
    program.with_name(LIBRARY).write_text("not a library: the linker passes over it")
    program.write_text(
        f"#!/bin/sh\ncase $TAKT_RECORD_FULL in stop) ns={stop_ns};; ring) ns={ring_ns};; "
        '*) ns=21;; esac\necho "{\\"callback_ns\\": $ns}"\n'
    )
    program.chmod(0o755)


def bars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, bool]]:
    monkeypatch.setenv("TAKT_PREFIX", str(tmp_path))
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")
    bench = BENCHES["record-ros"](3, 0, lambda _: None)
    return [(bar.value, bar.holds) for bar in bench.bars]


def test_what_a_callback_takes_without_a_recorder_is_not_its_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, 721, 371)
    assert bars(tmp_path, monkeypatch) == [
        (700, False),
        (100, True),
        (350, True),
        (50, True),
    ]


def test_an_event_that_costs_more_than_one_of_lttng_does_not_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, 21 + 159 * EVENTS, 21 + 157 * EVENTS)
    assert [holds for _, holds in bars(tmp_path, monkeypatch)][1::2] == [False, True]


def test_without_the_recorder_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Failure, match=f"{LIBRARY} is not installed"):
        bars(tmp_path, monkeypatch)


@pytest.mark.parametrize("full", ["stop", "ring"])
def test_the_program_that_is_measured_records_every_event(tmp_path: Path, full: str) -> None:
    environment = preloaded(stacks.program(LIBRARY)) | {
        "TAKT_RECORD_FOLDER": str(tmp_path),
        "TAKT_RECORD_BYTES": str(64 << 20),
        "TAKT_RECORD_FULL": full,
    }
    cpu = min(os.sched_getaffinity(0))
    program = stacks.program("bench_record_ros")
    subprocess.run([program, str(cpu)], env=environment, check=True, stdout=subprocess.DEVNULL)
    (recording,) = recordings(tmp_path)
    assert recording.dropped == 0
    names = Counter(event.name for event in events(tmp_path))
    assert names.pop("ros2:rcl_init") == 1
    assert list(names.values()) == [CALLS] * EVENTS
