# SPDX-License-Identifier: Apache-2.0
"""The folder in which the probes of one run record: in memory, locked while the run lives.

It is named after the run folder's ``run.lock``, and its ``owner.json`` names the run folder. The
kernel drops the lock when the tool dies, however it dies: a folder without a live lock belongs to
a dead run, and what it holds is still to be taken over (``takt run --resume``). Somebody who
outlives the tool watches over it from before it is made until it ends in order.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from takt.documents.writing import replacing
from takt.errors import Failure, TaktError
from takt.processes.recording import SUFFIX, progress
from takt.processes.watch import Watch

MEMORY = Path("/dev/shm")  # noqa: S108 - a tmpfs is what is wanted
ON_DISK = ".recording"  # in the run folder, where the memory has no room
LOADED = ".load"  # in the run folder, for a load's files: the memory is no disk
LOCK = "run.lock"
OWNER = "owner.json"
DOCUMENT = "run.json"  # of a run folder, which a resume goes on with
MAKING_S = 60.0  # longer than from the folder to the file that says whose it is
RESERVE_BYTES = 1 << 20  # for results, profiles and run.json


@dataclass
class Scratch:
    """The locked scratch folder of a live run."""

    folder: Path
    run_folder: Path
    run_id: str
    _locks: list[IO[str]]
    _watch: Watch | None = None

    def place_for(self, need: int) -> Path:
        """Where a recording of ``need`` bytes fits: memory, else the disk; Failure: nowhere."""
        spare = self.run_folder / ON_DISK
        if free_bytes(self.folder) >= need + RESERVE_BYTES:
            return self.folder
        if free_bytes(self.run_folder) >= 2 * need + RESERVE_BYTES:  # raw and Parquet
            spare.mkdir(exist_ok=True)
            return spare
        raise Failure(
            f"no space left: the recording takes {need >> 10} KiB, "
            f"{free_bytes(self.folder) >> 10} KiB are free in {self.folder.parent} and "
            f"{free_bytes(self.run_folder) >> 10} KiB in the results folder",
            where=str(self.run_folder),
            remedy="free space, then go on with: takt run --resume " + str(self.run_folder),
        )

    def release(self, *, keep: bool) -> None:
        """Ends the run; with ``keep`` the recordings stay for a resume, like after a kill."""
        if not keep:
            for lock in self._locks:
                Path(lock.name).unlink(missing_ok=True)
            shutil.rmtree(self.folder, ignore_errors=True)
            shutil.rmtree(self.run_folder / ON_DISK, ignore_errors=True)
            shutil.rmtree(self.run_folder / LOADED, ignore_errors=True)
        for lock in self._locks:
            lock.close()
        if self._watch is not None:
            self._watch.end()


@dataclass(frozen=True)
class Dead:
    """The scratch folder of a run that was killed."""

    folder: Path
    run_folder: Path
    recordings: list[Path]
    resumable: bool
    lent: bool = False  # its run is one of another machine, which had a role here

    @property
    def waits(self) -> bool:
        """Whether a resume, or at least a person, may still want it."""
        if not self.resumable:
            return False
        try:
            return bool(self.recordings) or (self.run_folder / DOCUMENT).is_file()
        except OSError:  # its folder may be another user's by now
            return False

    @property
    def named(self) -> bool:
        """Whether a resume of the run folder would be of this run."""
        with contextlib.suppress(OSError):
            named = (self.run_folder / LOCK).read_text(encoding="utf-8", errors="replace")
            return named.strip() == str(self.folder)
        return False

    def to_disk(self) -> bool:
        """Moves its recordings into the run folder, where a resume finds them, too, and removes it.

        False where they had to stay: no resume would take them over, or one is at it right now, or
        there is no room.
        """
        with contextlib.suppress(OSError):
            lock = _locked(self.run_folder / LOCK) if self.named else None
            if lock is None:
                return False
            with lock:
                spare = self.run_folder / ON_DISK
                for path in self.recordings:
                    spare.mkdir(exist_ok=True)
                    with replacing(spare / path.name) as temporary:
                        shutil.copyfile(path, temporary)
                self.remove()
                return True
        return False

    def remove(self) -> None:
        """Removes it, and the lock that names it."""
        self.remove_load()
        named = self.run_folder / LOCK
        with contextlib.suppress(OSError):
            if named.read_text(errors="replace").strip() == str(self.folder):
                named.unlink()
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.lent:
            with contextlib.suppress(OSError):  # not empty: something waits there
                self.run_folder.rmdir()

    def remove_load(self) -> None:
        """Removes what a load wrote, which nobody wants any more."""
        shutil.rmtree(self.run_folder / LOADED, ignore_errors=True)


def open_for(
    run_folder: Path, memory: Path = MEMORY, *, resumable: bool = True, lent: bool = False
) -> Scratch:
    """Locks a run folder and makes its scratch folder, or takes over that of its killed run.

    What is not ``resumable`` leaves nothing behind that anybody could go on with; ``lent`` is a
    folder on a machine that only has a role in the run.
    """
    run_folder = run_folder.resolve()  # a resume may come from another working folder
    folder = new = _new_folder(run_folder, memory)
    watch = Watch(new, run_folder, memory)
    lock: IO[str] | None = None
    try:
        lock = _locked(run_folder / LOCK)
        if lock is None:
            raise TaktError(
                "another takt is running this run right now",
                where=str(run_folder),
                remedy="wait for its end, or choose another folder",
            )
        known = lock.read().strip()
        folder = Path(known) if known else new
        lock.seek(0)
        lock.truncate()
        lock.write(f"{folder}\n")
        lock.flush()
        if not folder.is_dir():  # a new run, or the tmpfs went with a reboot
            folder.mkdir(mode=0o700, parents=True)
        inner = _own(folder, run_folder, resumable=resumable, lent=lent)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        if lock is not None:
            lock.close()
            unlock(run_folder)
        watch.end()
        raise
    return Scratch(folder, run_folder, folder.name.rsplit("-", 1)[-1], [lock, inner], watch)


@contextlib.contextmanager
def temporary(memory: Path = MEMORY) -> Iterator[Path]:
    """A scratch folder without a run, for as long as this is open."""
    folder = memory / f"takt-{os.getuid()}-{secrets.token_hex(4)}"
    watch = Watch(folder, folder, memory)
    try:
        folder.mkdir(mode=0o700)
        with _own(folder, folder, resumable=False):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        watch.end()


def dead_folders(memory: Path = MEMORY, of_dead: Path | None = None) -> Iterator[Dead]:
    """The scratch folders in memory whose runs are dead, each locked while it is looked at.

    ``of_dead`` is one more, wherever it is, whose run is known to be dead.
    """
    for folder in sorted({*memory.glob(f"takt-{os.getuid()}-*"), *filter(None, [of_dead])}):
        try:
            if folder.stat().st_uid != os.getuid():
                continue
            owner = _owner(folder, being_made=folder != of_dead)
            lock = _locked(folder / LOCK)
        except OSError:
            continue  # not ours, being made or being removed right now
        if lock is None:
            continue  # alive
        with lock:
            resumable, lent = bool(owner.get("resumable", True)), bool(owner.get("lent"))
            yield Dead(folder, Path(str(owner["run"])), recordings(folder), resumable, lent)


def is_held(folder: Path) -> bool:
    """Whether somebody has a scratch folder's lock, be it who is becoming another program."""
    with contextlib.suppress(OSError), (folder / LOCK).open(encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def unlock(run_folder: Path) -> None:
    """Removes the lock of a run folder that nobody holds, and that names no scratch folder."""
    with contextlib.suppress(OSError), (run_folder / LOCK).open(encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        named = file.read().strip()
        if not named or not Path(named).is_dir():
            (run_folder / LOCK).unlink()


def _own(folder: Path, run_folder: Path, *, resumable: bool, lent: bool = False) -> IO[str]:
    """Locks a scratch folder, and says whose it is."""
    lock = _locked(folder / LOCK, wait=True)
    if lock is None:  # waiting never gives None
        raise Failure("the scratch folder cannot be locked", where=str(folder))
    owner = {"run": str(run_folder), "pid": os.getpid(), "resumable": resumable, "lent": lent}
    (folder / OWNER).write_text(json.dumps(owner), encoding="utf-8")
    return lock


def _owner(folder: Path, *, being_made: bool) -> dict[str, object]:
    """Whose it is; raises FileNotFoundError while it is being made, where that may be."""
    try:
        owner = json.loads((folder / OWNER).read_text(encoding="utf-8"))
        if isinstance(owner, dict) and "\0" not in str(owner.get("run", "\0")):
            return owner
    except (OSError, ValueError, RecursionError):
        pass
    if being_made and time.time() - folder.stat().st_mtime < MAKING_S:
        raise FileNotFoundError(errno.ENOENT, "it is being made", str(folder))
    return {"run": str(folder), "resumable": False}  # its tool was killed while it was made


def recordings(folder: Path) -> list[Path]:
    """The sample files in a scratch folder that hold at least one sample."""
    return [path for path in sorted(folder.glob(f"*{SUFFIX}")) if progress(path)]


def free_bytes(folder: Path) -> int:
    """How much an ordinary user may still write there."""
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize


def _new_folder(run_folder: Path, memory: Path) -> Path:
    name = f"takt-{os.getuid()}-{secrets.token_hex(4)}"
    if os.access(memory, os.W_OK) and free_bytes(memory) > RESERVE_BYTES:
        return memory / name
    return run_folder / f".{name}"


def _locked(path: Path, *, wait: bool = False) -> IO[str] | None:
    """Opens and locks a file; None where another process holds it."""
    while True:
        file = path.open("a+", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            file.close()
            return None
        # The holder before may have removed the file after we had opened it.
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(file.fileno()).st_ino:
                file.seek(0)
                return file
        file.close()
