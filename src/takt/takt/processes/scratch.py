# SPDX-License-Identifier: Apache-2.0
"""The folder in which the probes of one run record: in memory, locked while the run lives.

The run folder's ``run.lock`` holds its name, and its ``owner.json`` names the run folder: each is
believed only with the other, and both are found by the rule of documents/own.py. The kernel drops
the lock when the tool dies, however it dies: a folder without a live lock belongs to a dead run
(dead.py), and what it holds is still to be taken over (``takt run --resume``). Somebody who
outlives the tool watches over it from before it is made until it ends in order.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from takt.documents import own
from takt.errors import Failure, TaktError
from takt.processes.recording import SUFFIX, progress
from takt.processes.watch import Watch

MEMORY = Path("/dev/shm")  # noqa: S108 - a tmpfs is what is wanted
ON_DISK = ".recording"  # in the run folder, where the memory has no room
LOADED = ".load"  # in the run folder, for a load's files: the memory is no disk
LOCK = "run.lock"
OWNER = "owner.json"
DOCUMENT = "run.json"  # of a run folder, which a resume goes on with
RESERVE_BYTES = 1 << 20  # for results, profiles and run.json


@dataclass
class Scratch:
    """The locked scratch folder of a live run."""

    folder: Path
    run_folder: Path
    run_id: str
    _locks: list[own.Lock]
    _watch: Watch | None = None

    def place_for(self, need: int) -> Path:
        """Where a recording of ``need`` bytes fits: memory, else the disk; Failure: nowhere."""
        spare = self.run_folder / ON_DISK
        if free_bytes(self.folder) >= need + RESERVE_BYTES:
            return self.folder
        if free_bytes(self.run_folder) >= 2 * need + RESERVE_BYTES:  # raw and Parquet
            with own.opened(self.run_folder) as results:
                results.make(ON_DISK)
            return spare
        raise Failure(
            f"no space left: the recording needs {need >> 10} KiB, "
            f"{free_bytes(self.folder) >> 10} KiB are free in {self.folder.parent} and "
            f"{free_bytes(self.run_folder) >> 10} KiB in the results folder",
            where=str(self.run_folder),
            fix="free space, then continue with: takt run --resume " + str(self.run_folder),
        )

    def release(self, *, keep: bool) -> None:
        """Ends the run; with ``keep`` the recordings stay for a resume, like after a kill."""
        if not keep:
            for lock in self._locks:
                lock.remove()
            shutil.rmtree(self.folder, ignore_errors=True)
            remove_from(self.run_folder, ON_DISK, LOADED)
        for lock in self._locks:
            lock.close()
        if self._watch is not None:
            self._watch.end()


def open_for(
    run_folder: Path, memory: Path = MEMORY, *, resumable: bool = True, lent: bool = False
) -> Scratch:
    """Locks a run folder and makes its scratch folder, or takes over that of its killed run.

    What is not ``resumable`` leaves nothing behind that anybody could go on with; ``lent`` is a
    folder on a machine that only has a role in the run.
    """
    run_folder = run_folder.resolve()  # a resume may come from another working folder
    new = _new_folder(run_folder, memory)
    watch = Watch(new, run_folder, memory)
    lock: own.Lock | None = None
    try:
        with own.opened(run_folder) as results, _explained(run_folder):
            lock = results.lock(LOCK)
            if lock is None:
                raise TaktError(
                    "another takt process is executing this run",
                    where=str(run_folder),
                    fix="wait for its end, or choose another folder",
                )
            folder = _known(lock, run_folder, memory) or new
            lock.write(f"{folder.name}\n")
        with own.opened(folder.parent) as place, _explained(run_folder):
            place.make(folder.name)  # where it is there, it is a killed run's
            inner = _own(place, folder.name, run_folder, resumable=resumable, lent=lent)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        if lock is not None:
            lock.close()
            unlock(run_folder, memory)
        watch.end()
        raise
    return Scratch(folder, run_folder, folder.name.rsplit("-", 1)[-1], [lock, inner], watch)


@contextlib.contextmanager
def temporary(memory: Path = MEMORY) -> Iterator[Path]:
    """A scratch folder without a run, for as long as this is open."""
    folder = memory / f"takt-{os.getuid()}-{secrets.token_hex(4)}"
    watch = Watch(folder, folder, memory)
    try:
        with own.opened(memory) as place:
            place.make(folder.name)
            held = _own(place, folder.name, folder, resumable=False)
        with held:
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        watch.end()


def is_name(name: str) -> bool:
    """Whether this user's Takt calls a scratch folder so, in the memory or in a run folder."""
    return bool(re.fullmatch(rf"\.?takt-{os.getuid()}-[0-9a-f]{{8}}", name))


