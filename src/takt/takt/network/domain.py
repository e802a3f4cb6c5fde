# SPDX-License-Identifier: Apache-2.0
"""A ROS domain of one's own: two runs at once on one machine must not hear each other.

A domain is held by a file lock, which dies with the process; its file goes with the run, or with
who sweeps after a killed one. Domains whose UDP ports somebody uses already (a robot's own nodes,
say) are passed over. Ports: DDSI-RTPS 2.5, 9.6.2.3. Over shared memory alone Fast DDS binds no UDP
port, but its files bear the same numbers: such domains are taken last, as killed programs leave
these files, too.

All users share the domains of a machine, so any of them can hold all locks. Where nothing else is
left, a domain is taken whose lock other users hold and whose ports nobody uses: a lock is then no
more than a word of somebody who may never let go.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import re
import stat
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

from takt.errors import Failure
from takt.network.addresses import holders
from takt.processes import scratch

FIRST, LAST = 1, 101  # above 101 the ports run into Linux's ephemeral range
LOCKS = "takt-domain-*.lock"
_PORT_FILE = re.compile(r"fast(?:rtps|dds)_port([0-9]{1,6})")
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


def domains_in_memory(memory: Path = scratch.MEMORY) -> set[int]:
    """Domains of which Fast DDS has, or has left, a port in shared memory."""
    ports = (_PORT_FILE.fullmatch(path.name) for path in memory.iterdir())
    found = (domain_of_port(int(one[1])) for one in ports if one)
    return {domain for domain in found if domain is not None}


@contextlib.contextmanager
def own_domain(folder: Path | None = None, avoid: Collection[int] = ()) -> Iterator[int]:
    """Holds a domain that no other run of this machine has, until the context ends.

    ``avoid`` are those in use on other hosts of the run.
    """
    folder = folder or Path(tempfile.gettempdir())
    used = used_domains().union(avoid)
    domains = list(range(FIRST, LAST + 1))
    random.shuffle(domains)  # runs that start together do not queue for the same one
    domains.sort(key=domains_in_memory().__contains__)
    for domain in domains:
        if domain in used:
            continue
        path = folder / LOCKS.replace("*", str(domain))
        descriptor = lock(path)
        if descriptor is None:
            continue
        try:
            yield domain
        finally:
            _drop(path, descriptor)
        return
    for domain in domains:
        if domain not in used and strangers_hold(folder / LOCKS.replace("*", str(domain))):
            yield domain
            return
    raise Failure(
        f"all ROS domains from {FIRST} to {LAST} are in use",
        where=str(folder),
        fix="wait for other runs to end; ss -ulp lists the processes on UDP ports from 7650 on",
    )


def strangers_hold(path: Path) -> bool:
    """Whether it is not to be had, and no process of this user has it."""
    with contextlib.suppress(OSError):
        who = {Path(f"/proc/{pid}").stat().st_uid for pid, _ in holders(path)}
        return os.geteuid() not in (who or {path.lstat().st_uid})
    return False


def free_locks(folder: Path, *, remove: bool) -> list[Path]:
    """The lock files of this user that nobody holds: runs that were killed had them."""
    free = []
    for path in sorted(folder.glob(LOCKS)):
        with contextlib.suppress(OSError):
            if path.lstat().st_uid != os.getuid():
                continue
            descriptor = lock(path)
            if descriptor is not None:
                if remove:
                    _drop(path, descriptor)
                else:
                    os.close(descriptor)
                free.append(path)
    return free


def lock(path: Path) -> int | None:
    """Makes, opens and locks a file; None where it is another run's, another user's or no file."""
    # Without O_CREAT first: in a sticky folder Linux refuses O_CREAT on another user's file. A pipe
    # that somebody put there would be waited for.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        try:
            descriptor = os.open(path, flags)
        except FileNotFoundError:
            descriptor = os.open(path, flags | os.O_CREAT, 0o644)
    except OSError:
        return None
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.stat().st_ino == os.fstat(descriptor).st_ino:  # its holder may be quicker
                return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None


def _drop(path: Path, descriptor: int) -> None:
    """Removes a lock file while it is held: who has opened it meanwhile sees that it is gone.

    Another user's, which is one for everybody while its holder is dead, stays.
    """
    with contextlib.suppress(OSError):
        if os.fstat(descriptor).st_uid == os.geteuid():
            path.unlink()
    os.close(descriptor)
