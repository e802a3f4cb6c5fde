# SPDX-License-Identifier: Apache-2.0
"""What can be seen of a machine.

Nearly everything is a text file below one root, so a test presents another machine as a folder.
The few things that are no file (may this user get SCHED_FIFO, how much time is stolen right now)
are methods that a test overrides. Only `read` and `scheduling` raise for what is absent or
forbidden.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import psutil

WINDOW_SECONDS = 0.3
_MOST = 1 << 20  # bytes of a file that holds one value


def parse_cpu_list(text: str | None) -> list[int]:
    """The CPUs of a kernel list such as ``0-3,8``; empty for anything that is not one."""
    cpus: set[int] = set()
    for part in (text or "").split(","):
        first, _, last = part.strip().partition("-")
        if first.isdecimal() and (last.isdecimal() or not last):
            cpus.update(range(int(first), int(last or first) + 1))
    return sorted(cpus)


def format_cpu_list(cpus: Iterable[int]) -> str:
    """The inverse of :func:`parse_cpu_list`."""
    runs: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


@dataclass(frozen=True)
class CpuTimes:
    """The ``cpu`` line of ``/proc/stat`` in clock ticks since boot, all CPUs together."""

    total: int
    idle: int
    steal: int


@dataclass(frozen=True)
class Window:
    """What happened on the machine while the doctor watched it for a moment."""

    seconds: float
    busy: float  # share of all CPU time, 0..1
    steal: float  # share of all CPU time that the hypervisor gave to others, 0..1
    busiest: list[tuple[str, float]] = field(default_factory=list)  # name, CPUs in use


@dataclass(frozen=True)
class Space:
    """Size of a file system in bytes."""

    total: int
    free: int


class System:
    """A machine, read through the file tree below ``root``."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    # files

    def path(self, path: str) -> Path:
        """Return where an absolute path of the machine lies below the root."""
        return self.root / path.lstrip("/")

    def text(self, path: str) -> str | None:
        """The stripped content, or None where it is absent or may not be read."""
        try:
            return self.path(path).read_text(encoding="utf-8", errors="replace").strip("\0\n\t ")
        except (OSError, ValueError):  # ValueError: no name of a file, as another file told it
            return None

    def read(self, path: str) -> bytes:
        """The bytes of a file as they are now; raises OSError."""
        descriptor = os.open(self.path(path), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as stream:
            return stream.read(_MOST)

    def number(self, path: str) -> int | None:
        """The content as an integer, or None."""
        try:
            return int(self.text(path) or "")
        except ValueError:
            return None

    def cpus(self, path: str) -> set[int] | None:
        """The CPUs of a list in a file, or None."""
        text = self.text(path)
        return None if text is None else set(parse_cpu_list(text))

    def names(self, path: str) -> list[str]:
        """Names in a directory, sorted; empty where it cannot be listed."""
        try:
            return sorted(entry.name for entry in self.path(path).iterdir())
        except OSError:
            return []

    def glob(self, pattern: str) -> list[str]:
        """Absolute paths below the root that match, sorted."""
        try:
            found = self.root.glob(pattern.lstrip("/"))
            return sorted("/" + str(path.relative_to(self.root)) for path in found)
        except OSError:
            return []

    def exists(self, path: str) -> bool:
        """Tell whether the path is there and may be looked at."""
        try:
            return self.path(path).exists()
        except OSError:
            return False

    def writable(self, path: str) -> bool:
        """Tell whether this user may write to the path."""
        return os.access(self.path(path), os.W_OK)

    # files that several checks read

    @cached_property
    def release(self) -> str:
        """The release of the kernel, such as ``6.1.0-rt``."""
        return self.text("/proc/sys/kernel/osrelease") or ""

    @property
    def release_number(self) -> tuple[int, int]:
        """Major and minor number of the kernel; (0, 0) where unknown."""
        parts = self.release.split(".")
        if len(parts) < 2 or not parts[0].isdecimal():
            return (0, 0)
        minor = "".join(c for c in parts[1] if c.isdecimal())
        return (int(parts[0]), int(minor or 0))

    @cached_property
    def command_line(self) -> list[str]:
        """The words that the boot loader gave to the kernel."""
        return (self.text("/proc/cmdline") or "").split()

    def boot_option(self, name: str) -> str | None:
        """Value of ``name=value`` on the kernel command line; the last one counts."""
        values = [word.partition("=")[2] for word in self.command_line if word == name]
        values += [w.partition("=")[2] for w in self.command_line if w.startswith(f"{name}=")]
        return values[-1] if values else None

    @cached_property
    def kernel_config(self) -> dict[str, str]:
        """``CONFIG_…`` of the running kernel; empty where no configuration file can be read."""
        text = self.text(f"/boot/config-{self.release}")
        with contextlib.suppress(OSError, EOFError, ValueError):
            text = text or gzip.decompress(self.path("/proc/config.gz").read_bytes()).decode()
        lines = (line.partition("=") for line in (text or "").splitlines())
        return {key: value for key, _, value in lines if key.startswith("CONFIG_")}

    @cached_property
    def distribution(self) -> dict[str, str]:
        """The pairs of ``/etc/os-release``."""
        lines = (line.partition("=") for line in (self.text("/etc/os-release") or "").splitlines())
        return {key: value.strip('"') for key, _, value in lines if key}

    def pairs(self, path: str) -> dict[str, str]:
        """A file of ``key: value`` lines, such as ``/proc/self/status``."""
        lines = (line.partition(":") for line in (self.text(path) or "").splitlines())
        return {key.strip(): value.strip() for key, colon, value in lines if colon}

    @cached_property
    def online(self) -> list[int]:
        """The CPUs that run."""
        return parse_cpu_list(self.text("/sys/devices/system/cpu/online"))

    @cached_property
    def isolated(self) -> list[int]:
        """CPUs that the scheduler leaves alone (``isolcpus=`` or an isolated cpuset)."""
        return parse_cpu_list(self.text("/sys/devices/system/cpu/isolated"))

    def limit(self, name: str) -> tuple[float, float] | None:
        """Soft and hard limit by its name in ``/proc/self/limits``; infinity for unlimited."""
        for line in (self.text("/proc/self/limits") or "").splitlines():
            if line.startswith(name):
                words = line[len(name) :].split()[:2]
                soft, hard = (float("inf") if w == "unlimited" else float(w) for w in words)
                return soft, hard
        return None

    def capable(self, bit: int) -> bool:
        """Tell whether this process holds a capability (its number in linux/capability.h)."""
        try:
            return bool(int(self.pairs("/proc/self/status").get("CapEff", "0"), 16) >> bit & 1)
        except ValueError:
            return False

    def cpu_times(self) -> CpuTimes | None:
        """Return the first line of ``/proc/stat``, or None."""
        first = (self.text("/proc/stat") or "").partition("\n")[0].split()
        if len(first) < 9 or first[0] != "cpu":
            return None
        ticks = [int(word) for word in first[1:9]]  # guest time is inside user time
        return CpuTimes(total=sum(ticks), idle=ticks[3] + ticks[4], steal=ticks[7])

    # what is no file

    def try_fifo(self, priority: int = 1) -> int:
        """Asks for SCHED_FIFO in a thread that ends at once; 0 or the error number."""
        return _try(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority)))

    def try_cpu(self, cpu: int) -> bool:
        """Tell whether a thread of this process may be pinned to the CPU, by doing it."""
        return _try(lambda: os.sched_setaffinity(0, {cpu})) == 0

    def affinity(self) -> set[int]:
        """The CPUs that this process may use, without those that ``isolcpus`` took away."""
        return os.sched_getaffinity(0)

    def scheduling(self, pid: int) -> tuple[int, int]:
        """Policy, with its flags, and real-time priority of a thread; raises OSError."""
        return os.sched_getscheduler(pid), os.sched_getparam(pid).sched_priority

    def space(self, path: str) -> Space | None:
        """Return the size of the file system at the path, or None."""
        try:
            found = os.statvfs(self.path(path))
        except OSError:
            return None
        return Space(found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize)

    @cached_property
    def window(self) -> Window | None:
        """One short look at the running machine, taken once and shared by all checks."""
        before, busy_before = self.cpu_times(), _process_seconds()
        started = time.monotonic()
        time.sleep(WINDOW_SECONDS)
        after, busy_after = self.cpu_times(), _process_seconds()
        seconds = time.monotonic() - started
        if before is None or after is None or after.total <= before.total:
            return None
        total = after.total - before.total
        used = {
            key: (now - busy_before.get(key, now)) / seconds
            for key, now in busy_after.items()
            if key[0] != os.getpid()
        }
        busiest = sorted(((key[1], cpus) for key, cpus in used.items()), key=lambda b: -b[1])
        return Window(
            seconds=seconds,
            busy=max(0.0, 1 - (after.idle - before.idle) / total),
            steal=max(0.0, (after.steal - before.steal) / total),
            busiest=[(name, cpus) for name, cpus in busiest[:3] if cpus > 0.05],
        )


def _try(ask: Callable[[], None]) -> int:
    """Does something to a thread of its own, which then ends; 0 or the error number."""
    outcome = [errno.EAGAIN]

    def attempt() -> None:
        try:
            ask()
            outcome[0] = 0
        except OSError as error:
            outcome[0] = error.errno or errno.EPERM

    thread = threading.Thread(target=attempt, name="takt-try")
    thread.start()
    thread.join()
    return outcome[0]


def _process_seconds() -> dict[tuple[int, str], float]:
    """CPU seconds that each process has used, by (pid, name)."""
    found: dict[tuple[int, str], float] = {}
    for process in psutil.process_iter(["pid", "name", "cpu_times"]):
        times = process.info["cpu_times"]
        if times is not None:
            found[(process.info["pid"], process.info["name"] or "?")] = times.user + times.system
    return found
