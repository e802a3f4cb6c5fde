# SPDX-License-Identifier: Apache-2.0
"""Reads a CTF trace through babeltrace2, as one event after the other, by time.

Its text is parsed, because its Python module is only there for the distribution's own Python.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from takt.errors import TaktError
from takt.schedule.ros2.event import Event, Value

PROGRAM = "babeltrace2"
_LINE = re.compile(r"\[(\d+)\.(\d{9})\] (?:\S+ )??([\w:]+): (.*)", re.DOTALL)
_FIELD = re.compile(r'([A-Za-z_]\w*) = (?:"((?:[^"\\]|\\.)*)"|(0x[0-9A-Fa-f]+)|(-?\d+))')
_ESCAPES = {"n": "\n", "t": "\t"}


def is_ctf(path: Path) -> bool:
    """Whether this is a folder with a CTF trace in it, at any depth."""
    return path.is_dir() and next(path.rglob("metadata"), None) is not None


def events(
    path: Path, wanted: Callable[[str], bool], progress: Callable[[int], None] = lambda _: None
) -> Iterator[Event]:
    """All events whose names are wanted; raises TaktError where babeltrace2 cannot read them."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise TaktError(
            f"this is a CTF trace; reading it needs {PROGRAM}, which is not installed",
            where=str(path),
            fix="sudo apt install babeltrace2",
        )
    command = [program, "--clock-seconds", "--no-delta", str(path.resolve())]
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        # The text of an event never has a line break: babeltrace2 escapes those of strings.
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=said, text=True, errors="replace"
        ) as process:
            assert process.stdout is not None  # noqa: S101 - asked for
            try:
                for number, line in enumerate(process.stdout):
                    if number % 65_536 == 0:
                        progress(number)
                    event = parse(line, wanted)
                    if event is not None:
                        yield event
            finally:
                process.stdout.close()
                if process.poll() is None and process.wait() < 0:
                    pass  # it wrote to a pipe that nobody reads any more
        if process.returncode:
            said.seek(0)
            lines = [line.strip() for line in said.read().splitlines() if line.strip()]
            raise TaktError(
                f"{PROGRAM} cannot read this trace: {lines[-1] if lines else process.returncode}",
                where=str(path),
                fix=f"see the messages of {PROGRAM} {path}",
            )


def parse(line: str, wanted: Callable[[str], bool]) -> Event | None:
    """An event from its line; None: another one."""
    match = _LINE.match(line)
    if match is None or not wanted(match[3]):
        return None
    fields: dict[str, Value] = {}
    for name, text, address, number in _FIELD.findall(match[4]):
        if address:
            fields[name] = int(address, 16)
        elif number:
            fields[name] = int(number)
        else:
            fields[name] = re.sub(r"\\(.)", lambda one: _ESCAPES.get(one[1], one[1]), text)
    return Event(int(match[1]) * 1_000_000_000 + int(match[2]), match[3], fields)
