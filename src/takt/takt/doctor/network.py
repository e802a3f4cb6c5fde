# SPDX-License-Identifier: Apache-2.0
"""Network settings that decide whether large messages arrive."""

from __future__ import annotations

from takt.doctor.check import BY_HAND, UNREADABLE, Check, Judgement, good, warning
from takt.machine.memory import ENOUGH_RECEIVE_BUFFER
from takt.machine.system import System


def _receive_buffer(system: System) -> Judgement:
    size = system.number("/proc/sys/net/core/rmem_max")
    if size is None:
        return UNREADABLE
    value = f"at most {size / 1024:.0f} KiB"
    return good(value) if size >= ENOUGH_RECEIVE_BUFFER else warning(value, BY_HAND)


CHECKS = (
    Check(
        "udp-buffers",
        "UDP receive buffer",
        _receive_buffer,
        "A camera image arrives as a burst of datagrams. What does not fit into this buffer is "
        "dropped and sent again: images come late or, with best effort, never.",
    ),
)
