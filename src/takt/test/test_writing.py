# SPDX-License-Identifier: Apache-2.0
"""A full disk is an error that names the disk, and nothing that was whole before is gone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Takt
from synthetic_runs import Point, write_run

from takt.documents import writing
from takt.errors import Failure
from takt.network import stacks
from takt.processes.supervision import End, Program
from takt.schedule.execution.execute import _raise_failure
from takt.schedule.trace import file as traces

EXAMPLES = Path(__file__).parents[3] / "examples"
DOCKING = EXAMPLES / "docking.app.yaml"


def fill(disk: Path, leave: int = 0) -> None:
    """Leaves so many bytes free, in whole pages."""
    size = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    (disk / "ballast").write_bytes(bytes(max(0, size - leave)))


def test_a_write_that_fails_leaves_the_file_of_before(disk: Callable[[str], Path]) -> None:
    place = disk("256k")
    file = place / "document"
    writing.write_text(file, "before")
    fill(place)
    with pytest.raises(OSError, match="No space left") as caught:
        writing.write_text(file, "x" * 100_000)
    printed = str(writing.failure(caught.value))
    assert str(file) in printed
    assert f"the disk at {place}" in printed
    assert file.read_text() == "before"
    assert sorted(one.name for one in place.iterdir()) == ["ballast", "document"]


def test_a_link_stays_a_link_and_a_device_a_device(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("before")
    link.symlink_to(target)
    writing.write_text(link, "after")
    assert link.is_symlink()
    assert target.read_text() == "after"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with writing.replacing(pipe) as where, where.open("w") as file:
        file.write("through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    "words",
    [
        ["simulate", DOCKING, "--duration", "20s", "--trace", "DISK/file"],
        ["trace", "TRACE", "--perfetto", "DISK/file"],
        ["trace", "TRACE", "--perfetto", "DISK/file.gz"],
        ["trace", "TRACE", "--parquet", "DISK/file"],
        ["explain", "TRACE", "--html", "DISK/file"],
        ["generate", EXAMPLES / "whole_space.json", "--repeat", "50", "--out", "DISK/file"],
    ],
    ids=lambda words: words[0] + "".join(one for one in map(str, words) if one[:2] == "--"),
)
def test_a_full_disk_is_a_failure_that_names_it(
    takt: Takt, tmp_path: Path, disk: Callable[[str], Path], words: list[str | Path]
) -> None:
    trace = tmp_path / "small.takttrace"
    assert takt("simulate", DOCKING, "--duration", "20s", "--trace", trace).returncode in {0, 1}
    place = disk("64k")
    if "--out" not in words:
        kept = place / str(words[-1]).removeprefix("DISK/")
        if "--parquet" in words:
            kept.mkdir()
            kept /= "events.parquet"
        kept.write_text("before")
    fill(place, 8192)
    printed = [str(one).replace("DISK", str(place)).replace("TRACE", str(trace)) for one in words]
    done = takt(*printed)
    assert done.returncode == 1, done.stderr
    assert f"no space left on the disk at {place}" in done.stderr
    assert "Traceback" not in done.stderr
    if "--out" not in words:
        assert kept.read_text() == "before"


def test_a_reproduction_on_a_full_disk_ends_at_once_and_says_how_it_goes_on(
    takt: Takt, disk: Callable[[str], Path]
) -> None:
    place = disk("64k")
    done = takt("reproduce", "krukiewicz2021", "--scale", "0.002", "--out", place / "r")
    assert done.returncode == 1
    assert f"{place / 'r'}: no space left on the disk at {place}" in done.stderr
    assert "the same command with --out continues" in done.stderr
    assert sorted(file.name for file in (place / "r").iterdir()) == ["scale.json"]


def test_standard_output_that_is_full_is_a_failure() -> None:
    for words in (["--json"], []):
        with Path("/dev/full").open("w") as full:
            command = [sys.executable, "-m", "takt", "analyse", str(DOCKING), *words]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1
        assert "standard output: No space left" in done.stderr
        assert "disk at" not in done.stderr  # it is on none
        assert "Traceback" not in done.stderr


def test_standard_output_on_a_full_disk_names_that_disk(disk: Callable[[str], Path]) -> None:
    place = disk("64k")
    fill(place)
    with (place / "answer.json").open("w") as answer:
        command = [sys.executable, "-m", "takt", "analyse", str(DOCKING), "--json"]
        done = subprocess.run(command, stdout=answer, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert f"no space left on the disk at {place}" in done.stderr


def test_a_report_on_a_full_disk_is_a_failure_that_names_it(
    takt: Takt, disk: Callable[[str], Path]
) -> None:
    place = disk("1m")
    point = Point("rcl", "pingpong", "shm", "fifo", 60.0, priority=80)
    write_run(place / "run", [point], repetitions=1, count=50)
    fill(place)
    done = takt("report", place / "run")
    assert done.returncode == 1
    assert f"no space left on the disk at {place}" in done.stderr
    assert not (place / "run" / "report.html").exists()


def test_a_table_that_cannot_be_ended_is_reported_once(takt: Takt, tmp_path: Path) -> None:
    trace, tables = tmp_path / "small.takttrace", tmp_path / "tables"
    assert takt("simulate", DOCKING, "--duration", "1s", "--trace", trace).returncode in {0, 1}
    tables.mkdir()
    (tables / "jobs.parquet").symlink_to("/dev/full")
    done = takt("trace", trace, "--parquet", tables)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["--json"], []])
def test_a_reader_that_goes_is_no_verdict(words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "takt", "analyse", str(DOCKING), *words]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize(
    ("words", "code"), [(["analyse", "none.app.yaml"], 2), (["mesure"], 141), (["tune", "-x"], 141)]
)
def test_errors_that_nobody_reads_keep_an_exit_code_that_is_documented(
    words: list[str], code: int
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-m", "takt", *words], stderr=writer)
    os.close(writer)
    assert done.returncode == code


@pytest.fixture
def description(tmp_path: Path) -> Path:
    """So much to trace that a small disk is soon full."""
    try:
        stacks.program("app_runner")
    except Failure:
        pytest.skip("app_runner is not installed")
    cpu = max(os.sched_getaffinity(0))
    callbacks = "".join(
        f"  n{i}: {{tick: {{timer: 1ms, wcet: 10us, priority: {9 + i}}}}}\n" for i in range(4)
    )
    path = tmp_path / "busy.app.yaml"
    path.write_text(f"cpus: [{cpu}]\nnodes:\n{callbacks}", encoding="utf-8")
    return path


def execute(description: Path, out: Path, approach: str) -> subprocess.CompletedProcess[str]:
    words = ["execute", str(description), "--approach", approach, "--duration", "1500ms"]
    command = [sys.executable, "-m", "takt", *words, "--out", str(out)]
    return subprocess.run(command, capture_output=True, text=True, timeout=150)


@pytest.mark.parametrize("approach", ["takt", "baseline1"])
def test_an_execution_on_a_full_disk_failed_and_keeps_the_trace_before(
    description: Path, disk: Callable[[str], Path], approach: str
) -> None:
    place = disk("1m")
    trace = place / f"busy.{approach}.takttrace"
    trace.write_bytes(b"TAKTTRC1 of before")
    fill(place, 64 << 10)
    done = execute(description, place, approach)
    assert done.returncode == 1, done.stdout
    assert str(place) in done.stderr
    assert "no space left" in done.stderr.lower()
    assert trace.read_bytes() == b"TAKTTRC1 of before"
    recorded = sorted(place.glob(f"{trace.name}.recording*"))
    assert recorded
    assert any(traces.read(one).events for one in recorded)


@pytest.mark.parametrize("approach", ["takt", "baseline1"])
def test_an_execution_without_shared_memory_names_it(
    description: Path, tmp_path: Path, approach: str
) -> None:
    enter = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs -o size=3m tmpfs /dev/shm && $*", ""]
    if subprocess.run([*enter, "true"], capture_output=True).returncode:
        pytest.skip("this system does not allow a /dev/shm of one's own")
    words = ["execute", description, "--approach", approach, "--out", tmp_path]
    command = [*enter, sys.executable, "-m", "takt", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout
    assert "free space in /dev/shm" in done.stderr


@pytest.mark.parametrize("end", [End.died, End.timeout])
def test_what_lacked_shared_memory_is_named_however_much_was_said_after_it(
    tmp_path: Path, end: End
) -> None:
    runner = Program("runner", [], tmp_path / "result", tmp_path / "stderr")
    said = "\x1b[36m[RTPS_TRANSPORT_SHM Error]\x1b[0m Failed to create segment\n"
    more = "n2: cannot create a node (name 'n2', namespace '')\n" * 60
    runner.stderr.write_text(said + more, encoding="utf-8")
    with pytest.raises(Failure) as printed:
        _raise_failure(end, runner, tmp_path / "busy.takttrace", [])
    assert "free space in /dev/shm" in (printed.value.fix or "")
    runner.stderr.write_text(more, encoding="utf-8")
    with pytest.raises(Failure) as printed:
        _raise_failure(end, runner, tmp_path / "busy.takttrace", [])
    assert "/dev/shm" not in (printed.value.fix or "")


def test_a_new_execution_takes_the_place_of_the_one_before(
    description: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    for _ in range(2):
        done = execute(description, out, "takt")
        assert done.returncode == 0, done.stderr
        assert [one.name for one in out.iterdir()] == ["busy.takt.takttrace"]


def test_the_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    file = tmp_path / "none" / "page.html"
    with pytest.raises(OSError, match="No such file") as caught:
        writing.write_text(file, "x")
    found = writing.failure(caught.value)
    assert (found.what, found.where) == (f"the folder {file.parent} does not exist", str(file))
    assert not isinstance(found, Failure)  # wrong use: exit code 2
