# SPDX-License-Identifier: Apache-2.0
"""Runs a command with the library in each of its processes, and follows what becomes of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from takt.errors import TaktError
from takt.network import stacks
from takt.processes import foreground
from takt.processes.preload import preloaded, program
from takt.schedule.spin.document import SpinDocument
from takt.schedule.spin.report import Report
from takt.schedule.spin.threads import Threads
from takt.schedule.timing.file import read_timing
from takt.schedule.timing.model import TimingFile

LIBRARY = "libtakt_spin.so"
_FIX = "./takt --setup-only builds it where rclcpp is: source a ROS 2 installation first"


def run(
    command: Sequence[str], executor: str | None, timing_file: Path | None, aside: bool = False
) -> SpinDocument:
    """Runs it to its end; ``aside``: what it prints goes to standard error.

    Raises TaktError, with nothing started, for a faulty timing file, a program into which nothing
    can be preloaded, and where there is nothing to do. Ctrl-C is for the command.
    """
    if executor is None and timing_file is None:
        raise TaktError(
            "there is nothing to do: neither an executor nor a timing file is given",
            fix="add --executor takt, or --timing FILE with priorities for threads",
        )
    timing = read_timing(timing_file) if timing_file else TimingFile()
    if executor or timing.callbacks or timing.cpus:
        path = program(command, "spin")
        given = preloaded(stacks.program(LIBRARY, _FIX))
    else:  # threads by their names: nothing has to be known from inside of the program
        path, given = command[0], dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="takt-spin-") as folder:
        report = Report(Path(folder) / "report")
        report.file.touch()
        environment = given | {
            "TAKT_SPIN_REPORT": str(report.file),
            "TAKT_SPIN_EXECUTOR": executor or "",
            "TAKT_SPIN_TIMING": str(timing_file.resolve()) if timing_file else "",
        }
        threads = Threads(timing, report)
        try:
            code = foreground.run([path, *command[1:]], environment, threads.look, aside=aside)
        finally:
            report.read()
            threads.give_back()
    return SpinDocument(
        command=list(command),
        exit_code=code,
        executors=report.replaced,
        kept=report.kept,
        threads=threads.done,
        notes=_notes(executor, timing, threads),
    )


def _notes(executor: str | None, timing: TimingFile, threads: Threads) -> list[str]:
    report = threads.report
    notes = []
    if executor and report.kept and not report.replaced:
        notes.append("no executor was replaced; each process has printed the reason")
    elif executor and not report.replaced:
        notes.append(
            "no executor was replaced: no process of the command spins an executor of rclcpp, or "
            "its rclcpp is linked in statically"
        )
    if executor is None and not threads.done:
        notes.append(
            "no thread was set: none runs callbacks of a node, or has a name, that the timing file "
            "gives a priority or cores"
        )
    if executor:
        notes += [text for text, of in report.unmatched.items() if of == report.reads]
    else:
        notes += [
            f"callbacks: no thread of an executor has run node {one.node!r}"
            for one in timing.callbacks
            if one.priority and one.node and one.node not in report.nodes
        ]
    notes += [
        f"threads: no thread has the name {one.name!r}"
        for index, one in enumerate(timing.threads)
        if index not in threads.matched
    ]
    if any(one.refused for one in threads.done):
        notes.append("the kernel refused priorities or cores: takt doctor says what is missing")
    return notes
