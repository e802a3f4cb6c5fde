# SPDX-License-Identifier: Apache-2.0
"""A disk that fails, or whose quota is used up: which one it is, and that whole files are kept."""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import Takt
from synthetic_runs import Point, write_run
from test_writing import DOCKING, EXAMPLES, fill

from takt.documents import own, writing
from takt.errors import Failure
from takt.measure.history import store
from takt.measure.run.runner import _cannot_write
from takt.schedule.campaign import folder as campaigns
from takt.schedule.record import run as recorder

_SHUTDOWN = 0x8004587D  # EXT4_IOC_SHUTDOWN
_AT_ONCE = 2  # what is not on the disk yet never comes there


def broken(*_: object) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


class Disk:
    """A file system on a device that can fail: its blocks are a file of another one."""

    def __init__(self, folder: Path) -> None:
        self._below = folder / "below"
        self.place = folder / "disk"
        self._mounted: list[Path] = []
        for image, size, place in (
            (folder / "image", "48M", self._below),
            (self._below / "image", "32M", self.place),
        ):
            place.mkdir()
            for command in (
                ["truncate", "-s", size, image],
                ["mkfs.ext4", "-q", image],
                ["mount", "-o", "loop", image, place],
            ):
                done = subprocess.run([*map(str, command)], capture_output=True, text=True)
                if done.returncode:
                    self.close()
                    pytest.skip(f"no disk to break: {done.stderr}")
            self._mounted.append(place)

    def fail(self) -> None:
        """From now on each access to the device is an error."""
        below = os.open(self._below, os.O_RDONLY)
        fcntl.ioctl(below, _SHUTDOWN, struct.pack("I", _AT_ONCE))
        os.close(below)

    def close(self) -> None:
        for place in reversed(self._mounted):
            subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture
def breaking(tmp_path: Path) -> Iterator[Disk]:
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system takes root")
    disk = Disk(tmp_path)
    yield disk
    disk.close()


def test_a_file_that_does_not_come_onto_the_disk_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "document"
    writing.write_text(file, "before")
    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="Input/output error") as caught:
        writing.write_text(file, "after")
    assert file.read_text() == "before"
    with pytest.raises(OSError, match="Input/output error") as flushed:
        writing.flush(file)
    for error in (caught.value, flushed.value):
        failed = writing.failure(error)
        assert failed.where == str(file)
        assert failed.what.startswith("Input/output error on the file system at /")
        assert "dmesg" in (failed.fix or "")
        run = str(_cannot_write(error, tmp_path))
        assert f"{file}: Input/output error on the file system at /" in run
        assert f"takt run --resume {tmp_path}" in run


def test_a_history_on_a_broken_disk_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    there = store.History(tmp_path / "history.sqlite")
    with pytest.raises(Failure, match="Input/output error on the file system"), there._damage():
        fails()
    monkeypatch.setattr(sqlite3, "connect", fails)
    with pytest.raises(Failure, match="Input/output error on the file system"):
        store.History(tmp_path / "history.sqlite")


def test_a_table_that_the_disk_does_not_give_is_not_taken_for_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "cell-000000.parquet"
    table.write_bytes(b"PAR1 and no more")
    assert not campaigns._readable(table)
    monkeypatch.setattr(campaigns.parquet, "read_metadata", broken)
    with pytest.raises(OSError, match="Input/output error"):
        campaigns._readable(table)


def test_the_name_in_a_lock_is_on_the_disk_before_anything_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[bytes] = []
    monkeypatch.setattr(os, "fsync", lambda file: kept.append(os.pread(file, 100, 0)))
    with own.opened(tmp_path) as place:
        lock = place.lock("run.lock")
        assert lock is not None
        with lock:
            lock.write("takt-0-00000000\n")
    assert kept == [b"takt-0-00000000\n"]


