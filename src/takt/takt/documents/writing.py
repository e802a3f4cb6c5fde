# SPDX-License-Identifier: Apache-2.0
"""The one way to write a file: under another name, onto the disk, then in its place in one step.

Whatever happens, a reader finds the file of before or the new one, and never half of it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

from takt.documents import own
from takt.errors import Failure, TaktError

_FULL = {errno.ENOSPC, errno.EDQUOT}
_WRONG = {  # a name that cannot be what it is to be, whoever asks: wrong use
    errno.EISDIR: "give a file: this is a folder",
    errno.EEXIST: "give a folder: this is a file",
    errno.ENOTDIR: "give another folder: a part of this path is a file",
}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS}
_BROKEN = {errno.EIO, errno.ESTALE, errno.EUCLEAN}
SUFFIX = ".tmp"
ROOM = 64 << 10  # bytes: less than any recording or report takes


@contextlib.contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """The name to write under; what stands there in the end takes the place of ``file``.

    A pipe or a device is written to as it is. OSError names the file.
    """
    try:
        target = own.followed(file)  # what a link points to is replaced, not the link
        if target.exists() and not target.is_file():
            yield target
            return
        temporary = _made_beside(target)
        try:
            yield temporary
            flush(temporary)
            temporary.replace(target)
            flush(target.parent)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        error.filename = str(file)
        raise


def _made_beside(target: Path) -> Path:
    """An empty file of ours: where everybody may write, nobody has put a link under its name."""
    name = f".{target.name}.{secrets.token_hex(4)}.{os.getpid()}{SUFFIX}"
    temporary = target.with_name(name)
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
    return temporary


def remove_halves(folder: Path, pid: str = "[0-9]+") -> None:
    """Removes what a process of this user's was writing there when it was killed; or any did."""
    with contextlib.suppress(OSError), own.opened(folder) as place:
        for name in place.names():
            if re.fullmatch(rf"\..+\.{pid}{re.escape(SUFFIX)}", name, re.DOTALL):
                with contextlib.suppress(OSError):
                    place.remove(name, closed=0)


def write_bytes(file: Path, content: bytes) -> None:
    """Writes a whole file."""
    with replacing(file) as temporary:
        temporary.write_bytes(content)


def write_text(file: Path, content: str) -> None:
    """The same for text, as UTF-8."""
    write_bytes(file, content.encode(errors="backslashreplace"))


def flush(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on the disk. OSError names the path."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.EROFS}:  # file systems without a disk
            error.filename = str(path)
            raise
    finally:
        os.close(descriptor)


def is_full(error: OSError) -> bool:
    """Whether an error means that there is no space left."""
    return error.errno in _FULL


def is_of_disk(error: OSError) -> bool:
    """Whether a disk is full or fails: no file on it is wrong, and no option is."""
    return is_full(error) or error.errno in _BROKEN


def failure(error: OSError, fix: str | None = None) -> TaktError:
    """The error for a person: which file, and where there is no space left, on which disk.

    A Failure, but for what is wrong use.
    """
    where = str(error.filename) if error.filename is not None else None
    what = error.strerror or str(error)
    if is_full(error):
        named = where is not None and _has_folder(where)
        what = no_space(Path(where or ""), error.errno) if named else "no space left"
        fix = fix or "free space there, or choose a file on another disk"
    elif error.errno in _BROKEN:
        what += f" on the file system at {_mount(Path(where))}" if where else ""
        fix = fix or "the kernel log says why (dmesg); choose a path on another disk"
    elif error.errno in _REFUSED or (
        error.errno == errno.ENOENT and where and _has_folder(where)  # as in /proc
    ):
        fix = fix or "choose a writable path"
    elif error.errno == errno.ENOENT and where and not _has_folder(where):
        folder = f"the folder {Path(where).parent} does not exist"
        return TaktError(folder, where=where, fix=fix or "create it, or choose another path")
    elif error.errno in _WRONG:
        return TaktError(what, where=where, fix=fix or _WRONG[error.errno])
    return Failure(what, where=where, fix=fix)


def _has_folder(where: str) -> bool:
    return os.path.exists(Path(where).parent)  # noqa: PTH110 - no EIO


def check_room(folder: Path, fix: str) -> None:
    """Raises Failure where the disk of a folder is full: not even ``ROOM`` can be written there."""
    try:
        with tempfile.NamedTemporaryFile(dir=folder, suffix=SUFFIX) as trial:
            trial.write(bytes(ROOM))
            trial.flush()
    except OSError as error:
        error.filename = str(folder)
        raise failure(error, fix if is_full(error) else None) from None


def no_space(file: Path, number: int | None = errno.ENOSPC) -> str:
    """Names the disk of a file that is full, and what of it is used up.

    ``number`` is the error's: EDQUOT where it is the user's share of the disk.
    """
    disk = _mount(file)
    full = f"no space left on the disk at {disk}"
    try:
        status = os.statvfs(disk)
    except OSError:
        return full
    free, size = (blocks * status.f_frsize >> 10 for blocks in (status.f_bavail, status.f_blocks))
    if number == errno.EDQUOT:
        return f"{full} for this user: the quota is used up"
    if status.f_files and not status.f_favail:
        return f"{full}: all {status.f_files} inodes are used"
    # A quota of a folder, and storage that is promised but not there, leave the disk free.
    many = free > ROOM >> 10
    why = "; what was written needs more, or a quota is used up" if many else ""
    return f"{full}: {free} of {size} KiB are free{why}"


def _mount(file: Path) -> Path:
    disk = file.absolute()
    while not os.path.ismount(disk):
        disk = disk.parent
    return disk
