# SPDX-License-Identifier: Apache-2.0
"""Who had the cores while programs were recorded: the kernel's context switches, in a file beside.

A line each: ``held CORE BEGIN END PROCESS THREAD NAME`` (ns of CLOCK_MONOTONIC), ``lost NUMBER``
(switches), ``refused REASON``. Each stretch of recording appends its own.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from takt.documents.own import printable
from takt.processes.switches import Held, Switches

FILE = "switches"


@dataclass
class Seen:
    """What the file of a folder holds."""

    held: list[Held] = field(default_factory=list)
    lost: int = 0
    refused: str | None = None  # why the kernel did not tell; of the last stretch
    known: bool = False  # whether there is such a file


class Beside:
    """Records them from now on; needs looks, and an end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._switches: Switches | None = Switches(os.sched_getaffinity(0))

    def look(self) -> None:
        """Takes what the kernel has so far: at least every second."""
        if self._switches:
            self._switches.look()

    def end(self) -> None:
        """Writes all, or nothing where the disk is full; does nothing the second time."""
        switches, self._switches = self._switches, None
        if switches is None:
            return
        lines = []
        if switches.refused:
            lines.append(f"refused {switches.refused}")
        else:
            switches.end()
            lines += [
                f"held {one.cpu} {one.begin} {one.end} {one.process} {one.thread} {one.name}"
                for one in switches.held
            ]
            if lost := switches.lost + switches.left_out:
                lines.append(f"lost {lost}")
        path = self._folder / FILE
        before = path.stat().st_size if path.exists() else 0
        try:
            with path.open("a", encoding="utf-8") as file:
                file.writelines(f"{printable(line)}\n" for line in lines)
        except OSError:  # the recordings themselves are whole on a disk that is full
            with suppress(OSError):
                os.truncate(path, before)
                if not before:
                    path.unlink()


def read(folder: Path) -> Seen:
    """By time; what is not as Takt writes it is left out."""
    found = Seen()
    try:
        text = (folder / FILE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return found
    found.known = True
    for line in text.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "refused":
            found.refused = printable(rest)
        elif kind == "lost" and rest.isdecimal():
            found.lost += int(rest)
        elif kind == "held" and (held := _held(rest)) is not None:
            found.held.append(held)
    found.held.sort()
    return found


def _held(text: str) -> Held | None:
    fields = text.split(" ", 5)
    try:
        cpu, begin, end, process, thread = (int(one) for one in fields[:5])
    except ValueError:
        return None
    if len(fields) < 6 or not begin < end:
        return None
    return Held(begin, end, cpu, process, printable(fields[5]), thread)
