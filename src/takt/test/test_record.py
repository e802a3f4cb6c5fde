# SPDX-License-Identifier: Apache-2.0
"""takt record: what an unchanged program did is in its recordings, however it ended."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded_programs import LIBRARY, PLAYED, record

from takt.errors import TaktError
from takt.processes.preload import preloaded
from takt.schedule.model.from_ros2 import observed
from takt.schedule.record import run
from takt.schedule.ros2 import control, recordings


def callbacks(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["callback"]: one for one in document["callbacks"]}


@pytest.mark.parametrize("way", ["plain", "intra"])
def test_nodes_callbacks_and_their_calls_are_recorded(tmp_path: Path, way: str) -> None:
    document = record(tmp_path / "out", PLAYED, way)
    assert document["exit"] == 0
    (process,) = document["processes"]
    assert process["nodes"] == ["/talker", "/listener"]
    assert process["dropped"] == 0
    assert process["program"].endswith(f"played_events {way}")
    timer, subscription = (
        callbacks(document)[name] for name in ("talker.timer0", "listener.subscription:/chatter")
    )
    assert (timer["calls"], timer["period_ms"]) == (20, 10.0)
    assert subscription["calls"] == 20
    assert timer["longest_us"] > subscription["median_us"] > 0
    (file,) = (tmp_path / "out").glob("*.taktrecord")
    assert file.stat().st_size == process["bytes"] < 1 << 20  # reserved space is given back


def test_what_the_program_prints_stands_beside_the_document(tmp_path: Path) -> None:
    document = record(tmp_path / "out", "sh", "-c", f"echo '{{mine}}'; exec {PLAYED}")
    assert document["exit"] == 0
    assert document["processes"]
    assert "{mine}" in document["stderr"]


def test_a_recording_becomes_an_application(tmp_path: Path) -> None:
    assert record(tmp_path / "out", PLAYED)["exit"] == 0
    out = tmp_path / "seen.app.yaml"
    command = [sys.executable, "-m", "takt", "model", str(tmp_path / "out"), "-o", str(out)]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    assert "a recording of takt record" in document["source"]
    assert {one["callback"]: one["jobs"] for one in document["callbacks"]} == {
        "talker.timer0": 20,
        "listener.subscription_chatter": 20,
    }
    text = out.read_text(encoding="utf-8")
    assert "timer0: {timer: 10ms" in text
    assert "on: chatter" in text
    assert "chatter: {depth: 7}" in text
    assert "(CPU time)" in text


def test_each_thread_has_its_own_calls(tmp_path: Path) -> None:
    document = record(tmp_path / "out", PLAYED, "threads")
    assert {one["callback"]: one["calls"] for one in document["callbacks"]} == {
        f"talker.timer{i}": 500 for i in range(4)
    }
    events = list(recordings.events(tmp_path / "out"))
    assert [one.time for one in events] == sorted(one.time for one in events)
    starts = [one for one in events if one.name == "ros2:callback_start"]
    assert len({one.fields["vtid"] for one in starts}) == 4


def test_a_killed_program_keeps_what_it_did(tmp_path: Path) -> None:
    document = record(tmp_path / "out", PLAYED, "killed")
    assert document["exit"] == 128 + signal.SIGKILL
    assert callbacks(document)["talker.timer0"]["calls"] == 20


def test_a_forked_child_has_a_recording_of_its_own(tmp_path: Path) -> None:
    document = record(tmp_path / "out", PLAYED, "fork")
    assert document["exit"] == 0
    assert len({one["process"] for one in document["processes"]}) == 2
    assert sorted(one["calls"] for one in document["callbacks"] if "timer" in one["callback"]) == [
        5,
        20,
    ]


def test_what_a_recorded_program_becomes_has_a_recording_of_its_own(tmp_path: Path) -> None:
    document = record(tmp_path / "out", PLAYED, "exec")
    assert document["exit"] == 0
    assert len({one["process"] for one in document["processes"]}) == 1
    words = [one["program"].rsplit(" ", 1)[-1] for one in document["processes"]]
    assert words == ["exec", "plain"]


def test_the_calls_are_passed_on_to_the_next_tracetools(tmp_path: Path) -> None:
    """A library behind the recorder counts them, as LTTng's tracetools would record them."""
    source, library = tmp_path / "counting.c", tmp_path / "libcounting.so"
    source.write_text(
        "#include <stdbool.h>\n#include <stdio.h>\nstatic int starts, periods;\n"
        "void ros_trace_callback_start(const void *one, bool intra) { starts += one && !intra; }\n"
        "void ros_trace_rcl_timer_init(const void *one, long long period) {\n"
        "  periods += one && period == 10000000;\n}\n"
        "__attribute__((destructor)) static void say(void) {\n"
        '  if (starts) fprintf(stderr, "counted %d %d\\n", starts, periods);\n}\n',
        encoding="utf-8",
    )
    compiler = shutil.which("cc") or pytest.skip("there is no compiler")
    command = [compiler, "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    script = f"LD_PRELOAD=$LD_PRELOAD:{library} {PLAYED} plain"
    document = record(tmp_path / "out", "bash", "-c", script)
    assert "counted 40 1" in document["stderr"]
    assert callbacks(document)["talker.timer0"]["calls"] == 20


def test_programs_that_a_shell_starts_or_becomes_are_recorded(tmp_path: Path) -> None:
    script = f"{PLAYED} plain & {PLAYED} plain; wait; exec {PLAYED} plain"
    document = record(tmp_path / "out", "bash", "-c", script)
    assert document["exit"] == 0
    assert len(document["processes"]) == 3
    assert not any("bash" in one["program"] for one in document["processes"])


def test_what_a_full_recording_lacks_is_counted(tmp_path: Path) -> None:
    document = record(tmp_path / "out", PLAYED, "many", options=("--size", "1MiB"))
    (process,) = document["processes"]
    assert process["dropped"] > 100_000
    assert process["events"] + process["dropped"] > 200_000
    assert "events are missing" in document["stderr"]
    assert callbacks(document)["talker.timer0"]["calls"] > 20


def test_two_hundred_processes_at_once_have_a_recording_each(tmp_path: Path) -> None:
    script = f"for i in $(seq 200); do {PLAYED} & done; wait"
    document = record(tmp_path / "out", "bash", "-c", script, options=("--size", "64KiB"))
    assert document["exit"] == 0
    assert len({one["process"] for one in document["processes"]}) == 200
    assert all(one["nodes"] == ["/talker", "/listener"] for one in document["processes"])
    assert sum(one["dropped"] for one in document["processes"]) == 0
    assert {one["calls"] for one in document["callbacks"]} == {20}
    assert len(document["callbacks"]) == 400


def test_a_program_without_ros_2_is_no_recording(tmp_path: Path) -> None:
    document = record(tmp_path / "out", "true")
    assert document["exit"] == 1
    assert "nothing was recorded" in document["stderr"]
    assert "interrupts are not recorded" not in document["stderr"]  # nor is anything else
    assert not (tmp_path / "out").exists()  # the next try may have the same name


def test_space_of_a_process_that_nobody_waited_for_is_given_back(tmp_path: Path) -> None:
    control.create(tmp_path, on=True)
    environment = preloaded(LIBRARY) | {"TAKT_RECORD_FOLDER": str(tmp_path)}
    with subprocess.Popen([str(PLAYED)], env=environment) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # ended, and not yet gone
        (file,) = tmp_path.glob("*.taktrecord")
        assert file.stat().st_size == run.How.size
        with pytest.raises(TaktError, match="no process of this recording is running"):
            run.attach(tmp_path, 0.1, lambda: None)
        run.shorten(tmp_path)
        assert file.stat().st_size < 1 << 20


def test_the_exit_code_is_that_of_the_command(tmp_path: Path) -> None:
    script = f"{PLAYED}; exit 7"
    assert record(tmp_path / "out", "bash", "-c", script)["exit"] == 7


def static_program(folder: Path) -> Path:
    source = folder / "static.c"
    source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    binary = folder / "static"
    compiler = shutil.which("cc") or pytest.skip("there is no compiler")
    if subprocess.run(
        [compiler, "-static", str(source), "-o", str(binary)], check=False
    ).returncode:
        pytest.skip("there is no static C library")
    return binary


def test_programs_that_cannot_be_recorded_are_refused_with_the_reason(tmp_path: Path) -> None:
    with_rights = tmp_path / "with_rights"
    shutil.copy(PLAYED, with_rights)
    with_rights.chmod(0o4755)
    for command, words in (
        (static_program(tmp_path), "statically linked"),
        (with_rights, "ignores LD_PRELOAD"),
        (Path("no-such-program"), "no such program"),
    ):
        document = record(tmp_path / "out", command)
        assert document["exit"] == 2
        assert words in document["stderr"]
        assert not (tmp_path / "out").exists()


def test_a_folder_with_files_and_a_wrong_size_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x", encoding="utf-8")
    assert "not empty" in record(tmp_path, PLAYED)["stderr"]
    assert record(tmp_path / "out", PLAYED, options=("--size", "5"))["exit"] == 2


def test_a_disk_without_space_does_not_end_the_program(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    environment = {
        **os.environ,
        "LD_PRELOAD": str(LIBRARY),
        "TAKT_RECORD_FOLDER": str(tmp_path / "file" / "none"),
    }
    done = subprocess.run([PLAYED], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "nothing of process" in done.stderr


def test_a_disk_that_becomes_full_ends_no_program_and_keeps_what_it_has(
    disk: Callable[[str], Path],
) -> None:
    folder = disk("300k") / "out"
    # The first two take what there is, by halves; nothing is left for the third.
    script = f"for i in 1 2 3; do {PLAYED} many || exit 9; done"
    document = record(folder, "bash", "-c", script)
    assert document["exit"] == 0
    assert "nothing of process" in document["stderr"]
    assert "the disk has no 64 KiB for it" in document["stderr"]
    assert 1 <= len(document["processes"]) <= 2
    for process in document["processes"]:
        assert process["events"] > 1000
        assert process["dropped"] > 100_000
    assert callbacks(document)["talker.timer0"]["calls"] > 20


def test_a_ring_keeps_names_and_the_newest_events_of_a_killed_program(tmp_path: Path) -> None:
    script = f"{PLAYED} many; exec {PLAYED} many-killed"
    options = ("--ring", "--size", "1MiB")
    document = record(tmp_path / "out", "bash", "-c", script, options=options)
    assert document["exit"] == 128 + signal.SIGKILL
    assert "older events were overwritten" in document["stderr"]
    for process in document["processes"]:
        assert process["nodes"] == ["/talker", "/listener"]
        assert 10_000 < process["events"] < 30_000
        assert process["dropped"] == 0
    for recording in recordings.recordings(tmp_path / "out"):
        found = list(recordings.of(recording))
        calls = [one for one in found if one.name == "ros2:callback_start"]
        names = [one for one in found if one.name.endswith("_init")]
        # None of the first calls is left, and the last ones follow each other without a gap.
        assert calls[0].time > max(one.time for one in names)
        assert len(calls) > 5000
        assert [one.time for one in calls] == sorted(one.time for one in calls)


def damaged(tmp_path: Path, change: Any) -> str:
    assert record(tmp_path / "out", PLAYED)["exit"] == 0
    (file,) = (tmp_path / "out").glob("*.taktrecord")
    data = bytearray(file.read_bytes())
    change(data)
    file.write_bytes(data)
    command = [sys.executable, "-m", "takt", "model", str(tmp_path / "out"), "-o", "x.app.yaml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 2}
    return done.stderr


def first_event(data: bytearray) -> int:
    return 72 + int(struct.unpack_from("<I", data, 52)[0])


def cut(data: bytearray) -> None:
    del data[len(data) // 2 :]


def test_a_damaged_recording_is_named_and_a_cut_one_is_read(tmp_path: Path) -> None:
    for number, (change, words) in enumerate(
        (
            (lambda data: data.__setitem__(slice(0, 8), b"XXXXXXXX"), "begins otherwise"),
            (lambda data: data.__delitem__(slice(20, None)), "no header"),
            (lambda data: struct.pack_into("<I", data, first_event(data), 12345), "no event"),
            (lambda data: struct.pack_into("<H", data, first_event(data) + 4, 999), "name event"),
            (cut, "note:"),
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert words in damaged(folder, change), number


def test_an_event_that_was_being_written_is_left_out(tmp_path: Path) -> None:
    assert record(tmp_path / "out", PLAYED)["exit"] == 0
    (file,) = (tmp_path / "out").glob("*.taktrecord")
    whole = len(list(recordings.events(tmp_path / "out")))
    data = bytearray(file.read_bytes())
    begin = first_event(data)
    (size,) = struct.unpack_from("<I", data, begin)
    struct.pack_into("<IHHqqII", data, begin, size | 1 << 31, 0xFFFF, 0xFFFF, -1, -1, 7, 0)
    file.write_bytes(data)
    assert len(list(recordings.events(tmp_path / "out"))) == whole - 1


def test_random_damage_is_refused_or_read_but_no_other_error(tmp_path: Path) -> None:
    assert record(tmp_path / "out", PLAYED)["exit"] == 0
    (file,) = (tmp_path / "out").glob("*.taktrecord")
    whole = file.read_bytes()
    draw = random.Random(1)
    read = refused = 0
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(draw.choice((1, 8, 200))):
            data[draw.randrange(len(data))] = draw.randrange(256)
        file.write_bytes(data)
        try:
            observed(tmp_path / "out")
            read += 1
        except TaktError:
            refused += 1
    assert min(read, refused) > 50
