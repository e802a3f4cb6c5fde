# SPDX-License-Identifier: Apache-2.0
"""The one way to start another program: in a group of its own that ends with us, and as a whole."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

NO_PROCESS = "the limit on processes and threads is reached"
MORE_PROCESSES = "raise it (ulimit -u; pids.max of the container), or close other programs"
GUARD = Path(__file__).with_name("guard.py")
TERM_S = 3.0  # from SIGTERM to SIGKILL
_POLL_S = 0.01
_LOOK_S = 0.05


class Running(Protocol):
    """A started program, wherever it runs."""

    @property
    def pid(self) -> int | None:
        """Its number; None where that is another machine's."""

    @property
    def recorded(self) -> int | None:
        """How many samples it has recorded; None: its file is here, and says so."""

    @property
    def how_it_ended(self) -> str:
        """In words; by the name of the signal where one ended it."""

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""

    def wait(self, seconds: float | None = None) -> int | None:
        """As ``poll``, after its end or so many seconds."""

    def signal(self, number: signal.Signals) -> None:
        """Signals it and all that it started; one that has ended is left alone."""


class Process:
    """A started program. Its session is its own, so that Ctrl-C reaches only the tool.

    The thread that starts it has to live as long as it: Linux takes its end for the parent's.
    Raises OSError where there is no such program.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        environment: Mapping[str, str] | None = None,
        stdout: int | IO[Any] = subprocess.DEVNULL,
        stderr: int | IO[Any] = subprocess.DEVNULL,
        watched: bool = False,
        outlives: bool = False,
        keep: Sequence[int] = (),
        folder: Path | None = None,
    ) -> None:
        """Starts it.

        ``watched`` where it starts others, ``outlives`` where it must not be cut short, as a
        package manager; ``keep`` are descriptors that it gets, ``folder`` is where it works.
        """
        program = shutil.which(str(command[0]))
        if program is None:
            raise FileNotFoundError(2, "no such program", str(command[0]))
        how = "watch" if watched else "become"
        guard = [sys.executable, "-IS", str(GUARD), str(os.getpid()), how]
        try:
            self.popen = subprocess.Popen(
                [*([] if outlives else guard), program, *map(str, command[1:])],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env=environment,
                cwd=folder,
                pass_fds=keep,
                start_new_session=True,
            )
        except BlockingIOError as error:
            error.strerror = f"{NO_PROCESS}: {MORE_PROCESSES}"
            raise

    @property
    def pid(self) -> int:
        """Its number, which is its group's, too."""
        return self.popen.pid

    recorded = None

    @property
    def how_it_ended(self) -> str:
        """By the name of the signal where one ended it."""
        code = self.poll()
        return "it is running" if code is None else how_ended(code)

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs. Who is left of it is ended."""
        if self.popen.returncode is None and _has_ended(self.pid):
            self.signal(signal.SIGKILL)  # before it is reaped: then the number may be another's
            self.popen.wait()
        return self.popen.returncode

    def wait(self, seconds: float | None = None) -> int | None:
        """As ``poll``, after its end or so many seconds."""
        limit = None if seconds is None else time.monotonic() + seconds
        while self.poll() is None and (limit is None or time.monotonic() < limit):
            time.sleep(_POLL_S)
        return self.popen.returncode

    def signal(self, number: signal.Signals) -> None:
        """Signals it and all that it started; one that has ended is left alone."""
        if self.popen.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)
            if number == signal.SIGKILL:
                _let_end(self.pid)

    def end(self, seconds: float = TERM_S) -> None:
        """Asks it to end, and ends it after so many seconds."""
        self.signal(signal.SIGTERM)
        self.wait(seconds)
        self.signal(signal.SIGKILL)
        self.wait()


def output(
    command: Sequence[str | Path],
    limit_s: float,
    look: Callable[[int], bool] | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end; raises OSError, or subprocess.TimeoutExpired after so long.

    ``look`` gets its number now and then, until it says False.
    """
    process = Process(
        command, environment=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    limit = time.monotonic() + limit_s
    try:
        while True:
            left = max(0.0, limit - time.monotonic())
            try:
                wait_s = min(_LOOK_S, left) if look else left
                printed, words = process.popen.communicate(timeout=wait_s)
                break
            except subprocess.TimeoutExpired:
                if not look or time.monotonic() >= limit:
                    raise
                look = look if look(process.pid) else None
    except BaseException:
        process.end()
        raise
    finally:
        for stream in (process.popen.stdout, process.popen.stderr):
            if stream:
                stream.close()
    return subprocess.CompletedProcess(
        list(command),
        process.popen.returncode,
        printed.decode(errors="replace"),
        words.decode(errors="replace"),
    )


def how_ended(code: int) -> str:
    """An exit code in words: the name of the signal where one ended it."""
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _let_end(pid: int) -> None:
    """Its threads may end on any core: one that is bound to a core that others hold never would."""
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                os.sched_setaffinity(int(task.name), range(os.cpu_count() or 1))


def _has_ended(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True
