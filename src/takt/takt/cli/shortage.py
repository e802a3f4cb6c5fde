# SPDX-License-Identifier: Apache-2.0
"""What fails for want of memory, of /proc or of a worker that died: the machine's, not Takt's."""

from __future__ import annotations

import errno

from takt.errors import Failure

MEMORY = Failure(
    "there is no memory left",
    remedy="end other programs, or ask for less at once: fewer --workers, a shorter run",
)
PROC = "mount /proc so that this user may read it; in a container, take the whole of it"
_POOLS = {"BrokenProcessPool", "KilledWorker", "WorkerStartTimeoutError"}
# The loader's words for a library that it has no room for.
_NO_ROOM = ("cannot allocate memory", "failed to map segment")


def shortage(error: Exception) -> Failure | None:
    """The failure behind an error; none where it is another one. Libraries are not imported."""
    name, module = type(error).__name__, type(error).__module__
    text = str(error)
    if isinstance(error, MemoryError) or "OutOfMemory" in name:
        return MEMORY
    if isinstance(error, OSError):
        return _of_system(error)
    if isinstance(error, ImportError) and any(words in text.lower() for words in _NO_ROOM):
        return MEMORY
    if module.partition(".")[0] == "psutil":
        return Failure(f"a process cannot be looked at: {text}", where="/proc", remedy=PROC)
    if name in _POOLS:
        return Failure(
            f"a process that worked for this command has died: {text}",
            remedy="the kernel's log tells whether memory ran out (dmesg); then start it again",
        )
    return None


def _of_system(error: OSError) -> Failure | None:
    if error.errno == errno.ENOMEM:
        return MEMORY
    where = str(error.filename or "")
    if where == "/proc" or where.startswith("/proc/"):
        return Failure(error.strerror or str(error), where=where, remedy=PROC)
    return None
