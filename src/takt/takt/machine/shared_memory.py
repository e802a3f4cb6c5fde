# SPDX-License-Identifier: Apache-2.0
"""The file system of shared memory: how large it is, and how it gets larger."""

from __future__ import annotations

from takt.machine.surroundings import in_container
from takt.machine.system import Space, System

FOLDER = "/dev/shm"  # noqa: S108 - looked at, not written to
_MIB = 2**20


def space(system: System) -> Space | None:
    """Its size; None where there is none."""
    found = system.space(FOLDER) if system.exists(FOLDER) else None
    return found if found and found.total else None


def larger(system: System, least: int) -> str:
    """The command that gives it at least so many bytes; containers get 64 MiB by default."""
    size = -(-least // _MIB)
    if in_container(system):
        return f"docker run --shm-size={size}m …   # in a compose file: shm_size: {size}m"
    return f"sudo mount -o remount,size={size}M {FOLDER}   # until reboot"
