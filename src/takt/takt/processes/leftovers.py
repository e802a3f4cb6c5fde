# SPDX-License-Identifier: Apache-2.0
"""Shared memory that killed probes leave behind.

Fast DDS, iceoryx2, cyclictest and Python's multiprocessing remove their files in /dev/shm when they
end well, not when they are killed; one of iceoryx2's stays even then.
While a cell runs we note which of these files our probes use, by name and inode (a journal in the
scratch folder, so that it outlives the tool); afterwards those that no living process uses are
removed. Of files that never were in a journal of ours only those go that came while a process of
ours ran, that nobody uses, and whose names nobody but such a library gives.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from takt.documents import own
from takt.processes import dead, last_will, scratch, usage

JOURNAL = "shared_memory.txt"
_OURS = re.compile(
    r"(sem\.)?(fastrtps|fastdds|fast_datasharing)_?[A-Za-z0-9_.-]*|cyclictest[0-9]+"
    r"|iox2_[a-f0-9]{40}_[A-Za-z0-9_.-]+|sem\.mp-[a-z0-9_]{8}"
)
# What Fast DDS has of a port: memory, locks, and a mutex that it opens with the port, and closes.
_PORT = re.compile(r"(?:sem\.)?(fast(?:rtps|dds)_port[0-9]+)(?:_(?:el|sl|mutex))?")
# Of a segment: memory, and a lock.
_SEGMENT = re.compile(r"(fast(?:rtps|dds)_[0-9a-f]{16})(?:_el)?")
# glibc makes a named semaphore under such a name, which its maker has open until it has its own.
# Anybody may call one of his own so: it counts only where a process of ours was seen to have it.
_IN_THE_MAKING = re.compile(r"sem\.[A-Za-z0-9]{6}")
_PROC = Path("/proc")


@dataclass(frozen=True)
class Sweeper:
    """How a room above removes what only it knows: each function returns one line per thing.

    Both take a folder and whether to remove (True) or only to find (False).
    """

    of_run: Callable[[Path, bool], list[str]]  # given the scratch folder of a killed run
    locks: Callable[[Path, bool], list[str]]  # given the folder for temporary files


class Journal:
    """The list of the shared-memory files that the probes of a run use."""

    def __init__(self, folder: Path, memory: Path = scratch.MEMORY) -> None:
        self._path = folder / JOURNAL
        self._memory = memory
        self._known = _read(folder)

    def note(self, pids: Iterable[int]) -> bool:
        """Notes what these processes, and those that they started, use now; whether that is new."""
        used = set[int]()
        for pid in usage.family(pids):
            used |= _used_by(pid, self._memory)
        there = {name: inode for name in present(self._memory) if (inode := self._inode(name))}
        # Fast DDS has some files of a port or a segment open for a moment only.
        sets = {_set_of(name) for name, inode in there.items() if inode in used}
        names = {name: inode for name, inode in there.items() if _set_of(name) in sets}
        if new := {name: one for name, one in names.items() if self._known.get(name) != one}:
            with os.fdopen(_appending(self._path), "a", encoding="ascii") as journal:
                journal.write("".join(f"{name} {new[name]}\n" for name in sorted(new)))
            self._known |= new
        return bool(new)

    def sweep(self) -> list[str]:
        """Removes what nobody uses any more; returns the names of the removed files."""
        return _sweep(self._known, self._memory, remove=True)

    def _inode(self, name: str) -> int | None:
        return _inode(self._memory / name)


def present(memory: Path = scratch.MEMORY) -> set[str]:
    """The middleware's files that are there now."""
    return {one.name for one in memory.iterdir() if _of_middleware(one.name)}


def sweep_since(before: Collection[str], memory: Path = scratch.MEMORY) -> list[str]:
    """After processes of ours that may not have been noted: what is new and nobody uses."""
    new = {name: _inode(memory / name) for name in sorted(present(memory).difference(before))}
    ours = {name: inode for name, inode in new.items() if inode and _OURS.fullmatch(name)}
    return _sweep(ours, memory, remove=True)


