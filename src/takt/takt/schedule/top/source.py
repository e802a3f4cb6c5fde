# SPDX-License-Identifier: Apache-2.0
"""The reports that arrive on ``/diagnostics``, read by a program of takt_runner."""

from __future__ import annotations

import io
import json
import queue
import subprocess
import threading
from pathlib import Path
from typing import IO, Any

from takt.errors import Failure
from takt.network import stacks
from takt.processes.process import Process
from takt.schedule.top.model import Executor, executors

PROGRAM = "diagnostics_to_json"


class Source:
    """A running reader; to be closed."""

    def __init__(self, program: Path | None = None) -> None:
        """Starts it; raises Failure where it is not installed or does not start."""
        path = program or stacks.program(PROGRAM)
        try:
            self._process = Process([path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except OSError as error:
            raise Failure(f"cannot start {PROGRAM}: {error}", fix="./takt --setup-only") from None
        self.publishers = 0  # of /diagnostics, anybody's
        self._lines: queue.Queue[str | None] = queue.Queue()  # None: it has ended
        self._words: list[str] = []
        started = self._process.popen
        assert started.stdout and started.stderr  # noqa: PT018, S101 - for the types
        self._streams = [
            io.TextIOWrapper(one, errors="replace") for one in (started.stdout, started.stderr)
        ]
        self._threads = [
            threading.Thread(target=self._read, args=(self._streams[0],), daemon=True),
            threading.Thread(target=self._words.extend, args=(self._streams[1],), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Ends the reader."""
        self._process.end()
        for thread in self._threads:
            thread.join()
        for stream in self._streams:
            stream.close()

    def next(self, timeout_s: float) -> list[Executor]:
        """The executors of the next message; empty after the time, and for others' messages.

        Raises Failure when the reader has ended, or speaks another language.
        """
        try:
            line = self._lines.get(timeout=timeout_s)
        except queue.Empty:
            return []
        if line is None:
            self._threads[1].join()
            tail = "".join(self._words).strip()[-500:]
            raise Failure(f"{PROGRAM} has ended: {tail or self._process.wait()}")
        try:
            message: dict[str, Any] = json.loads(line)
            if "publishers" in message:
                self.publishers = int(message["publishers"])
                return []
            return executors(message)
        except (ValueError, KeyError, TypeError) as error:
            raise Failure(
                f"{PROGRAM} prints output that this tool does not understand: {error}",
                fix="build all processes with the same version of Takt: ./takt --setup-only",
            ) from None

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            self._lines.put(line)
        self._lines.put(None)
