# SPDX-License-Identifier: Apache-2.0
"""Who had the cores while programs were recorded: context switches and interrupts, beside them.

A line each in a file: ``held CORE BEGIN END PROCESS THREAD NAME`` (ns of CLOCK_MONOTONIC), ``lost
NUMBER`` (switches), ``refused REASON``; ``interrupt CORE BEGIN END NAME``, ``interrupts_lost
NUMBER``, ``interrupts_refused REASON``. Each stretch of recording appends its own.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from takt.documents.own import printable
from takt.processes.interrupts import Interrupts
from takt.processes.switches import INTERRUPT, Held, Switches

FILE = "switches"


@dataclass
class Seen:
    """What the file of a folder holds."""

    held: list[Held] = field(default_factory=list)
    lost: int = 0
    refused: str | None = None  # why the kernel did not tell; of the last stretch
    known: bool = False  # whether there is such a file
    interrupts: list[Held] = field(default_factory=list)
    interrupts_lost: int = 0
    interrupts_refused: str | None = "recorded before Takt recorded them"


class Beside:
    """Records them from now on; needs looks, and an end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        cpus = os.sched_getaffinity(0)
        self._switches: Switches | None = Switches(cpus)
        self._interrupts = Interrupts(cpus)

    def look(self) -> None:
        """Takes what the kernel has so far: at least every second."""
        if self._switches:
            self._switches.look()
            self._interrupts.look()

    def end(self) -> None:
        """Writes all, or only why not where the disk is full; does nothing the second time."""
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
        lines += _lines(self._interrupts)
        path = self._folder / FILE
        before = path.stat().st_size if path.exists() else 0
        try:
            _append(path, before, lines)
        except OSError as error:  # the recordings themselves are whole on a disk that is full
            missing = f"refused {path}: {error.strerror}"
            if before:
                missing = f"lost {sum(line.startswith('held ') for line in lines)}"
            with suppress(OSError):
                _append(path, before, [missing])


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
        if kind == "interrupt" and (handled := _interrupt(rest)) is not None:
            found.interrupts.append(handled)
        elif kind == "interrupts_lost" and rest.isdecimal():
            found.interrupts_refused = None
            found.interrupts_lost += int(rest)
        elif kind == "interrupts_refused":
            found.interrupts_refused = printable(rest)
        elif kind == "refused":
            found.refused = printable(rest)
        elif kind == "lost" and rest.isdecimal():
            found.lost += int(rest)
        elif kind == "held" and (held := _held(rest)) is not None:
            found.held.append(held)
    found.held.sort()
    found.interrupts.sort()
    return found


def _append(path: Path, before: int, lines: list[str]) -> None:
    """All of them or nothing; raises OSError."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{printable(line)}\n" for line in lines)
    except OSError:
        with suppress(OSError):
            os.truncate(path, before)
            if not before:
                path.unlink()
        raise


def _lines(interrupts: Interrupts) -> list[str]:
    if interrupts.refused:
        return [f"interrupts_refused {interrupts.refused}"]
    interrupts.end()
    lines = [f"interrupts_lost {interrupts.lost + interrupts.left_out}"]
    lines += [f"interrupt {one.cpu} {one.begin} {one.end} {one.name}" for one in interrupts.held]
    return lines


def _interrupt(text: str) -> Held | None:
    fields = text.split(" ", 3)
    try:
        core, begin, end = (int(one) for one in fields[:3])
    except ValueError:
        return None
    if len(fields) < 4 or not begin < end:
        return None
    return Held(begin, end, core, INTERRUPT, printable(fields[3]))


def _held(text: str) -> Held | None:
    fields = text.split(" ", 5)
    try:
        cpu, begin, end, process, thread = (int(one) for one in fields[:5])
    except ValueError:
        return None
    if len(fields) < 6 or not begin < end:
        return None
    return Held(begin, end, cpu, process, printable(fields[5]), thread)
