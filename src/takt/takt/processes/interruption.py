# SPDX-License-Identifier: Apache-2.0
"""Ends a program that has this one's terminal, and what it started, as Ctrl-C does."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass

from takt.processes.guard import identity
from takt.processes.process import TERM_S
from takt.processes.usage import family

_POLL_S = 0.05


@dataclass(frozen=True)
class Patience:
    """Seconds from one signal to the next, stronger one."""

    interrupt_s: float = 15.0  # ros2 launch itself waits 10 s before it kills its nodes
    terminate_s: float = TERM_S


class Interruption:
    """SIGINT, then SIGTERM, then SIGKILL, to those of the program's family that remain.

    Ctrl-C reaches the foreground group of a terminal, and so do SIGINT and SIGTERM here: a daemon
    in a group of its own is left alone. The group itself cannot be signalled: it is this process's,
    and may be that of a script that called it. SIGKILL is also for the children of those it ends.
    """

    def __init__(self, pid: int, patience: Patience = Patience()) -> None:
        """Sends SIGINT. The program is a child that has not been waited for."""
        self._patience = patience
        self._pid = pid
        self._asked: dict[int, str] = {}  # each with its identity
        self.last = signal.SIGINT
        self._next = time.monotonic() + patience.interrupt_s
        self.began = bool(identity(pid))  # not where it ended by itself just before
        if self.began:
            self._send(signal.SIGINT)

    def look(self) -> bool:
        """Whether anything remains; sends the next signal where its time has come."""
        if not self._remaining():
            return False
        if time.monotonic() >= self._next and self.last is not signal.SIGKILL:
            self.last = signal.SIGTERM if self.last is signal.SIGINT else signal.SIGKILL
            self._next = time.monotonic() + self._patience.terminate_s
            self._send(self.last)
        return True

    def finish(self) -> None:
        """Waits until nothing remains, after the program itself has been waited for."""
        while self.look():
            time.sleep(_POLL_S)

    def _remaining(self) -> list[int]:
        return [pid for pid, known in self._asked.items() if known and identity(pid) == known]

    def _send(self, number: signal.Signals) -> None:
        own = os.getpgrp()
        for pid in dict.fromkeys([*self._remaining(), *family([self._pid, *self._remaining()])]):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if number is signal.SIGKILL or os.getpgid(pid) == own:
                    self._asked[pid] = identity(pid)
                    os.kill(pid, number)
