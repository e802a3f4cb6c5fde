# SPDX-License-Identifier: Apache-2.0
"""takt record --paused, --attach and --for: recordings that begin and end while programs run."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from recorded_programs import PLAYED, record, takt

from takt.schedule.ros2 import control, recordings


def started(folder: Path, *options: str) -> subprocess.Popen[str]:
    """A program that runs until it is ended, and its recorder."""
    command = [sys.executable, "-m", "takt", "record", "-o", str(folder), "--json", *options]
    process = subprocess.Popen(
        [*command, "--", str(PLAYED), "long"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not recordings.begun(folder):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    return process


def calls(folder: Path) -> int:
    return sum(one.name == "ros2:callback_start" for one in recordings.events(folder))


def ended(process: subprocess.Popen[str]) -> dict[str, Any]:
    process.terminate()
    out, error = process.communicate(timeout=120)
    assert out, error
    document: dict[str, Any] = json.loads(out)
    return document


def test_recording_begins_and_ends_while_the_program_runs(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    process = started(folder, "--paused")
    assert calls(folder) == 0
    counts = []
    for _ in range(2):
        attached = takt("record", "--attach", folder, "--for", "500ms", "--json")
        assert attached.returncode == 0
        document = json.loads(attached.stdout)
        assert process.poll() is None
        counts.append(calls(folder))
    assert 0 < counts[0] < counts[1]
    assert document["processes"][0]["nodes"] == ["/talker", "/listener"]
    found = ended(process)
    assert found["exit_code"] == 128 + signal.SIGTERM
    # Nothing was recorded after the second stretch but the calls that were under way.
    assert calls(folder) <= counts[1] + 1
    begins = control.stretches(folder)
    assert len(begins) == 2
    assert all(end is not None and begin < end for begin, end in begins)
    assert control.is_on(folder) is False


def test_the_command_ends_when_its_time_is_over(tmp_path: Path) -> None:
    document = record(tmp_path / "out", PLAYED, "long", options=("--for", "300ms"))
    assert (document["exit"], document["exit_code"]) == (0, 0)
    assert not any("SIGINT" in note for note in document["notes"])
    (process,) = document["processes"]
    assert not Path(f"/proc/{process['process']}").exists()
    assert calls(tmp_path / "out") > 0
    ((begin, end),) = control.stretches(tmp_path / "out")
    assert end is not None
    assert end - begin >= 200_000_000  # from just before its start
    (file,) = (tmp_path / "out").glob("*.taktrecord")
    assert file.stat().st_size == process["bytes"] < 1 << 20


def test_a_command_that_ends_before_its_time_has_its_own_exit_code(tmp_path: Path) -> None:
    script = f"{PLAYED}; exit 7"
    document = record(tmp_path / "out", "bash", "-c", script, options=("--for", "1h"))
    assert (document["exit"], document["exit_code"]) == (7, 7)


def test_only_running_recordings_that_pause_are_resumed(tmp_path: Path) -> None:
    process = started(tmp_path / "out")
    running = takt("record", "--attach", tmp_path / "out", "--for", "1ms")
    assert (running.returncode, "this recording is running" in running.stderr) == (2, True)
    ended(process)
    gone = takt("record", "--attach", tmp_path / "out", "--for", "1ms")
    assert (gone.returncode, "no process of this recording" in gone.stderr) == (2, True)
    (tmp_path / "other").mkdir()
    assert takt("record", "--attach", tmp_path / "other").returncode == 2
    nowhere = takt("record", "--attach", tmp_path / "nosuch")
    assert (nowhere.returncode, "no such folder" in nowhere.stderr) == (2, True)
    assert takt("record", "--attach", tmp_path / "out", "--", "true").returncode == 2
    assert takt("record").returncode == 2


def test_a_process_that_makes_its_file_is_not_there_yet(tmp_path: Path) -> None:
    for name, content in (("none", b""), ("reserved", bytes(1 << 16))):
        (tmp_path / f"{name}.1.taktrecord").write_bytes(content)
    assert recordings.recordings(tmp_path) == []
    control.create(tmp_path, on=False)
    attached = takt("record", "--attach", tmp_path, "--for", "1ms")
    assert (attached.returncode, "no process of this recording" in attached.stderr) == (2, True)
