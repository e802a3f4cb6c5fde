# SPDX-License-Identifier: Apache-2.0
"""Records which other programs had the cores of an application while it was executed.

What they had while no response was owed delayed nothing, and is left out of the trace.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from takt.documents.writing import failure, is_full
from takt.processes.switches import LEAST_NS, Held, Switches
from takt.processes.usage import family
from takt.schedule.trace import file as files
from takt.schedule.trace.beside import FROM, HELD, LOST, REFUSED

_EXECUTORS = "takt."  # how the names of the threads begin that execute jobs
_ATTRIBUTE, _NAME, _PIECE = 4, 1, 24  # of a record, as docs/reference/trace.md says
_COUNT, _COUNT_AT, _RECORD_BYTES = struct.Struct("<Q"), 48, 32  # in the header


class OtherPrograms:
    """From now on, until it is closed."""

    def __init__(self, cpus: Collection[int], runner: str) -> None:
        """``runner`` is how the names of its processes begin: no thread so called is another's."""
        self._runner = runner
        self._own: set[int] = set()
        self._switches = Switches(cpus, self._is_own)

    def look(self, processes: Collection[int]) -> None:
        """Takes what happened since the last look; ``processes`` are those of the application.

        What they have started is the application's, too.
        """
        self._own.update(family(processes))
        self._switches.look()

    def end(self) -> None:
        """The last look, when the application has ended."""
        self._switches.end()

    def close(self) -> None:
        """Stops recording."""
        self._switches.close()

    def append(self, trace: Path, cores: Mapping[int, int] | None = None) -> None:
        """Writes them behind the events of the trace; raises Failure.

        ``cores`` are the numbers of CPUs in the trace, where they have others there.
        """
        try:
            append(trace, self._switches, cores or {})
        except OSError as error:
            error.filename = str(trace)  # a write does not name its file
            fix = "choose a folder on another disk: --out"
            raise failure(error, f"free space there, or {fix}" if is_full(error) else fix) from None

    def _is_own(self, process: int, name: str) -> bool:
        """Whether a thread executes jobs; threads of the middleware do not."""
        if name.startswith(self._runner):
            return True
        return process in self._own and name.startswith(_EXECUTORS)


def append(trace: Path, switches: Switches, cores: Mapping[int, int]) -> None:
    """Writes what was recorded while a response was owed; raises OSError."""
    texts = [f"{REFUSED}={switches.refused}"]
    if not switches.refused:
        lost = switches.lost + switches.left_out
        texts = [f"{FROM}={LEAST_NS}", *([f"{LOST}={lost}"] if lost else [])]
        held = [replace(one, cpu=cores.get(one.cpu, one.cpu)) for one in switches.held]
        owing = _Owing(held)
        if owing.held:
            files.replay(files.read(trace), [owing])
        texts += [
            f"{HELD}={one.cpu} {one.begin} {one.end} {one.process} {one.name}"
            for one in owing.found()
        ]
    append_attributes(trace, texts)


def append_attributes(trace: Path, texts: Sequence[str]) -> None:
    """Writes texts KEY=VALUE about the whole trace behind its events; raises OSError."""
    records = b"".join(map(_record, texts))
    with trace.open("r+b") as file:
        file.seek(0, os.SEEK_END)
        file.write(records)
        file.seek(_COUNT_AT)
        (known,) = _COUNT.unpack(file.read(_COUNT.size))
        if known:  # it was closed; with fewer records than these it is cut off
            file.seek(_COUNT_AT)
            file.write(_COUNT.pack(known + len(records) // _RECORD_BYTES))


class _Owing:
    """Marks the stretches in which their core owed a response: from a release to the job's end."""

    def __init__(self, held: Sequence[Held]) -> None:
        self.held = held
        self._unfinished: files.Table | None = None
        self._places = {
            cpu: np.flatnonzero([one.cpu == cpu for one in held])
            for cpu in {one.cpu for one in held}
        }
        self._begins = np.array([one.begin for one in held], np.int64)
        self._ends = np.array([one.end for one in held], np.int64)
        self._owing = np.zeros(len(held), bool)

    def take(self, step: files.Step) -> None:
        """The next stretch of the trace."""
        self._mark(step.jobs)
        self._unfinished = step.unfinished

    def found(self) -> list[Held]:
        """Those that are marked, also by the jobs that did not end."""
        if self._unfinished is not None:
            self._mark(self._unfinished)
        return [self.held[place] for place in np.flatnonzero(self._owing).tolist()]

    def _mark(self, jobs: files.Table) -> None:
        whole = files.recorded(jobs["release"])
        core, release, end = (jobs[name][whole] for name in ("core", "release", "end"))
        end = np.where(files.recorded(end), end, np.iinfo(np.int64).max)
        for cpu, places in self._places.items():
            rows = (core == cpu) | (core == files.NONE)  # a job that did not start has no core
            first = np.searchsorted(self._ends[places], release[rows], side="right")
            last = np.searchsorted(self._begins[places], end[rows], side="left")
            # How many responses begin and end to be owed at each stretch.
            change = np.zeros(len(places) + 1, np.int64)
            some = first < last
            np.add.at(change, first[some], 1)
            np.add.at(change, last[some], -1)
            self._owing[places] |= np.cumsum(change[:-1]) > 0


def _record(text: str) -> bytes:
    """An attribute in the format of the trace: as many records as its text needs."""
    raw = text.encode()
    pieces = [raw[at : at + _PIECE] for at in range(0, len(raw), _PIECE)]
    return b"".join(
        struct.pack(f"<{_PIECE}sHHHBB", piece, 0, _ATTRIBUTE, part, _NAME, len(piece))
        for part, piece in enumerate(pieces)
    )
