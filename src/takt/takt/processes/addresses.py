# SPDX-License-Identifier: Apache-2.0
"""This host's addresses stay as they are while processes start that tell hosts apart by them.

Fast DDS takes a hash of the IPv4 addresses for its host, once, when a process starts, and reaches
over shared memory only who has the same. Two ends between whose starts an address came or went (a
second host's link of another run) never find each other. So who starts such processes holds a
shared lock until they have met; who changes an address has the lock alone meanwhile.

It is the lock of the folder that holds those of ROS domains (domain.py), and nobody waits for it
for ever. What others change, a Wi-Fi or a container, is not held back.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Iterator

LIMIT_S = 120.0  # processes meet, and an address is changed, in less on a busy machine
_POLL_S = 0.01


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Until the context ends nobody else who asks changes an address."""
    with _locked(fcntl.LOCK_SH):
        yield


@contextlib.contextmanager
def changing() -> Iterator[None]:
    """An address of this host may be changed now."""
    with _locked(fcntl.LOCK_EX):
        yield


def folder() -> str:
    """Whose lock it is."""
    return tempfile.gettempdir()


@contextlib.contextmanager
def _locked(kind: int) -> Iterator[None]:
    descriptor = os.open(folder(), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        limit = time.monotonic() + LIMIT_S
        while not _try(descriptor, kind) and time.monotonic() < limit:
            time.sleep(_POLL_S)
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # also for a process that is being forked
        os.close(descriptor)


def _try(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
