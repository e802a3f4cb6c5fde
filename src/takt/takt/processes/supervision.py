# SPDX-License-Identifier: Apache-2.0
"""Starts programs that belong together, watches them, and ends them, whatever they do."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from takt.processes import recording
from takt.processes.process import Process, Running

POLL_S = 0.05  # seldom enough not to disturb what is measured
STDERR_TAIL = 2000
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # a middleware's, for terminals


class Stop:
    """Asked to stop: once, and everything is written; twice, and it ends at once."""

    def __init__(self) -> None:
        self.times = 0

    def request(self) -> None:
        """Counts one more request."""
        self.times += 1

    @property
    def requested(self) -> bool:
        """Whether the run is to stop."""
        return self.times > 0

    @property
    def at_once(self) -> bool:
        """Whether not even the programs are waited for."""
        return self.times > 1


class Until(Stop):
    """Asked to stop by whoever asks the given one, or because its time is over."""

    def __init__(self, asked: Stop) -> None:
        super().__init__()
        self._asked = asked
        self.is_over = False

    @property
    def requested(self) -> bool:
        """Either of them."""
        return self.is_over or self._asked.requested

    @property
    def at_once(self) -> bool:
        """As the given one."""
        return self._asked.at_once


@dataclass(frozen=True)
class Limits:
    """How long the parts of a cell may take, in seconds."""

    start_s: float = 20.0  # starting and discovery, on top of the measuring itself
    ready_s: float = 20.0  # until what surrounds a measurement does what it is for
    drain_s: float = 1.0  # the other roles, after the one that decides the end
    term_s: float = 5.0  # from SIGTERM to SIGKILL


@dataclass
class Program:
    """One program that is run: a probe of a cell, the runner of an application.

    ``samples`` is None for a role that records nothing. One in the background
    surrounds the measurement: it runs until the others have ended. One that says when
    it is ``ready`` is waited for before the next one starts.
    """

    role: str
    command: list[str]
    result: Path
    stderr: Path
    samples: Path | None = None
    more_samples: list[Path] = field(default_factory=list)  # of further threads
    background: bool = False
    watched: bool = False  # it starts others
    ready: Callable[[], bool] | None = None
    environment: dict[str, str] = field(default_factory=dict)  # its own, over that of all
    launch: Callable[[], Running] | None = None  # on another host; its files come home later
    process: Running | None = field(default=None, repr=False)

    def start(self, environment: dict[str, str]) -> None:
        """Starts it; what it says on standard error is kept."""
        if self.launch:
            self.process = self.launch()
            return
        with self.stderr.open("wb") as stderr:
            self.process = Process(
                self.command,
                environment=environment | self.environment,
                stderr=stderr,
                watched=self.watched,
            )

    @property
    def title(self) -> str:
        """What a message calls it."""
        return "probe" if self.role == "both" else self.role

    @property
    def exit_code(self) -> int | None:
        """None while it runs or where it never started; negative: the signal that ended it."""
        return self.process.poll() if self.process else None

    @property
    def running(self) -> bool:
        """Whether it was started and has not ended."""
        return self.process is not None and self.process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Signals the process and its children; one that has ended is left alone."""
        if self.process is not None and self.running:
            self.process.signal(number)

    @property
    def how_it_ended(self) -> str:
        """By the name of the signal where one ended it."""
        return self.process.how_it_ended if self.process else "it did not start"

    @property
    def recordings(self) -> list[Path]:
        """The sample files that it has written up to now."""
        asked = [self.samples] if self.samples else []
        return [one for one in (*asked, *self.more_samples) if one.exists()]

    @property
    def recorded(self) -> int:
        """How many samples it has recorded up to now."""
        if self.samples is None or self.process is None:
            return 0
        said = self.process.recorded
        return recording.progress(self.samples) if said is None else said

    def last_words(self) -> str:
        """The end of what it wrote to standard error."""
        return self._said()[-STDERR_TAIL:].strip()

    def said(self, words: str) -> bool:
        """Whether they stand anywhere in what it wrote to standard error."""
        return words in self._said()

    def _said(self) -> str:
        try:
            return _COLOUR.sub("", self.stderr.read_bytes().decode(errors="replace"))
        except OSError:
            return ""


class End(Enum):
    """Why the watching ended."""

    done = "done"
    died = "died"
    timeout = "timeout"
    unready = "unready"
    stopped = "stopped"


def supervise(
    programs: Sequence[Program],
    environment: dict[str, str],
    limit_s: float,
    stop: Stop,
    limits: Limits,
    tick: Callable[[list[int]], None],
    measured: Callable[[], None] = lambda: None,
) -> tuple[End, Program | None]:
    """Runs the programs in their order until the last one ends; returns why, and who is to blame.

    ``limit_s`` bounds all of it once they run; ``tick`` is called now and then with the ids of the
    processes, ``measured`` when the last one has ended and those in the background still run.
    No process is left when this returns or raises.
    """
    try:
        for program in programs:
            program.start(environment)
            if program.ready and (fault := _await(program, stop, limits.ready_s)):
                return fault, program
        end, who = _watch(programs, time.monotonic() + limit_s, stop, tick)
        measured()
        if end is End.done:
            others = [one for one in programs[:-1] if not one.background]
            _drain(others, stop, limits.drain_s, tick)
        return end, who
    finally:
        _end(programs, stop, limits.term_s)


def _await(program: Program, stop: Stop, seconds: float) -> End | None:
    """Waits until it is ready; why it will not be."""
    limit = time.monotonic() + seconds
    while program.ready and not program.ready():
        if not program.running:
            return End.died
        if stop.requested:
            return End.stopped
        if time.monotonic() > limit:
            return End.unready
        time.sleep(POLL_S)
    return None


def _watch(
    programs: Sequence[Program],
    limit: float,
    stop: Stop,
    tick: Callable[[list[int]], None],
) -> tuple[End, Program | None]:
    while True:
        for program in programs:
            if program.exit_code:
                return End.died, program
        if programs[-1].exit_code == 0:
            return End.done, None
        if stop.requested:
            return End.stopped, None
        if time.monotonic() > limit:
            return End.timeout, programs[-1]
        tick(_pids(programs))
        time.sleep(POLL_S)


def _drain(
    others: Sequence[Program], stop: Stop, seconds: float, tick: Callable[[list[int]], None]
) -> None:
    """Lets subscribers take what is still on its way; a pong only waits to be ended."""
    limit = time.monotonic() + (seconds if any(one.samples for one in others) else 0)
    while any(one.running for one in others) and time.monotonic() < limit and not stop.at_once:
        tick(_pids(others))
        time.sleep(POLL_S)


def _end(programs: Sequence[Program], stop: Stop, seconds: float) -> None:
    """SIGTERM, a while to write everything, SIGKILL."""
    for program in programs:
        program.signal(signal.SIGTERM)
    limit = time.monotonic() + seconds
    while any(one.running for one in programs) and time.monotonic() < limit and not stop.at_once:
        time.sleep(POLL_S / 5)
    for program in programs:
        program.signal(signal.SIGKILL)
    for program in programs:
        if program.process is not None:
            program.process.wait()


def _pids(programs: Sequence[Program]) -> list[int]:
    found = [one.process.pid for one in programs if one.process is not None and one.running]
    return [pid for pid in found if pid is not None]