def named_in(text: str, run_folder: Path, memory: Path = MEMORY) -> Path | None:
    """The scratch folder that a ``run.lock`` names; None: it names none that there can be."""
    name = text.removesuffix("\n")
    if not is_name(name):
        return None
    return (run_folder if name.startswith(".") else memory) / name


def is_held(folder: Path) -> bool:
    """Whether somebody has a scratch folder's lock, be it who is becoming another program."""
    with contextlib.suppress(OSError), own.opened(folder.parent) as place:
        with place.folder(folder.name) as found:
            os.close(found.open(LOCK))  # not made, where it is not there
            lock = found.lock(LOCK)
        if lock is None:
            return True
        lock.close()
    return False


def unlock(run_folder: Path, memory: Path = MEMORY) -> None:
    """Removes the lock of a run folder that nobody holds, and that names no scratch folder."""
    with contextlib.suppress(OSError), own.opened(run_folder) as results:
        os.close(results.open(LOCK))
        lock = results.lock(LOCK)
        if lock is None:
            return
        with lock:
            text = lock.text()
            folder = named_in(text, run_folder, memory)
            if not text or (folder is not None and not folder.is_dir()):
                lock.remove()


def remove_from(run_folder: Path, *names: str) -> list[own.Refused]:
    """Removes folders in a run folder, by the rule; returns what is left for that."""
    refused = []
    for name in names:
        try:
            with own.opened(run_folder) as results:
                results.remove_tree(name)
        except own.Refused as error:
            refused.append(error)
        except OSError:
            continue
    return refused


def owner(folder: own.Folder) -> dict[str, object] | None:
    """Whose a scratch folder is, by its owner.json; None: that is not there, or damaged."""
    try:
        owned = json.loads(folder.text(OWNER))
    except (OSError, ValueError, RecursionError):
        return None
    run = owned.get("run") if isinstance(owned, dict) else None
    if not isinstance(run, str) or not run.startswith("/") or "\0" in run:
        return None
    return dict(owned)


@contextlib.contextmanager
def _explained(run_folder: Path) -> Iterator[None]:
    """What is not Takt's own stands in the way of a run."""
    try:
        yield
    except own.Refused as error:
        raise TaktError(
            f"not recognised as created by Takt: {error.strerror}",
            where=own.printable(str(error.filename)),
            fix=f"ask its owner to delete it, or use another folder than {run_folder}",
        ) from None


def _known(lock: own.Lock, run_folder: Path, memory: Path) -> Path | None:
    """The scratch folder of a killed run, as its lock names it; raises TaktError, Refused."""
    text = lock.text()
    if not text:
        return None
    folder = named_in(text, run_folder, memory)
    if folder is None:
        raise TaktError(
            "it does not name a scratch folder of Takt for this user",
            where=str(lock.path),
            fix="delete it; ./takt clean lists what killed runs have left in memory",
        )
    try:
        with own.opened(folder.parent) as place, place.folder(folder.name) as found:
            owned = owner(found)
    except FileNotFoundError:  # the tmpfs went with a reboot
        return folder
    if owned is not None and owned["run"] != str(run_folder):
        raise TaktError(
            "it names the scratch folder of another run",
            where=str(lock.path),
            fix=f"delete it; the other run is {own.printable(str(owned['run']))}",
        )
    return folder if owned else None  # nothing was recorded before it said whose it is


def _own(
    place: own.Folder, name: str, run_folder: Path, *, resumable: bool, lent: bool = False
) -> own.Lock:
    """Locks a scratch folder, and says whose it is."""
    with place.folder(name) as folder:
        lock = folder.lock(LOCK, wait=True)
        if lock is None:  # waiting never gives None
            raise Failure("cannot lock the scratch folder", where=str(folder.path))
        owned = {"run": str(run_folder), "pid": os.getpid(), "resumable": resumable, "lent": lent}
        folder.write(OWNER, json.dumps(owned))
    return lock


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
