# SPDX-License-Identifier: Apache-2.0
"""The processes of a running ROS system: those that hold the UDP ports of its domain.

Every participant of DDS has ports of its own that follow from its domain (DDSI-RTPS 2.5, 9.6.2.3),
also where its messages go through shared memory. So a system that somebody else started is known
without a word of it. Zenoh and ROS 1 know no domains.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from takt.network.domain import PORT_BASE, PORTS_PER_DOMAIN

_TABLES = (Path("/proc/net/udp"), Path("/proc/net/udp6"))
_FIRST_UNICAST, _PORTS_EACH = 10, 2  # behind those of multicast: one for discovery, one for data


def processes(domain: int) -> dict[int, str]:
    """Name by process id of all participants of a domain in this network namespace.

    Only root sees the processes of other users.
    """
    inodes = {f"socket:[{inode}]" for _, inode in _sockets(domain)}
    found = {}
    for process in Path("/proc").iterdir() if inodes else ():
        if process.name.isdecimal() and inodes.intersection(_files(process)):
            with contextlib.suppress(OSError):
                found[int(process.name)] = (process / "comm").read_text(encoding="utf-8").strip()
    return found


def participants(domain: int) -> int:
    """How many participant ids are in use up to the highest one: who looks for others, by how far.

    Participants without a known id, such as those with random ports, are not counted.
    """
    ids = [(port - _FIRST_UNICAST) // _PORTS_EACH for port, _ in _sockets(domain)]
    return max(ids, default=-1) + 1


def _sockets(domain: int) -> Iterator[tuple[int, str]]:
    """The ports of a domain that somebody holds, from 0, and the inodes of their sockets."""
    first = PORT_BASE + domain * PORTS_PER_DOMAIN
    for table in _TABLES:
        lines: Iterable[str] = ()
        with contextlib.suppress(OSError):
            lines = table.read_text(encoding="ascii").splitlines()[1:]
        for line in lines:
            fields = line.split()
            port = int(fields[1].rpartition(":")[2], 16) - first
            if 0 <= port < PORTS_PER_DOMAIN:
                yield port, fields[9]


def _files(process: Path) -> Iterator[str]:
    """What the descriptors of a process point to; nothing of one that is gone, or another's."""
    with contextlib.suppress(OSError):
        for descriptor in (process / "fd").iterdir():
            with contextlib.suppress(OSError):
                yield str(descriptor.readlink())
