# SPDX-License-Identifier: Apache-2.0
"""A control group with a quota of CPU time, made for a while: what its processes have together.

The quota is that of the kernel's fair scheduler (``cpu.max``, in version 1 ``cpu.cfs_quota_us``).
That of threads leaves the other threads of their process outside: in version 2 it is a threaded
group within one of their process.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from takt.errors import Failure


class NoQuota(Failure):
    """No such group can be made."""


_GROUPS = Path("/sys/fs/cgroup")
_OLD = ("cpu", "cpu,cpuacct")  # of version 1
_PERIOD_US = 100_000
_KINDS = ("load", "quota")  # of a load; of a process that is executed
_NAME = re.compile(rf"takt-(?:{'|'.join(_KINDS)})-[0-9a-f]{{8}}(?:-[0-9]+)?")
_THREADS = "jobs"
_PER_NICE = 1.25  # the kernel's ratio of the weights of two nice values beside each other
_WEIGHT = 1024  # of nice 0
_EMPTIES_S, _POLL_S = 2.0, 0.01  # processes that are just ending keep a group


@dataclass(frozen=True)
class Throttled:
    """What the kernel counted of a group."""

    ns: int  # for which it was throttled
    times: int  # the periods in which it was
    periods: int  # in which it had something to run


def lacking() -> tuple[str, str] | None:
    """Why no such group can be made here, and what to do; None: it can."""
    try:
        with _created(f"takt-load-{os.getpid():08x}", _limit(_PERIOD_US, _PERIOD_US)):
            return None
    except NoQuota as failure:
        return failure.what, failure.fix or ""


@contextlib.contextmanager
def quota(scratch: Path, cpus: float) -> Iterator[Path]:
    """A group of the run with this scratch folder, of as much time as so many CPUs have.

    Raises NoQuota where it cannot be made.
    """
    with _created(_name(scratch, "load"), _limit(round(cpus * _PERIOD_US), _PERIOD_US)) as group:
        yield group


@contextlib.contextmanager
def quota_of_threads(
    scratch: Path, number: int, budget_ns: int, period_ns: int, nice: int
) -> Iterator[Path]:
    """A group of the run with this scratch folder, of that number, which threads enter.

    Its weight is that of a thread with this nice value. Raises NoQuota where it cannot be made.
    """
    period_us = period_ns // 1000
    name = f"{_name(scratch, 'quota')}-{number}"
    files = _limit(min(-(-budget_ns // 1000), period_us), period_us) | _weight(nice)
    if not _is_of_version_2():
        with _created(name, files) as group:
            yield group
        return
    files = {"cgroup.type": "threaded", "../cgroup.subtree_control": "+cpu", **files}
    with _created(name, _weight(nice)), _created(f"{name}/{_THREADS}", files) as group:
        yield group


def throttled(group: Path) -> Throttled:
    """Of a group that is there; raises OSError."""
    lines = (line.split() for line in (group / "cpu.stat").read_text(encoding="ascii").splitlines())
    found = {key: int(value) for key, value in lines}
    ns = found.get("throttled_time", 1000 * found.get("throttled_usec", 0))
    return Throttled(ns, found.get("nr_throttled", 0), found.get("nr_periods", 0))


def left_by(scratch: Path, *, remove_it: bool) -> list[str]:
    """The groups of a dead run that are still there."""
    names = [_name(scratch, kind) for kind in _KINDS]
    found = [
        group
        for root in _roots()
        for name in names
        for group in sorted(root.glob(f"{name}*"))
        if _NAME.fullmatch(group.name)
    ]
    for one in found if remove_it else []:
        _remove(one / _THREADS)
        _remove(one)
    return list(map(str, found))


def _name(scratch: Path, kind: str) -> str:
    return f"takt-{kind}-{scratch.name[-8:]}"


def _roots() -> list[Path]:
    return [*(_GROUPS / one for one in _OLD if (_GROUPS / one / "cpu.shares").exists()), _GROUPS]


def _is_of_version_2() -> bool:
    return _roots()[0] == _GROUPS


def _limit(budget_us: int, period_us: int) -> dict[str, str]:
    if _is_of_version_2():
        return {"cpu.max": f"{budget_us} {period_us}"}
    return {"cpu.cfs_period_us": str(period_us), "cpu.cfs_quota_us": str(budget_us)}


def _weight(nice: int) -> dict[str, str]:
    if _is_of_version_2():
        return {"cpu.weight.nice": str(nice)}
    return {"cpu.shares": str(round(_WEIGHT * _PER_NICE**-nice))}


@contextlib.contextmanager
def _created(name: str, files: dict[str, str]) -> Iterator[Path]:
    group = _roots()[0] / name
    try:
        group.mkdir(exist_ok=True)
        for file, text in files.items():
            (group / file).write_text(text, encoding="ascii")
    except OSError as error:
        _remove(group)
        raise NoQuota(
            f"no control group with a quota of CPU time: {error.strerror}",
            where=str(group),
            fix="run as root, on a kernel with CFS_BANDWIDTH and the cpu controller in "
            "cgroup.subtree_control",
        ) from None
    try:
        yield group
    finally:
        _remove(group)


def _remove(group: Path) -> None:
    limit = time.monotonic() + _EMPTIES_S
    while group.exists():
        try:
            group.rmdir()
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > limit:
                return  # the next run or takt clean removes it
            time.sleep(_POLL_S)
