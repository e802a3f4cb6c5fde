# SPDX-License-Identifier: Apache-2.0
"""This host's addresses stay as they are while processes start that tell hosts apart by them.

Fast DDS takes a hash of the IPv4 addresses for its host, once, when a process starts, and reaches
over shared memory only who has the same. Two ends between whose starts an address came or went (a
second host's link of another run) never find each other. So who starts such processes holds a
shared lock until they have met; who changes an address has the lock alone meanwhile.

Each user has a lock that nobody else can open but root. Only root changes addresses, so root takes
the locks of all users; who is only just making one sees in /proc/locks whether root has its own.
Nobody waits for ever, and who waits says for whom. What others change, a Wi-Fi or a container, is
not held back.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from takt.documents import own

LIMIT_S = 120.0  # processes meet, and an address is changed, in less on a busy machine
STRANGERS_S = 20.0  # for what other users hold, who may never let go
LOCK = "takt-addresses-{}.lock"
_ROOT = 0
_POLL_S = 0.01
_NAME = re.compile(r"takt-addresses-([0-9]{1,10})\.lock")


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Until the context ends nobody else who asks changes an address."""
    with contextlib.ExitStack() as held:
        limit = _Patience(LIMIT_S)
        while True:
            lock = _taken(os.geteuid(), fcntl.LOCK_SH, limit)
            if lock is None or not _changed_by_root() or not limit.left:
                break
            lock.free()  # root may be waiting for it
            limit.wait(_lock_of(_ROOT), "change an address")
        if lock is not None:
            held.callback(_drop, lock)
        yield


@contextlib.contextmanager
def changing() -> Iterator[None]:
    """An address of this host may be changed now."""
    with contextlib.ExitStack() as held:
        if lock := _taken(os.geteuid(), fcntl.LOCK_EX, _Patience(LIMIT_S)):
            held.callback(_drop, lock)
        if os.geteuid() == _ROOT:
            strangers = _Patience(STRANGERS_S)
            for user in _others():
                if other := _taken(user, fcntl.LOCK_EX, strangers):
                    held.callback(other.free)
        yield


def folder() -> str:
    """Where the locks are."""
    return tempfile.gettempdir()


def free_lock(place: Path, *, remove: bool) -> list[Path]:
    """This user's lock, where nobody holds it: runs that were killed had it."""
    path = place / LOCK.format(os.geteuid())
    with contextlib.suppress(OSError), own.opened(place) as there:
        os.close(there.open(path.name))  # not made, where it is not there
        if lock := there.lock(path.name):
            with lock:
                if remove:
                    lock.remove()
            return [path]
    return []


def holders(path: Path) -> list[tuple[int, bool]]:
    """The processes that have a file locked, and whether alone, as the kernel tells everybody."""
    found = []
    with contextlib.suppress(OSError, ValueError):
        status = path.lstat()
        device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            words = line.split()
            if "->" not in words and words[5] == device:
                found.append((int(words[4]), words[3] == "WRITE"))
    return found


class _Patience:
    """How long something is waited for; it is said once, and for whom."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._limit = time.monotonic() + seconds
        self._warned = False

    @property
    def left(self) -> bool:
        return time.monotonic() < self._limit

    def wait(self, path: Path, what: str) -> None:
        """For a moment."""
        if not self._warned:
            whose = ", ".join(_named(pid) for pid, _ in holders(path)) or "another process"
            _warn(
                f"waiting up to {self._seconds:.0f} s, then continuing: {whose} may {what} ({path})"
            )
            self._warned = True
        time.sleep(_POLL_S)


def _taken(user: int, kind: int, limit: _Patience) -> own.Lock | None:
    """The lock of a user; None where it is not to be had, which has been said."""
    path = _lock_of(user)
    what = "change an address" if kind == fcntl.LOCK_SH else "be starting processes"
    try:
        with own.opened(path.parent) as place:
            while (lock := _try(place, path.name, kind, user)) is None and limit.left:
                limit.wait(path, what)
            return lock
    except own.Refused as error:
        _warn(
            f"continuing without a lock, because it is not recognised as Takt's own: {error.line}"
        )
    except OSError as error:  # a full disk, a user who has just gone
        if user == os.geteuid():
            _warn(f"continuing without the lock {path}: {error.strerror}")
    return None


def _try(place: own.Folder, name: str, kind: int, user: int) -> own.Lock | None:
    return place.lock(name, how=kind, owner=user)


def _drop(lock: own.Lock) -> None:
    """The last one who has it takes its file away."""
    with contextlib.suppress(OSError):
        lock.take_exclusively()
        lock.remove()
    lock.free()


def _lock_of(user: int) -> Path:
    return Path(folder()) / LOCK.format(user)


def _others() -> list[int]:
    """The users but this one who have a lock."""
    with contextlib.suppress(OSError):
        names = (_NAME.fullmatch(one.name) for one in Path(folder()).iterdir())
        return sorted({int(one[1]) for one in names if one} - {os.geteuid()})
    return []


def _changed_by_root() -> bool:
    """Whether root has its lock alone: nobody else can open the file, if it is root's."""
    path = _lock_of(_ROOT)
    with contextlib.suppress(OSError):
        if os.geteuid() != _ROOT and own.fault(path.lstat(), owner=_ROOT) is None:
            return any(exclusive for _, exclusive in holders(path))
    return False


def _named(pid: int) -> str:
    with contextlib.suppress(OSError):
        return f"process {pid} of {own.user_name(Path(f'/proc/{pid}').stat().st_uid)}"
    return f"process {pid}"


def _warn(what: str) -> None:
    sys.stderr.write(f"takt: {what}\n")
