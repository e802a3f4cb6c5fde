# SPDX-License-Identifier: Apache-2.0
"""Pauses and resumes the recordings of a folder, by a file that all its processes look at.

Its begin is that of src/takt_record/src/recording.hpp; behind it the begin and the end of each
stretch of recording follow, in ns of CLOCK_MONOTONIC; 0 for the end: it continues.
"""

from __future__ import annotations

import os
import struct
import time
from pathlib import Path

from takt.errors import TaktError

FILE = "control"
_MAGIC = b"TAKTCON1"
_HEAD = struct.Struct("<8sII")
_STRETCH = struct.Struct("<qq")

Stretch = tuple[int, int | None]


def create(folder: Path, *, on: bool) -> None:
    """Makes the file, before the first process looks for it."""
    (folder / FILE).write_bytes(_HEAD.pack(_MAGIC, int(on), 0))
    if on:
        _append(folder)


def resume(folder: Path) -> None:
    """All processes of the folder record from now on; raises TaktError where they do, or cannot."""
    if is_on(folder):
        raise TaktError(
            "this recording is running",
            where=str(folder),
            fix="wait for its end, or start the command with takt record --paused",
        )
    _append(folder)
    _turn(folder, on=True)


def pause(folder: Path) -> None:
    """They record nothing but names from now on."""
    if not is_on(folder):
        return
    _turn(folder, on=False)
    found = stretches(folder)
    with (folder / FILE).open("r+b") as file:
        file.seek(_HEAD.size + (len(found) - 1) * _STRETCH.size)
        file.write(_STRETCH.pack(found[-1][0], time.clock_gettime_ns(time.CLOCK_MONOTONIC)))


def is_on(folder: Path) -> bool:
    """Whether it records now."""
    return bool(_HEAD.unpack_from(_content(folder))[1])


def stretches(folder: Path) -> list[Stretch]:
    """When it was recorded, in ns; an empty list: by a folder without such a file, all the time."""
    if not (folder / FILE).exists():
        return []
    content = _content(folder)[_HEAD.size :]
    whole = len(content) // _STRETCH.size * _STRETCH.size
    return [(begin, end or None) for begin, end in _STRETCH.iter_unpack(content[:whole])]


def _content(folder: Path) -> bytes:
    try:
        content = (folder / FILE).read_bytes()
    except OSError:
        content = b""
    if len(content) < _HEAD.size or not content.startswith(_MAGIC):
        raise TaktError(
            "this folder contains no recording that can be paused",
            where=str(folder),
            fix="give the folder of a running takt record",
        )
    return content


def _turn(folder: Path, *, on: bool) -> None:
    with (folder / FILE).open("r+b") as file:
        os.pwrite(file.fileno(), _HEAD.pack(_MAGIC, int(on), 0), 0)


def _append(folder: Path) -> None:
    with (folder / FILE).open("ab") as file:
        file.write(_STRETCH.pack(time.clock_gettime_ns(time.CLOCK_MONOTONIC), 0))
