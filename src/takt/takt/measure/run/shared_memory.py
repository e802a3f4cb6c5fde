# SPDX-License-Identifier: Apache-2.0
"""Whether a cell failed because /dev/shm is too small: Fast DDS reports only that it failed.

Containers get 64 MiB by default, less than the segments of two processes with large messages.
"""

from __future__ import annotations

from takt.machine import shared_memory
from takt.machine.system import System
from takt.measure.results.model import Cell, Note, Status
from takt.network import transport
from takt.network.hosts import other_hosts

_SHM = "shm"
_OF_FAST_DDS = frozenset({"rcl", "rclcpp"})
_LEAST = 2**30  # of the size in the fix: room for the recordings, and for the next larger message
_MIB = 2**20


def too_small(cell: Cell, processes: int, system: System) -> Note | None:
    """The error in place of the middleware's; None where there was room, or nothing failed."""
    ours = cell.transport == _SHM and set(cell.stack.split(",")) <= _OF_FAST_DDS
    if cell.status is not Status.failed or cell.error is None or not ours:
        return None
    space = shared_memory.space(system)
    segment = transport.segment_bytes(cell.payload_bytes)
    need = processes * segment
    if other_hosts(cell.host) or space is None or space.free >= need:
        return None
    return Note(
        what=f"{shared_memory.FOLDER} is too small for the messages of this cell",
        why=f"{processes} processes need {segment / _MIB:.0f} MiB each, {space.free / _MIB:.0f} of "
        f"{space.total / _MIB:.0f} MiB are free; {cell.error.what}: {cell.error.why}",
        fix=shared_memory.larger(system, max(_LEAST, 2 * need)),
    )