@pytest.mark.parametrize(
    ("number", "free", "inodes", "said"),
    [
        (errno.ENOSPC, 3, 7, "12 of 400 KiB are free"),
        (errno.ENOSPC, 90, 7, "360 of 400 KiB are free; what was written needs more, or a quota"),
        (errno.ENOSPC, 90, 0, "all 50 inodes are used"),
        (errno.EDQUOT, 90, 7, "for this user: the quota is used up"),
    ],
)
def test_what_of_a_disk_is_used_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, free: int, inodes: int, said: str
) -> None:
    status = (4096, 4096, 100, free, free, 50, inodes, inodes, 0, 255)
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(status))
    failed = writing.failure(OSError(number, os.strerror(number), str(tmp_path / "file")))
    assert failed.what.startswith("no space left on the disk at /")
    assert said in failed.what


def test_without_inodes_a_command_says_so(takt: Takt, disk: Callable[[str], Path]) -> None:
    place = disk("1m,nr_inodes=2")
    fill(place, 512 << 10)
    done = takt("simulate", DOCKING, "--duration", "1s", "--trace", place / "new.takttrace")
    assert done.returncode == 1
    assert f"no space left on the disk at {place}: all 2 inodes are used" in done.stderr
    assert [one.name for one in place.iterdir()] == ["ballast"]


@pytest.mark.parametrize("what", ["pause", "flush"])
def test_a_recording_on_a_broken_disk_fails_when_its_command_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    library = tmp_path / "library.so"  # a program that loads none is recorded, too
    monkeypatch.setattr(recorder.stacks, "program", lambda *_: library)
    monkeypatch.setattr(recorder, "preloaded", lambda _: dict(os.environ))
    broken_at = {"pause": (recorder.control, "pause"), "flush": (os, "fsync")}[what]
    monkeypatch.setattr(*broken_at, broken)
    done = tmp_path / "done"
    with pytest.raises(Failure, match="Input/output error on the file system") as caught:
        recorder.run(["touch", str(done)], tmp_path / "out", recorder.How())
    assert done.exists()
    assert str(tmp_path / "out") in str(caught.value)
    assert "the command ended (exit code 0); takt trace" in str(caught.value)


@pytest.mark.parametrize(
    "words",
    [
        ["simulate", DOCKING, "--duration", "20s", "--trace", "DISK/file"],
        ["generate", EXAMPLES / "whole_space.json", "--repeat", "50", "--out", "DISK/file"],
        ["campaign", EXAMPLES / "parameters.json", "--do", "analyse", "--out", "DISK/file"],
        ["report", "DISK/run"],
        ["history", "DISK/run", "--store", "DISK/history.sqlite"],
    ],
    ids=lambda words: words[0],
)
def test_a_disk_that_fails_is_named(takt: Takt, breaking: Disk, words: list[str | Path]) -> None:
    write_run(breaking.place / "run", [Point("rcl", "pingpong", "shm", "fifo", 60.0)], count=50)
    subprocess.run(["sync", "-f", str(breaking.place)], check=True)
    breaking.fail()
    done = takt(*(str(one).replace("DISK", str(breaking.place)) for one in words))
    assert done.returncode == 1, done.stderr
    assert "Input/output error" in done.stderr
    assert str(breaking.place) in done.stderr
    assert "fix:" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_campaign_on_a_broken_disk_says_how_it_goes_on(
    takt: Takt, disk: Callable[[str], Path]
) -> None:
    place = disk("64k")
    words = ["campaign", EXAMPLES / "parameters.json", "--do", "analyse", "--repeat", "2"]
    words += ["--workers", "1", "--out", place / "campaign"]
    fill(place, 8192)
    done = takt(*words)
    assert done.returncode == 1, done.stderr
    assert f"no space left on the disk at {place}" in done.stderr
    assert "repeat the same command to continue" in done.stderr
    (place / "ballast").unlink()
    done = takt(*words)
    assert done.returncode == 0, done.stderr
