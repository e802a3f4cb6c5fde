# SPDX-License-Identifier: Apache-2.0
"""Network settings that decide whether large messages arrive."""

from __future__ import annotations

from takt.doctor.finding import Finding, Severity
from takt.doctor.system import System

# A megabyte message is some 16 datagrams of 64 KiB that arrive as one burst.
ENOUGH_RECEIVE_BUFFER = 2 * 2**20


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
        fix=None
        if size is None or enough
        else "echo net.core.rmem_max=8388608 | sudo tee /etc/sysctl.d/60-ros.conf && "
        "sudo sysctl --system",
    )


CHECKS = (receive_buffer,)
