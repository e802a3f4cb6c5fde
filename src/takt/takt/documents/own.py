# SPDX-License-Identifier: Apache-2.0
"""The one rule for what is found where others may write: /dev/shm, /tmp, folders handed over.

What is found there is taken for Takt's own only if it is a real folder or file (no link is
followed, no pipe is waited for), belongs to this user, is closed to all others (mode 0700 or 0600),
and has one name, of those that Takt makes. All else is refused with the reason, and left as it is.

What stands in it chooses from a list, and is never a path or a command. A folder is opened once,
and what is done in it is done by its descriptor: nobody can put another in its place meanwhile.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import pwd
import secrets
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_MOST = 1 << 20  # bytes: locks and journals are short
_SOME = 8
_MOST_LINKS = 40  # as Linux
_OPEN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Refused(OSError):
    """Something that is not taken for Takt's own."""

    def __init__(self, path: Path, why: str, uid: int | None = None) -> None:
        super().__init__(errno.EPERM, why, str(path))
        self.uid = uid  # whose it is, where that is known

    @property
    def line(self) -> str:
        """For people; a name may hold anything."""
        return f"{printable(str(self.filename))}: {self.strerror}"


def printable(name: str) -> str:
    """A name on one line, whatever is in it."""
    return name if name.isprintable() else repr(name)


def user_name(uid: int) -> str:
    """As people know it."""
    with contextlib.suppress(KeyError):
        return pwd.getpwuid(uid).pw_name
    return f"user {uid}"


def fault(
    status: os.stat_result, *, folder: bool = False, closed: int = 0o077, owner: int | None = None
) -> str | None:
    """What of the rule something does not keep; ``closed`` are the rights that others must lack.

    ``owner`` is for who looks after other users' files: root.
    """
    if stat.S_ISLNK(status.st_mode):
        return "it is a symbolic link"
    if stat.S_ISDIR(status.st_mode) != folder or not (folder or stat.S_ISREG(status.st_mode)):
        return "it is not a folder" if folder else "it is not a regular file"
    if status.st_uid != (os.geteuid() if owner is None else owner):
        return f"it belongs to {user_name(status.st_uid)}"
    if status.st_mode & closed:
        return f"other users can access it (mode {stat.S_IMODE(status.st_mode):04o})"
    if not folder and status.st_nlink != 1:
        return "it has a second name (a hard link)"
    return None


def is_own(path: Path, *, folder: bool = False) -> bool:
    """Whether it is there, real and this user's; others may have rights to it."""
    with contextlib.suppress(OSError, ValueError):
        return fault(path.lstat(), folder=folder, closed=0) is None
    return False


def reported(refused: Iterable[Refused]) -> list[str]:
    """A line for each of some, however many others have made."""
    lines = list(dict.fromkeys(error.line for error in refused))
    more = [f"… and {len(lines) - _SOME} more"] if len(lines) > _SOME else []
    return [
        f"not recognised as Takt's own and left unchanged: {one}" for one in lines[:_SOME]
    ] + more


def followed(file: Path) -> Path:
    """Where a path leads, by links that this user or who owns their folder has made.

    As Linux does it with fs.protected_symlinks, which not every machine has on. Raises Refused.
    """
    path, left, links = Path("/"), list(reversed(file.absolute().parts[1:])), 0
    while left:
        part = left.pop()
        step = path.parent if part == ".." else path / part
        if part == ".." or not step.is_symlink():
            path = step
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(file))
        link, place = step.lstat(), path.stat()
        everybodys = place.st_mode & stat.S_ISVTX and place.st_mode & stat.S_IWOTH
        if everybodys and link.st_uid not in (os.geteuid(), place.st_uid):
            raise Refused(step, f"it is a link created by {user_name(link.st_uid)}", link.st_uid)
        to = step.readlink()
        path = Path("/") if to.is_absolute() else path
        left.extend(reversed(to.parts[1:] if to.is_absolute() else to.parts))
    return path


