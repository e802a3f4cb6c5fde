# SPDX-License-Identifier: Apache-2.0
"""Network settings that decide whether large messages arrive."""

from __future__ import annotations

from takt.doctor.finding import Finding, Severity
from takt.machine.memory import ENOUGH_RECEIVE_BUFFER
from takt.machine.settings import by_hand
from takt.machine.system import System


def receive_buffer(system: System) -> Finding:
    """Judges whether a burst of datagrams fits into a socket."""
    size = system.number("/proc/sys/net/core/rmem_max")
    enough = size is not None and size >= ENOUGH_RECEIVE_BUFFER
    return Finding(
        id="udp-buffers",
        title="UDP receive buffer",
        severity=Severity.unknown
        if size is None
        else Severity.good
        if enough
        else Severity.warning,
        value="could not be read" if size is None else f"at most {size / 1024:.0f} KiB",
        why="A camera image arrives as a burst of datagrams. What does not fit into this buffer is "
        "dropped and sent again: images come late or, with best effort, never.",
        fix=None if size is None or enough else by_hand("udp-buffers", system),
    )


CHECKS = (receive_buffer,)
