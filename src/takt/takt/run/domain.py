# SPDX-License-Identifier: Apache-2.0
"""A ROS domain of one's own: two runs at once on one machine must not hear each other.

A domain is held by a file lock, which dies with the process. Domains whose UDP ports somebody uses
already (a robot's own nodes, say) are passed over. Ports: DDSI-RTPS 2.5, 9.6.2.3.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from takt.errors import Failure

FIRST, LAST = 1, 101  # above 101 the ports run into Linux's ephemeral range
PORT_BASE, PORTS_PER_DOMAIN = 7400, 250


def domain_of_port(port: int) -> int | None:
    """The domain that a UDP port belongs to; None: not one that we would take."""
    domain = (port - PORT_BASE) // PORTS_PER_DOMAIN
    return domain if FIRST <= domain <= LAST else None


def used_domains(
    tables: tuple[Path, ...] = (Path("/proc/net/udp"), Path("/proc/net/udp6")),
) -> set[int]:
    """Domains with a UDP port that is bound right now."""
    used = set()
    for table in tables:
        with contextlib.suppress(OSError):
            for line in table.read_text(encoding="ascii").splitlines()[1:]:
                port = int(line.split()[1].rpartition(":")[2], 16)
                if (domain := domain_of_port(port)) is not None:
                    used.add(domain)
    return used


@contextlib.contextmanager
def own_domain(folder: Path | None = None) -> Iterator[int]:
    """Holds a domain that no other run of this machine has, until the context ends."""
    folder = folder or Path(tempfile.gettempdir())
    used = used_domains()
    domains = list(range(FIRST, LAST + 1))
    random.shuffle(domains)  # runs that start together do not queue for the same one
    for domain in domains:
        if domain in used:
            continue
        try:
            descriptor = _open(folder / f"takt-domain-{domain}.lock")
        except OSError:
            continue  # another user's file that we may not open: that user's domain
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            continue
        try:
            yield domain
        finally:
            os.close(descriptor)  # drops the lock; the file stays, removing it would be a race
        return
    raise Failure(
        f"all ROS domains from {FIRST} to {LAST} are in use",
        where=str(folder),
        remedy="wait for other runs to end; ss -ulp shows who holds UDP ports from 7650 on",
    )


def _open(path: Path) -> int:
    # Without O_CREAT first: in a sticky folder Linux refuses O_CREAT on another user's file.
    try:
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return os.open(path, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW, 0o644)