class Lock:
    """A file that is locked until it is closed, or its process ends."""

    def __init__(self, folder: Folder, name: str, descriptor: int) -> None:
        self.path = folder.path / name
        self._name = name
        self._folder = os.dup(folder.descriptor)
        self._descriptor = descriptor

    def text(self) -> str:
        """What is written in it."""
        return os.pread(self._descriptor, _MOST, 0).decode(errors="replace")

    def write(self, text: str) -> None:
        """In place of what was written there, and onto the disk: what names something is kept."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text.encode(), 0)
        os.fsync(self._descriptor)

    def take_exclusively(self) -> None:
        """Has it for itself; BlockingIOError where others have it, too."""
        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def free(self) -> None:
        """Closes it, and gives it back even if a process that is being forked has it, too."""
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        self.close()

    def remove(self) -> None:
        """Its file goes while it is held: who has opened it meanwhile sees that it has gone."""
        with contextlib.suppress(OSError):
            os.unlink(self._name, dir_fd=self._folder)

    def close(self) -> None:
        """Gives it back; closing it again does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            os.close(self._folder)
            self._descriptor = -1

    def __enter__(self) -> Lock:  # noqa: PYI034 - Self is new in Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class Folder:
    """A folder that is open: whatever comes to stand under its path, this is the one."""

    path: Path
    descriptor: int

    def names(self) -> list[str]:
        """What is in it; raises OSError."""
        return sorted(os.listdir(self.descriptor))  # noqa: PTH208 - whatever its path is by now

    @contextlib.contextmanager
    def folder(self, name: str) -> Iterator[Folder]:
        """One in it, by the rule; raises Refused and OSError."""
        self._refuse(name, os.lstat(name, dir_fd=self.descriptor), folder=True)
        with _opened(self.path / name, name, _OPEN, self.descriptor) as found:
            self._refuse(name, os.fstat(found.descriptor), folder=True)
            yield found

    def open(
        self, name: str, flags: int = os.O_RDONLY, closed: int = 0o077, owner: int | None = None
    ) -> int:
        """The descriptor of a file in it, by the rule; raises Refused and OSError."""
        # Looked at first: opening a device may do something.
        self._refuse(name, os.lstat(name, dir_fd=self.descriptor), closed=closed, owner=owner)
        descriptor = os.open(name, flags | _OPEN, dir_fd=self.descriptor)
        try:
            self._refuse(name, os.fstat(descriptor), closed=closed, owner=owner)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def text(self, name: str, closed: int = 0o077) -> str:
        """What stands in a file of it; raises Refused and OSError."""
        descriptor = self.open(name, closed=closed)
        with os.fdopen(descriptor, "rb") as stream:
            return stream.read(_MOST).decode(errors="replace")

    def write(self, name: str, text: str) -> None:
        """A file of this user's alone, on the disk, in one step; raises OSError."""
        fresh = f".{name}.{secrets.token_hex(8)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN
        descriptor = os.open(fresh, flags, 0o600, dir_fd=self.descriptor)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(text.encode())
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(fresh, name, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)

    def make(self, name: str) -> None:
        """A folder of this user's alone, or the one of before, by the rule."""
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=self.descriptor)
        with self.folder(name):
            pass

    def remove(self, name: str, closed: int = 0o077) -> None:
        """Removes a file, by the rule; raises Refused and OSError."""
        self._refuse(name, os.lstat(name, dir_fd=self.descriptor), closed=closed)
        os.unlink(name, dir_fd=self.descriptor)

    def remove_tree(self, name: str) -> None:
        """Removes a folder, by the rule, with all that is in it; raises Refused and OSError."""
        with self.folder(name):
            # Links in it are removed, not followed.
            shutil.rmtree(f"/proc/self/fd/{self.descriptor}/{name}", onerror=_unless_gone)

    def lock(
        self,
        name: str,
        *,
        how: int = fcntl.LOCK_EX,
        wait: bool = False,
        owner: int | None = None,
    ) -> Lock | None:
        """Makes a file, or opens it by the rule, and locks it; None where another process has it.

        That of another ``owner`` is not made. Raises Refused and OSError.
        """
        while True:
            try:
                descriptor = self.open(name, os.O_RDWR, owner=owner)
            except FileNotFoundError:
                if owner not in (None, os.geteuid()):
                    raise
                flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | _OPEN
                try:
                    descriptor = os.open(name, flags, 0o600, dir_fd=self.descriptor)
                except FileExistsError:
                    continue
            try:
                fcntl.flock(descriptor, how | (0 if wait else fcntl.LOCK_NB))
                # The holder before may have removed the file after we had opened it.
                with contextlib.suppress(FileNotFoundError):
                    there = os.lstat(name, dir_fd=self.descriptor)
                    if os.path.samestat(there, os.fstat(descriptor)):
                        return Lock(self, name, descriptor)
            except BlockingIOError:
                os.close(descriptor)
                return None
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)

    def _refuse(
        self,
        name: str,
        status: os.stat_result,
        *,
        folder: bool = False,
        closed: int = 0o077,
        owner: int | None = None,
    ) -> None:
        if why := fault(status, folder=folder, closed=closed, owner=owner):
            raise Refused(self.path / name, why, status.st_uid)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Folder]:
    """A folder of anybody's, in which there may be something of ours; raises OSError."""
    with _opened(path, path, os.O_CLOEXEC) as found:
        yield found


def _unless_gone(
    _: Callable[..., object], __: str, how: tuple[object, BaseException, object]
) -> None:
    """Somebody else may remove some of a tree at the same time."""
    if not isinstance(how[1], FileNotFoundError):
        raise how[1]


@contextlib.contextmanager
def _opened(
    path: Path, name: str | Path, flags: int, within: int | None = None
) -> Iterator[Folder]:
    descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | flags, dir_fd=within)
    try:
        yield Folder(path, descriptor)
    finally:
        os.close(descriptor)
