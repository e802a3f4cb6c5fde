# SPDX-License-Identifier: Apache-2.0
"""The one way to read a file that people or other programs wrote.

Whatever is in it, the answer is its content or a TaktError with the file, the place and the fix,
in bounded time and memory: files have a greatest size, nesting a greatest depth, pipes and devices
are refused (they may never end).
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NoReturn

from takt.documents import writing
from takt.errors import TaktError

TEXT_BYTES = 16 << 20  # of what people write; JSON of other programs may be larger
DOCUMENT_BYTES = 256 << 20
NO_FILE = "give the path of a file that exists"
NO_JSON = "correct the file there, or give another one"


@contextlib.contextmanager
def opened(file: Path) -> Iterator[IO[bytes]]:
    """A file that is one; FileNotFoundError, for a fix of one's own, or TaktError."""
    try:
        # Without waiting for a pipe's other end.
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise _unreadable(file, error) from None
    try:
        _refuse_special(file, os.fstat(descriptor).st_mode)
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            yield stream
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _unreadable(file, error) from None
    finally:
        os.close(descriptor)


def _unreadable(file: Path, error: Exception) -> TaktError:
    if isinstance(error, OSError) and writing.is_of_disk(error):
        error.filename = str(file)
        return writing.failure(error)
    words = getattr(error, "strerror", None) or error
    return TaktError(f"cannot read the file: {words}", where=str(file))


def _refuse_special(file: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        what, fix = "this is a folder, not a file", "give a file in it"
    elif not stat.S_ISREG(mode):
        what = "this is a pipe or a device, not a regular file"
        fix = "copy its content to a file first"
    else:
        return
    raise TaktError(what, where=str(file), fix=fix)


def read_bytes(file: Path, *, most: int = TEXT_BYTES) -> bytes:
    """The content of a file; FileNotFoundError, for a fix of one's own, or TaktError."""
    with opened(file) as stream:
        content = stream.read(most + 1)
    if content.startswith(b"TAKTTRC"):
        raise TaktError(
            "this is a trace: takt trace, metrics, explain, gate, model and view read it",
            where=str(file),
            fix="give a text file, such as an app.yaml; takt model writes one from a trace",
        )
    if len(content) > most:
        raise TaktError(
            f"the file exceeds the limit of {most >> 20} MiB",
            where=str(file),
            fix="check that this is the right file",
        )
    return content


def read_text(file: Path, *, most: int = TEXT_BYTES) -> str:
    """The same as text; TaktError where it is no UTF-8."""
    try:
        return read_bytes(file, most=most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TaktError(
            f"cannot read the file: byte {error.start} is not UTF-8",
            where=str(file),
            fix="save the file as UTF-8 text",
        ) from None


def read_json(file: Path, *, fix: str | None = None, most: int = DOCUMENT_BYTES) -> Any:
    """The document in a file; raises TaktError."""
    try:
        text = read_text(file, most=most)
    except FileNotFoundError:
        raise TaktError("no such file", where=str(file), fix=fix or NO_FILE) from None
    return parse_json(text, str(file), fix=fix)


def parse_json(text: str, where: str, *, fix: str | None = None) -> Any:
    """The document in a text; raises TaktError with the line."""
    fix = fix or NO_JSON
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        place = f"{where}:{error.lineno}"
        raise TaktError(f"not valid JSON: {error.msg}", where=place, fix=fix) from None
    except RecursionError:
        raise TaktError("it is nested too deeply", where=where, fix=fix) from None
    except ValueError as error:  # a number with thousands of digits, infinity
        raise TaktError(f"not valid JSON: {error}", where=where, fix=fix) from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")
