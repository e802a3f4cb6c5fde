# SPDX-License-Identifier: Apache-2.0
"""Which programs a library can be preloaded into, and the environment that does it."""

from __future__ import annotations

import os
import shutil
import stat
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from takt.errors import TaktError

_ELF = b"\x7fELF"
_SIZES = struct.Struct("<54xHH")  # of a program header, and how many; ELF64, little endian
_OFFSET = struct.Struct("<32xQ")
_INTERPRETER = 3  # PT_INTERP: the program is dynamically linked
_HEAD_BYTES = 64


def program(command: Sequence[str], act: str) -> str:
    """The path of the command's program; raises TaktError where nothing can be preloaded into it.

    ``act``: what is done with the program, as a verb. A script is started by its interpreter, which
    is not looked at.
    """
    path = shutil.which(command[0])
    if path is None:
        raise TaktError(
            f"no such program: {command[0]!r}",
            fix="check the name, and source your ROS 2 workspace first",
        )
    mode = Path(path).stat().st_mode
    if mode & (stat.S_ISUID | stat.S_ISGID) or _has_capabilities(path):
        why = (
            "it runs with the rights of another user or with capabilities, and the dynamic linker "
            "ignores LD_PRELOAD for such programs"
        )
        fix = f"{act} the program that it starts, or a copy without these rights"
    elif _is_static(Path(path)):
        why = "it is statically linked"
        fix = f"{act} a program that is dynamically linked"
    else:
        return path
    raise TaktError(f"cannot {act} this program: {why}", where=path, fix=fix)


def preloaded(library: Path, given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment with the library before all others that are preloaded already."""
    others = given.get("LD_PRELOAD", "")
    return {**given, "LD_PRELOAD": f"{library}:{others}" if others else str(library)}


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
