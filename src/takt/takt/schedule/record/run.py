# SPDX-License-Identifier: Apache-2.0
"""Runs a command with the recorder in each of its processes, and tidies up behind it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from takt.documents.writing import failure, flush
from takt.errors import TaktError
from takt.network import stacks
from takt.processes import foreground
from takt.processes.guard import identity
from takt.processes.interruption import Interruption
from takt.processes.preload import preloaded, program
from takt.schedule.generate.files import new_folder
from takt.schedule.ros2 import control, switches, threads
from takt.schedule.ros2.recordings import begun, read
from takt.schedule.ros2.switches import Beside
from takt.schedule.ros2.threads import Watch

LIBRARY = "libtakt_record.so"
_FIX = (
    "./takt --setup-only builds it if tracetools is found: source a ROS 2 installation, or use the "
    "wheels"
)
_LOOK_S = 0.2


@dataclass(frozen=True)
class How:
    """What is recorded, and when."""

    size: int = 64 << 20  # bytes of each process's recording
    ring: bool = False  # whether the newest events are kept when it is full
    paused: bool = False  # until takt record --attach
    seconds: float | None = None  # until the command is ended; None: it ends by itself
    aside: bool = False  # whether what the command prints goes to standard error


@dataclass(frozen=True)
class Ended:
    """How the command ended."""

    code: int  # as a shell says it: 128 + the signal it died of; 0 where its time was over
    last: signal.Signals | None = None  # the last signal that it needed when its time was over

    @property
    def notes(self) -> list[str]:
        """Of a command that does not end as Ctrl-C asks it to."""
        if self.last in {None, signal.SIGINT}:
            return []
        return [f"SIGINT did not end the command and all that it started; {self.last.name} did"]


def run(command: Sequence[str], folder: Path, how: How) -> Ended:
    """Runs it to its end, or ends it as Ctrl-C does when its time is over.

    Raises TaktError, with nothing made, for a folder in use and a program that cannot be recorded.
    Ctrl-C is for the command: it ends as it does without the recorder. So it does on a disk that
    does not take its recordings, which is a Failure afterwards.
    """
    path = program(command, "record")
    environment = preloaded(stacks.program(LIBRARY, _FIX)) | {
        "TAKT_RECORD_FOLDER": str(folder.resolve()),
        "TAKT_RECORD_BYTES": str(how.size),
        "TAKT_RECORD_FULL": "ring" if how.ring else "stop",
    }
    new_folder(folder)
    control.create(folder, on=not how.paused)
    limit = _Limit(folder, None if how.paused else Beside(folder), how.seconds)
    code = foreground.run([path, *command[1:]], environment, limit.look, aside=how.aside)
    limit.end_recording()
    ended = limit.finish(code)
    try:
        if limit.failed:
            raise limit.failed
        shorten(folder)
        for kept in (*begun(folder), folder):
            flush(kept)
    except OSError as error:
        fix = f"the command ended (exit code {ended.code}); takt trace {folder} shows what is left"
        error.filename = error.filename or str(folder)
        raise failure(error, f"{fix}; record to a folder on another disk: --out") from None
    return ended


class _Limit:
    """Ends the recording, and then the command, when its time is over."""

    def __init__(self, folder: Path, beside: Beside | None, seconds: float | None) -> None:
        self._folder, self._beside, self._threads = folder, beside, Watch(folder)
        self._end = None if seconds is None else time.monotonic() + seconds
        self._interruption: Interruption | None = None
        self.failed: OSError | None = None  # what was to be written: no reason to end the command

    def look(self, process: int) -> None:
        if self._interruption:
            self._interruption.look()
        elif self._end is not None and time.monotonic() >= self._end:
            self.end_recording()
            self._interruption = Interruption(process)
        elif self._beside and self.failed is None:
            self._threads.look()
            with self._noting():
                self._beside.look()

    def end_recording(self) -> None:
        with self._noting():
            control.pause(self._folder)
        if self._beside:
            with self._noting():
                self._beside.end()

    @contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.failed = self.failed or error

    def finish(self, code: int) -> Ended:
        """How it ended, once nothing of it runs; the code is its own."""
        if self._interruption is None or not self._interruption.began:
            return Ended(code)
        self._interruption.finish()
        return Ended(0, self._interruption.last)


def attach(folder: Path, seconds: float | None, begun: Callable[[], None]) -> None:
    """Records the running processes of a folder until Ctrl-C, their end, or so many seconds later.

    ``begun`` is called when it records. Raises TaktError where no process is running, or they are
    being recorded.
    """
    if not folder.is_dir():
        raise TaktError(
            "no such folder",
            where=str(folder),
            fix="give the folder of a running takt record --paused -o FOLDER -- COMMAND",
        )
    if not _running(folder):
        raise TaktError(
            "no process of this recording is running",
            where=str(folder),
            fix="start one: takt record --paused -o FOLDER -- COMMAND",
        )
    beside, threads = Beside(folder), Watch(folder)
    control.resume(folder)
    begun()
    end = None if seconds is None else time.monotonic() + seconds
    try:
        with _ending_by_signals():
            while _running(folder) and (end is None or time.monotonic() < end):
                left = _LOOK_S if end is None else min(_LOOK_S, end - time.monotonic())
                time.sleep(max(0.0, left))
                beside.look()
                threads.look()
    except KeyboardInterrupt:
        pass
    finally:
        control.pause(folder)
        beside.end()


def _running(folder: Path) -> bool:
    return any(_runs(read(file).process) for file in begun(folder))


@contextmanager
def _ending_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end it as Ctrl-C does."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {one: signal.signal(one, end) for one in foreground.FORWARDED}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def discard(folder: Path) -> None:
    """Removes what the recorder itself made in a folder into which no process recorded."""
    if begun(folder):
        return
    for name in (control.FILE, switches.FILE, threads.FILE):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):  # what a command wrote there stays
        folder.rmdir()


def shorten(folder: Path) -> None:
    """Gives back the space that recordings reserved and did not use.

    Not of a process that still runs: it would end where it writes beyond the end of its file.
    """
    for file in begun(folder):
        recording = read(file)
        if not _runs(recording.process):
            os.truncate(file, recording.size)


def _runs(process: int) -> bool:
    return bool(identity(process))  # not one that has ended, for which nobody has waited yet