def sweep_dead_runs(
    sweeper: Sweeper,
    memory: Path = scratch.MEMORY,
    of_dead: Path | None = None,
    refused: list[own.Refused] | None = None,
) -> list[dead.Dead]:
    """Cleans up after killed runs; returns those whose recordings wait for a resume.

    What is not taken for Takt's own comes into ``refused``, and is left as it is.
    """
    waiting = []
    for one in dead.dead_folders(memory, of_dead, refused):
        take_back(one, execute_it=True)
        unused(one.folder, memory, remove=True)
        sweeper.of_run(one.folder, True)
        one.remove_load()
        if one.waits:
            waiting.append(one)
        elif not in_use(one.folder, memory):
            one.remove()
    return waiting


def take_back(one: dead.Dead, *, execute_it: bool) -> bool:
    """Whether a killed run has left something to be done, which is done."""
    try:
        return last_will.left_in(one.folder, execute_it=execute_it)
    except own.Refused as error:
        one.refused.append(error)
    except OSError:  # it cannot be read now: somebody tries again
        pass
    return False


def unused(
    folder: Path, memory: Path, *, remove: bool, ignoring: Collection[int] = ()
) -> list[str]:
    """The files of a scratch folder's journal that nobody uses, but perhaps who is ignored."""
    return _sweep(_read(folder), memory, remove=remove, ignoring=ignoring)


def nobodys(memory: Path) -> list[str]:
    """This user's files of a middleware that no process uses, whoever had made them."""
    there = {name: inode for name in present(memory) if (inode := _inode(memory / name))}
    named = {name: inode for name, inode in there.items() if _OURS.fullmatch(name)}
    return _sweep(named, memory, remove=False)


def in_use(folder: Path, memory: Path) -> bool:
    """Whether somebody still uses files of its journal: it must outlive them."""
    return any(_inode(memory / name) == inode for name, inode in _read(folder).items())


def _read(folder: Path) -> dict[str, int]:
    """The inode of each file in a journal; what is no line of ours says nothing."""
    try:
        with own.opened(folder) as place:
            lines = place.text(JOURNAL).splitlines()
    except OSError:
        return {}
    noted = (re.fullmatch(r"([A-Za-z0-9_.-]+) ([0-9]{1,20})", line) for line in lines)
    return {one[1]: int(one[2]) for one in noted if one and _of_middleware(one[1])}


def _appending(path: Path) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(path, flags, 0o600)


def _sweep(
    there: Mapping[str, int], memory: Path, *, remove: bool, ignoring: Collection[int] = ()
) -> list[str]:
    there = {name: inode for name, inode in there.items() if _inode(memory / name) == inode}
    if not there:
        return []
    used = set[int]()
    for entry in _PROC.iterdir():
        if entry.name.isdecimal() and int(entry.name) not in ignoring:
            used |= _used_by(int(entry.name), memory)
    sets = {_set_of(name) for name in present(memory) if _inode(memory / name) in used}
    removed = []
    for name, inode in sorted(there.items()):
        if _set_of(name) in sets or inode in used:
            continue
        path = memory / name
        with contextlib.suppress(OSError):
            status = path.lstat()
            if (status.st_ino, status.st_uid) == (inode, os.geteuid()):
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
    number = f"{os.major(device):02x}:{os.minor(device):02x}"
    with contextlib.suppress(OSError):
        for line in (_PROC / str(pid) / "maps").read_text(errors="replace").splitlines():
            _addresses, _rights, _offset, of_map, inode = line.split(maxsplit=5)[:5]
            if of_map == number:
                inodes.add(int(inode))
    return inodes


def _of_middleware(name: str) -> bool:
    return bool(_OURS.fullmatch(name) or _IN_THE_MAKING.fullmatch(name))


def _set_of(name: str) -> str:
    """The port or segment that a file belongs to; else itself."""
    match = _PORT.fullmatch(name) or _SEGMENT.fullmatch(name)
    return match[1] if match else name


def _inode(path: Path) -> int | None:
    try:
        status = path.lstat()
    except OSError:
        return None  # it has gone
    return status.st_ino if stat.S_ISREG(status.st_mode) else None
