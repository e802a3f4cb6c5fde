# SPDX-License-Identifier: Apache-2.0
"""What killed runs leave beside files: links, control groups, locks of domains and addresses."""

from __future__ import annotations

from pathlib import Path

from takt.machine import cpu_quota
from takt.network import addresses, domain, namespace
from takt.processes.leftovers import Sweeper


def _of_run(scratch: Path, remove: bool) -> list[str]:
    names = namespace.left_by(scratch, remove_it=remove)
    groups = cpu_quota.left_by(scratch, remove_it=remove)
    return [
        *(f"link of a second host: {name}" for name in names),
        *(f"control group with a quota: {name}" for name in groups),
    ]


def _locks(folder: Path, remove: bool) -> list[str]:
    lines = [
        f"lock of the host's addresses: {lock}"
        for lock in addresses.free_lock(folder, remove=remove)
    ]
    if locks := domain.free_locks(folder, remove=remove):
        names = [str(locks[0]), *(path.name for path in locks[1:])]
        lines.append(f"locks of ROS domains: {', '.join(names)}")
    return lines


SWEEPER = Sweeper(_of_run, _locks)
