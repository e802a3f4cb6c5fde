# SPDX-License-Identifier: Apache-2.0
"""A control group with a quota of CPU time, made for a while: what its processes have together.

The quota is that of the kernel's fair scheduler (``cpu.max``, in version 1 ``cpu.cfs_quota_us``).
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from takt.errors import Failure


class NoQuota(Failure):
    """No such group can be made."""


_GROUPS = Path("/sys/fs/cgroup")
_OLD = ("cpu", "cpu,cpuacct")  # of version 1
_PERIOD_US = 100_000
_NAME = re.compile(r"takt-load-[0-9a-f]{8}")
_EMPTIES_S, _POLL_S = 2.0, 0.01  # processes that are just ending keep a group


def lacking() -> tuple[str, str] | None:
    """Why no such group can be made here, and what to do; None: it can."""
    try:
        with _created(f"takt-load-{os.getpid():08x}", 1.0):
            return None
    except NoQuota as failure:
        return failure.what, failure.fix or ""


@contextlib.contextmanager
def quota(scratch: Path, cpus: float) -> Iterator[Path]:
    """A group of the run with this scratch folder, of as much time as so many CPUs have.

    Raises NoQuota where it cannot be made.
    """
    with _created(_name(scratch), cpus) as group:
        yield group


def left_by(scratch: Path, *, remove_it: bool) -> list[str]:
    """The group of a dead run that is still there."""
    name = _name(scratch)
    found = [root / name for root in _roots() if _NAME.fullmatch(name) and (root / name).is_dir()]
    for one in found if remove_it else []:
        _remove(one)
    return list(map(str, found))


def _name(scratch: Path) -> str:
    return f"takt-load-{scratch.name[-8:]}"


def _roots() -> list[Path]:
    return [*(_GROUPS / one for one in _OLD if (_GROUPS / one / "cpu.shares").exists()), _GROUPS]


@contextlib.contextmanager
def _created(name: str, cpus: float) -> Iterator[Path]:
    root = _roots()[0]
    group, most = root / name, round(cpus * _PERIOD_US)
    files = {"cpu.max": f"{most} {_PERIOD_US}"}
    if root != _GROUPS:
        files = {"cpu.cfs_period_us": str(_PERIOD_US), "cpu.cfs_quota_us": str(most)}
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
