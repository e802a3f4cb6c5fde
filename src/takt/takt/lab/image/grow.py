# SPDX-License-Identifier: Apache-2.0
"""A stick is larger than the image that was written to it: on the target its partition grows.

The image's file system has a table for more than it holds, so that three numbers say how large it
is: nothing that lies on it moves, and a stick that is pulled out meanwhile is as large as before.
"""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

from takt.errors import Failure, TaktError
from takt.lab.image.disk import OFFSET, SECTOR, partition

_TABLE = 446 + 12  # in the first sector: how many sectors the partition has
_TOTAL, _UNKNOWN = 32, 0xFFFFFFFF
_FREE = 488  # in the sector of information: how many clusters are free
_LEAST = (16 << 20) // SECTOR  # not worth it


def grow(disk: Path) -> bool:
    """Makes the partition as large as its table allows; False: it is. Raises Failure."""
    if partition(disk) != OFFSET:
        raise Failure("its partition is not at the expected position", where=str(disk))
    with disk.open("r+b") as file:
        sectors = file.seek(0, os.SEEK_END) // SECTOR - OFFSET // SECTOR
        first = _read(file.fileno(), OFFSET)
        total = struct.unpack_from("<I", first, _TOTAL)[0]
        new = min(sectors, _most(first))
        if new < total + _LEAST:
            return False
        number = struct.pack("<I", new)
        os.pwrite(file.fileno(), number, _TABLE)  # a partition may be larger than what it holds
        os.fsync(file.fileno())
        information, copy = struct.unpack_from("<HH", first, 48)
        unknown = struct.pack("<I", _UNKNOWN)
        os.pwrite(file.fileno(), unknown, OFFSET + information * SECTOR + _FREE)
        for sector in (copy, 0):
            os.pwrite(file.fileno(), number, OFFSET + sector * SECTOR + _TOTAL)
        os.fsync(file.fileno())
    return True


def _most(first: bytes) -> int:
    """The sectors of a file system whose table is in use to its end."""
    per_cluster, reserved, tables = struct.unpack_from("<BHB", first, 13)
    length = struct.unpack_from("<I", first, 36)[0]
    clusters = length * SECTOR // 4 - 2
    return int(reserved + tables * length + clusters * per_cluster)


def _read(descriptor: int, at: int) -> bytes:
    sector = os.pread(descriptor, SECTOR, at)
    if sector[82:87] != b"FAT32" or sector[510:512] != b"\x55\xaa":
        raise Failure("no file system to grow", where=f"at {at} bytes")
    return sector


if __name__ == "__main__":  # on the target
    try:
        sys.exit(0 if grow(Path(sys.argv[1])) else 1)
    except (TaktError, OSError) as error:
        sys.exit(str(error))
