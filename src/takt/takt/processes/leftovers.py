# SPDX-License-Identifier: Apache-2.0
"""Shared memory that killed probes leave behind.

Fast DDS, iceoryx2, cyclictest and Python's multiprocessing remove their files in /dev/shm when they
end well, not when they are killed; one of iceoryx2's stays even then.
While a cell runs we note which of these files our probes use (a journal in the scratch folder, so
that it outlives the tool); afterwards those that no living process uses are removed. Of files that
never were in a journal of ours only those go that came while a process of ours ran, and that nobody
uses.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from takt.processes import last_will, namespace, scratch, usage

JOURNAL = "shared_memory.txt"
_OURS = re.compile(
    r"(sem\.)?(fastrtps|fastdds|fast_datasharing)_?[A-Za-z0-9_.-]*|cyclictest[0-9]+"
    r"|iox2_[a-f0-9]{40}_[A-Za-z0-9_.-]+|sem\.mp-[a-z0-9_]{8}"
)
# What Fast DDS has of a port: memory, locks, and a mutex that it opens with the port, and closes.
_PORT = re.compile(r"(?:sem\.)?(fast(?:rtps|dds)_port[0-9]+)(?:_(?:el|sl|mutex))?")
# glibc makes a named semaphore under such a name, which its maker has open until it has its own.
_IN_THE_MAKING = re.compile(r"sem\.[A-Za-z0-9]{6}")
_PROC = Path("/proc")


class Journal:
    """The list of the shared-memory files that the probes of a run use."""

    def __init__(self, folder: Path, memory: Path = scratch.MEMORY) -> None:
        self._path = folder / JOURNAL
        self._memory = memory
        self._known = set(_read(self._path))

    def note(self, pids: Iterable[int]) -> bool:
        """Notes what these processes, and those that they started, use now; whether that is new."""
        used = set[int]()
        for pid in usage.family(pids):
            used |= _used_by(pid, self._memory)
        names = {name for name in present(self._memory) if _inode(self._memory / name) in used}
        if new := sorted(names - self._known):
            with self._path.open("a", encoding="utf-8") as journal:
                journal.write("".join(f"{name}\n" for name in new))
            self._known |= names
        return bool(new)

    def sweep(self) -> list[str]:
        """Removes what nobody uses any more; returns the names of the removed files."""
        return _sweep(self._known, self._memory, remove=True)


def present(memory: Path = scratch.MEMORY) -> set[str]:
    """The middleware's files that are there now."""
    return {path.name for path in memory.glob("*") if _of_middleware(path.name)}


def sweep_since(before: Collection[str], memory: Path = scratch.MEMORY) -> list[str]:
    """After processes of ours that may not have been noted: what is new and nobody uses."""
    return _sweep(sorted(present(memory).difference(before)), memory, remove=True)


def sweep_dead_runs(
    memory: Path = scratch.MEMORY, of_dead: Path | None = None
) -> list[scratch.Dead]:
    """Cleans up after killed runs; returns those whose recordings wait for a resume."""
    waiting = []
    for dead in scratch.dead_folders(memory, of_dead):
        last_will.left_in(dead.folder, execute_it=True)
        unused(dead.folder, memory, remove=True)
        namespace.left_in(dead.folder, remove_it=True)
        dead.remove_load()
        if dead.waits:
            waiting.append(dead)
        else:
            dead.remove()
    return waiting


def unused(
    folder: Path, memory: Path, *, remove: bool, ignoring: Collection[int] = ()
) -> list[str]:
    """The files of a scratch folder's journal that nobody uses, but perhaps who is ignored."""
    return _sweep(_read(folder / JOURNAL), memory, remove=remove, ignoring=ignoring)


def _read(journal: Path) -> list[str]:
    try:
        lines = journal.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    return [name for name in lines if _of_middleware(name)]


def _sweep(
    names: Iterable[str], memory: Path, *, remove: bool, ignoring: Collection[int] = ()
) -> list[str]:
    there = {name: inode for name in names if (inode := _inode(memory / name))}
    if not there:
        return []
    used = set[int]()
    for entry in _PROC.iterdir():
        if entry.name.isdecimal() and int(entry.name) not in ignoring:
            used |= _used_by(int(entry.name), memory)
    ports = {_port(name) for name in present(memory) if _inode(memory / name) in used} - {None}
    removed = []
    for name, inode in there.items():
        if _port(name) in ports:
            continue
        path = memory / name
        with contextlib.suppress(OSError):
            status = path.stat()
            if inode not in used and (status.st_ino, status.st_uid) == (inode, os.geteuid()):
                if remove:
                    path.unlink()
                removed.append(name)
    return removed


def _used_by(pid: int, memory: Path) -> set[int]:
    """Inodes of the middleware's files that a process maps or holds open (locks are only held).

    Not their names: a container may have files of the same names in a shared memory of its own, and
    the map of a semaphore bears the name under which it was made.
    """
    device = memory.stat().st_dev
    inodes = set[int]()
    # Descriptors first: who opens a file maps it before that is closed.
    with contextlib.suppress(OSError):
        for descriptor in (_PROC / str(pid) / "fd").iterdir():
            with contextlib.suppress(OSError):
                name = descriptor.readlink().name.removesuffix(" (deleted)")
                if _of_middleware(name) and (status := descriptor.stat()).st_dev == device:
                    inodes.add(status.st_ino)
    told = f"{os.major(device):02x}:{os.minor(device):02x}"
    with contextlib.suppress(OSError):
        for line in (_PROC / str(pid) / "maps").read_text(errors="replace").splitlines():
            _addresses, _rights, _offset, of_map, inode = line.split(maxsplit=5)[:5]
            if of_map == told:
                inodes.add(int(inode))
    return inodes


def _of_middleware(name: str) -> bool:
    return bool(_OURS.fullmatch(name) or _IN_THE_MAKING.fullmatch(name))


def _port(name: str) -> str | None:
    match = _PORT.fullmatch(name)
    return match[1] if match else None


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None  # it has gone
