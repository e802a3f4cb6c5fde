# SPDX-License-Identifier: Apache-2.0
"""What fails for want of memory, of /proc, of a worker, of a package: the machine's, not Takt's."""

from __future__ import annotations

import errno
from pathlib import Path

from takt.errors import Failure
from takt.processes.process import MORE_PROCESSES, NO_PROCESS

MEMORY = Failure(
    "out of memory",
    fix="close other programs, or reduce the request: fewer --workers, a shorter run",
)
_THREADS = "can't start new thread"  # Python's words
PROC = "mount /proc readable for this user; in a container, mount all of it"
# A workspace that colcon built, not the launcher.
NO_CORE = Failure(
    "takt_core is built without its Python module",
    fix="python3 -m pip install nanobind, then build it again: colcon build --cmake-clean-cache"
    " --packages-select takt_core",
)
_PIP = {"ruamel": "ruamel.yaml", "yaml": "PyYAML"}  # what is installed by another name
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
    if isinstance(error, ImportError):
        return _of_import(error)
    if module.partition(".")[0] == "psutil":
        return Failure(f"cannot inspect a process: {text}", where="/proc", fix=PROC)
    if name in _POOLS:
        return Failure(
            f"a worker process of this command has died: {text}",
            fix="check the kernel log for an out-of-memory kill (dmesg), then start again",
        )
    return _of_start(error) if isinstance(error, RuntimeError) else None


def _of_start(error: RuntimeError) -> Failure | None:
    """A thread that did not start, or a part of Dask, which says only which part it is."""
    if _THREADS in str(error):
        return Failure(NO_PROCESS, fix=MORE_PROCESSES)
    before = error.__cause__ or error.__context__
    while str(error).endswith("failed to start.") and isinstance(before, Exception):
        if found := shortage(before):
            return found
        before = before.__cause__ or before.__context__
    return None


def _of_import(error: ImportError) -> Failure | None:
    if any(words in str(error).lower() for words in _NO_ROOM):
        return MEMORY
    name = (error.name or "").partition(".")[0]
    if name == "takt_core":
        return NO_CORE
    if not isinstance(error, ModuleNotFoundError) or name in {"", "takt"}:
        return None
    return Failure(
        f"the Python package {name} is not installed",
        fix=f"python3 -m pip install {_PIP.get(name, name)}, or install the system's package",
    )


def _of_system(error: OSError) -> Failure | None:
    if error.errno == errno.ENOMEM:
        return MEMORY
    if error.errno == errno.EAGAIN and error.filename is None:  # a fork
        return Failure(NO_PROCESS, fix=MORE_PROCESSES)
    where = str(error.filename or "")
    if where == "/proc" or where.startswith("/proc/"):
        # A name right below it that is none of the kernel's was to be written.
        new = Path(where).parent == Path("/proc") and Path("/proc/self").exists()
        new = new and not Path(where).name.isdigit() and not Path(where).exists()
        fix = "choose a writable path" if new else PROC
        return Failure(error.strerror or str(error), where=where, fix=fix)
    return None
