# SPDX-License-Identifier: Apache-2.0
"""Runs a command with the recorder in each of its processes, and tidies up behind it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from takt.errors import Failure
from takt.schedule.generate.files import new_folder
from takt.schedule.model.recordings import SUFFIX, read
from takt.schedule.record import preload

FORWARDED = (signal.SIGTERM, signal.SIGHUP)


def run(command: Sequence[str], folder: Path, size: int) -> int:
    """Runs it to its end and returns its exit code, as a shell does: 128 + the signal it died of.

    Raises TaktError, with nothing made, for a folder in use and a program that cannot be recorded.
    Ctrl-C is for the command: it ends as it does without the recorder.
    """
    program = preload.program(command)
    environment = preload.environment(folder, size)
    new_folder(folder)
    try:
        process = subprocess.Popen([program, *command[1:]], env=environment)
    except OSError as error:
        raise Failure(f"cannot start it: {error.strerror}", where=program) from None
    with _left_to(process):
        code = process.wait()
    shorten(folder)
    return 128 - code if code < 0 else code


@contextmanager
def _left_to(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Signals are for the process: the terminal sends it Ctrl-C, others are forwarded."""

    def forward(number: int, _frame: FrameType | None) -> None:
        process.send_signal(number)

    before = {signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None)}
    before |= {one: signal.signal(one, forward) for one in FORWARDED}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def shorten(folder: Path) -> None:
    """Gives back the space that recordings reserved and did not use.

    Not of a process that still runs: it would end where it writes beyond the end of its file.
    """
    for file in folder.glob(f"*{SUFFIX}"):
        recording = read(file)
        if not _runs(recording.process):
            os.truncate(file, recording.size)


def _runs(process: int) -> bool:
    return Path(f"/proc/{process}").exists()
