# SPDX-License-Identifier: Apache-2.0
"""A machine that may be changed: the few operations that do it. The doctor has only a System.

Each raises OSError with the file or thread that it is about. A test puts a tree of files in the
machine's place, and what is no file as its own methods.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from pathlib import Path

from takt.documents import writing
from takt.machine.system import System

_SWAP_FLAG_PREFER = 0x8000  # linux/swap.h; the priority is in the low 15 bits
CAP_SYS_ADMIN = 21
CAP_SYS_NICE = 23


class WritableSystem(System):
    """A machine below ``root``, that may be changed."""

    def write(self, path: str, content: bytes) -> None:
        """One write to a file of the kernel, which is never made; raises OSError."""
        descriptor = os.open(self.path(path), os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        try:
            os.write(descriptor, content)
        finally:
            os.close(descriptor)

    def replace(self, path: str, content: bytes, mode: int, owner: tuple[int, int]) -> None:
        """Puts a file on the disk in one step, with its permissions; raises OSError."""
        self.sweep(path)
        with writing.replacing(self.path(path)) as temporary:
            temporary.write_bytes(content)
            os.chown(temporary, *owner)
            temporary.chmod(mode)

    def remove(self, path: str) -> None:
        """Takes a file away; raises OSError."""
        self.sweep(path)
        file = self.path(path)
        file.unlink(missing_ok=True)
        writing.flush(file.parent)

    def sweep(self, path: str) -> None:
        """Removes what a killed :meth:`replace` left beside the file; raises OSError."""
        file = self.path(path)
        for stale in file.parent.glob(f".{file.name}.*{writing.SUFFIX}"):
            stale.unlink(missing_ok=True)

    def make_folder(self, path: str) -> None:
        """Where it is not there yet; raises OSError."""
        self.path(path).mkdir(exist_ok=True)

    def remove_folder(self, path: str) -> None:
        """An empty one, or a control group; raises OSError."""
        self.path(path).rmdir()

    def set_scheduling(self, pid: int, policy: int, priority: int) -> None:
        """The nice value stays as it is; raises OSError."""
        os.sched_setscheduler(pid, policy, os.sched_param(priority))

    def swap_on(self, path: str, priority: int) -> None:
        """A negative priority is the kernel's own choice; raises OSError."""
        status = self.path(path).stat()
        others = stat.S_ISREG(status.st_mode) and (status.st_uid or status.st_mode & 0o022)
        if others or not (stat.S_ISREG(status.st_mode) or stat.S_ISBLK(status.st_mode)):
            raise OSError(errno.EPERM, "other users than root can write to it", path)
        flags = _SWAP_FLAG_PREFER | priority if priority >= 0 else 0
        _call("swapon", self.path(path), flags)

    def swap_off(self, path: str) -> None:
        """Reads all its pages back first, which may take a while; raises OSError."""
        _call("swapoff", self.path(path))


def _call(name: str, path: Path, *numbers: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(os.fsencode(path), *numbers):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(path))
