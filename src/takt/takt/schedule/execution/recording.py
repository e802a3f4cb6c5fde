# SPDX-License-Identifier: Apache-2.0
"""The recording of an execution until it is a trace, and how long it may take."""

from __future__ import annotations

import glob
from pathlib import Path

from takt.errors import TaktError
from takt.processes.supervision import Program, Stop, Until

RUNNER = "app_runner"  # as it calls itself, with rclcpp too
RECORDING = ".recording"  # after the name of a trace until it is whole


def recording_of(trace: Path) -> Path:
    """Where a trace is recorded; the trace of an execution before stays until this is whole."""
    recording = trace.with_name(trace.name + RECORDING)
    if recording.exists() and not trace.exists():  # one that was killed left it
        recording.replace(trace)
    discard(recording)
    return recording


def parts(recording: Path) -> list[Path]:
    """What the processes of an execution have recorded, until it is one trace."""
    return sorted(recording.parent.glob(f"{glob.escape(recording.name)}.part*"))


def discard(recording: Path) -> None:
    """Removes it."""
    for one in [recording, *parts(recording)]:
        one.unlink(missing_ok=True)


def refusal(runner: Program) -> TaktError:
    """What a runner says against its application: nothing was executed."""
    words = runner.last_words().removeprefix(f"{RUNNER}: ")
    what, _, fix = words.partition(". Fix: ")  # so errors of the core end
    return TaktError(
        what or "the runner rejected the application", fix=fix.removesuffix(".") or None
    )


class UntilItsTime(Until):
    """Also when its time is over once it has begun."""

    def __init__(self, asked: Stop, seconds: float) -> None:
        super().__init__(asked)
        self._seconds = seconds
        self._limit: float | None = None

    def look(self, *, begun: bool, now: float) -> None:
        """To be called now and then, with the seconds since the start."""
        if begun and self._limit is None:
            self._limit = now + self._seconds
        self.is_over = self.is_over or (self._limit is not None and now > self._limit)
