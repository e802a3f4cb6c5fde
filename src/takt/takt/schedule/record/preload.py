# SPDX-License-Identifier: Apache-2.0
"""Which programs the recorder can be preloaded into, and the environment that does it."""

from __future__ import annotations

import os
import shutil
import stat
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from takt.errors import TaktError
from takt.network import stacks

LIBRARY = "libtakt_record.so"
_ELF = b"\x7fELF"
_SIZES = struct.Struct("<54xHH")  # of a program header, and how many; ELF64, little endian
_OFFSET = struct.Struct("<32xQ")
_INTERPRETER = 3  # PT_INTERP: the program is dynamically linked
_HEAD_BYTES = 64


def program(command: Sequence[str]) -> str:
    """The path of the command's program; raises TaktError where nothing can be preloaded into it.

    A script is started by its interpreter, which is not looked at.
    """
    path = shutil.which(command[0])
    if path is None:
        raise TaktError(
            f"no such program: {command[0]!r}",
            fix="check the name, and source your ROS 2 workspace first",
        )
    mode = Path(path).stat().st_mode
    if mode & (stat.S_ISUID | stat.S_ISGID) or _has_capabilities(path):
        raise _refused(
            path,
            "it runs with the rights of another user or with capabilities, and the dynamic linker "
            "ignores LD_PRELOAD for such programs",
            "record the program that it starts, or a copy without these rights",
        )
    if _is_static(Path(path)):
        raise _refused(
            path, "it is statically linked", "record a program that is dynamically linked"
        )
    return path


def environment(
    folder: Path, size: int, *, ring: bool = False, given: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """That of a recorded program: recordings in ``folder``, of ``size`` bytes each."""
    library = stacks.program(
        LIBRARY,
        "./takt --setup-only builds it if tracetools is found: source a ROS 2 installation, or use "
        "the wheels",
    )
    others = given.get("LD_PRELOAD", "")
    return {
        **given,
        "LD_PRELOAD": f"{library}:{others}" if others else str(library),
        "TAKT_RECORD_FOLDER": str(folder.resolve()),
        "TAKT_RECORD_BYTES": str(size),
        "TAKT_RECORD_FULL": "ring" if ring else "stop",
    }


def _has_capabilities(path: str) -> bool:
    try:
        return bool(os.getxattr(path, "security.capability"))
    except OSError:  # none, or a file system without
        return False


def _is_static(path: Path) -> bool:
    """Whether this is a program without a dynamic linker."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
            if not head.startswith(_ELF) or len(head) < _HEAD_BYTES:
                return False
            (start,), (size, count) = _OFFSET.unpack_from(head), _SIZES.unpack_from(head)
            stream.seek(start)
            headers = stream.read(size * count)
    except OSError:
        return False  # the kernel says what is wrong when it starts it
    kinds = [
        int.from_bytes(headers[at : at + 4], "little") for at in range(0, len(headers), size or 1)
    ]
    return _INTERPRETER not in kinds


def _refused(path: str, why: str, fix: str) -> TaktError:
    return TaktError(f"cannot record this program: {why}", where=path, fix=fix)
