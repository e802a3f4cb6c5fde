# SPDX-License-Identifier: Apache-2.0
"""Whether large messages were lost because they are larger than what a socket may receive into."""

from __future__ import annotations

from takt.machine.system import System
from takt.measure.results.model import Cell, Note
from takt.network import transport
from takt.network.hosts import other_hosts

GRANTED = "/proc/sys/net/core/rmem_max"
# What a middleware does about it that it does not say itself.
REPAIRS = {"rustdds": "RustDDS retransmits at most 8 fragments of 256 bytes every 10 ms, 205 KB/s"}


def too_small(cell: Cell, system: System) -> Note | None:
    """Says that the kernel grants a socket less than a message of which some were lost."""
    if not cell.lost or cell.transport != "udp" or other_hosts(cell.host):
        return None
    granted = system.number(GRANTED)
    if granted is None or granted >= cell.payload_bytes:
        return None
    repairs = [words for stack, words in REPAIRS.items() if stack in cell.stack.split(",")]
    why = (
        f"a message has {cell.payload_bytes} bytes, and the kernel grants a socket "
        f"{granted} (net.core.rmem_max): datagrams of a burst that do not fit are dropped"
    )
    return Note(
        what="messages lost that are larger than the receive buffer",
        why="; ".join([why, *repairs]),
        fix=f"sudo sysctl -w net.core.rmem_max={transport.receive_buffer(cell.payload_bytes)}",
    )
