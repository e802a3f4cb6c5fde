# SPDX-License-Identifier: Apache-2.0
"""Where runs accumulate: one SQLite file, one row a measured cell.

A row keeps the histogram of whole microseconds (exact, and small however many samples there
were) and the exact numbers that add up. So the history outlives the samples, and 10^8 of them need
no more memory than 10^4. A cell is taken once: adding a folder again changes nothing.

The *configuration* is what was measured (the cell's name, so by what was granted: where a policy
was refused it is another one) on which machine (CPU, kernel, preemption): only what was taken under
one configuration is put together.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from takt.documents import writing
from takt.errors import Failure, TaktError
from takt.measure.results import histogram, outcome, reservations, scheduling
from takt.measure.results.model import Cell, Percentiles, Run, Status
from takt.statistics import Int64

FILE = Path("results") / "history.sqlite"
_TABLE = """
CREATE TABLE IF NOT EXISTS cells (
  key TEXT NOT NULL, machine TEXT NOT NULL, started TEXT NOT NULL, run TEXT NOT NULL,
  cell TEXT NOT NULL, kind TEXT NOT NULL, stack TEXT NOT NULL, policy TEXT NOT NULL,
  deadline_us REAL NOT NULL, lost INTEGER NOT NULL,
  count INTEGER NOT NULL, min_us REAL NOT NULL, mean_us REAL NOT NULL, stddev_us REAL NOT NULL,
  max_us REAL NOT NULL, bins BLOB NOT NULL, exceeded INTEGER, responses INTEGER,
  excused INTEGER, granted INTEGER,
  PRIMARY KEY (key, machine, started, cell)
) STRICT
"""
_LATER = (
    "exceeded",
    "responses",
    "excused",
    "granted",
)  # not in stores of before


@dataclass(frozen=True)
class Entry:
    """One measured cell; jitter for a cyclic timer, latency for everything else."""

    key: str
    machine: str
    started: str  # ISO 8601, UTC
    run: str  # the folder it came from
    cell: str
    kind: str
    stack: str
    policy: str
    deadline_us: float
    lost: int  # what did not arrive, never sent included
    count: int
    min_us: float
    mean_us: float
    stddev_us: float
    max_us: float
    bins: tuple[Int64, Int64]  # whole µs, counts
    exceeded: int | None = None  # responses beyond deadline_us; None: added when this was not kept
    responses: int | None = None  # of so many
    excused: int | None = None  # late or absent ones that a disturbance may have made
    granted: int | None = None  # 0: a requested setting was not


@dataclass(frozen=True)
class Configuration:
    """What was measured on which machine, and what is known of it together."""

    key: str
    machine: str
    runs: int
    count: int
    latest: str


class History:
    """An open history; use as a context manager. Several processes may add at the same time."""

    def __init__(self, file: Path = FILE) -> None:
        """Opens or makes the file; raises TaktError where it cannot be one."""
        self._file = file
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(file, timeout=30.0)
            self._database.execute(_TABLE)
            self._complete_table()
        except (OSError, sqlite3.Error, ValueError) as error:  # ValueError: its table's text
            if failed := _of_disk(error, file):
                raise failed from None
            raise TaktError(
                f"this is not a history file: {error}",
                where=str(file),
                fix="give another file: --store FILE; a missing file is created",
            ) from None
        self._database.row_factory = sqlite3.Row

    def _complete_table(self) -> None:
        there = {row[1] for row in self._database.execute("PRAGMA table_info(cells)")}
        for name in _LATER:
            if name not in there:
                with contextlib.suppress(sqlite3.OperationalError):  # another process was faster
                    self._database.execute(f"ALTER TABLE cells ADD COLUMN {name} INTEGER")

    def __enter__(self) -> History:  # noqa: PYI034 - Self is new in Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def add(self, run: Run, folder: Path, source: Path | None = None) -> int:
        """Adds the complete cells of a run that are not there yet; returns how many were new.

        ``source`` is the bundle that the folder was unpacked from. Raises TaktError where the times
        of the run are no machine's.
        """
        if virtual := run.machine.get("time"):
            raise TaktError(
                f"its times are {virtual}, which the history does not put beside times of machines",
                where=str(source or folder),
                fix="leave it out; to see it: takt report",
            )
        entries = [
            replace(entry, run=str(source or folder))
            for cell in run.cells
            if says(cell) and (entry := _entry(run, folder, cell))
        ]
        with self._damage(), self._database:
            return sum(map(self._insert, entries))

    def _insert(self, entry: Entry) -> int:
        """Adds it, unless it is there; stores of before have it by what was asked for."""
        place = (entry.machine, entry.started, entry.cell, entry.key)
        command = "DELETE FROM cells WHERE machine = ? AND started = ? AND cell = ? AND key <> ?"
        self._database.execute(command, place)
        row = vars(entry) | {"bins": _packed(entry.bins)}
        names = ", ".join(row)
        places = ", ".join(f":{name}" for name in row)
        command = f"INSERT OR IGNORE INTO cells ({names}) VALUES ({places})"  # noqa: S608 - ours
        return self._database.execute(command, row).rowcount

    def configurations(self, kind: str | None = None) -> list[Configuration]:
        """All configurations, the one with the most samples first."""
        with self._damage():
            rows = self._database.execute(
                "SELECT key, machine, COUNT(*) AS runs, SUM(count) AS count, "
                "MAX(started) AS latest "
                "FROM cells WHERE ?1 IS NULL OR kind = ?1 "
                "GROUP BY key, machine ORDER BY SUM(count) DESC, key",
                (kind,),
            )
            return [Configuration(**dict(row)) for row in rows]

    def entries(self, configuration: Configuration) -> Iterator[Entry]:
        """The cells of a configuration in the order of their time, one at a time."""
        with self._damage():
            rows = self._database.execute(
                "SELECT * FROM cells WHERE key = ? AND machine = ? ORDER BY started, cell",
                (configuration.key, configuration.machine),
            )
            for row in rows:
                yield Entry(**dict(row) | {"bins": _unpacked(row["bins"])})

    @contextlib.contextmanager
    def _damage(self) -> Iterator[None]:
        """What SQLite cannot read or write becomes a Failure."""
        try:
            yield
        except (sqlite3.Error, zlib.error, ValueError, TypeError) as error:
            if failed := _of_disk(error, self._file):
                raise failed from None
            raise Failure(
                f"cannot read or write the history: {error}",
                where=str(self._file),
                fix="it is damaged: rename it, and add the runs again",
            ) from None


def _of_disk(error: Exception, file: Path) -> TaktError | None:
    """What the disk did, by SQLite's own words; Python has its codes from 3.11 on only."""
    number = error.errno if isinstance(error, OSError) else None
    for words, meant in (("disk is full", errno.ENOSPC), ("disk I/O error", errno.EIO)):
        number = meant if words in str(error) else number
    if number is None:
        return None
    failed = OSError(number, os.strerror(number), str(file))
    if not writing.is_of_disk(failed):
        return None
    place = "choose a file on another disk: --store FILE"
    if writing.is_full(failed):
        place = f"its previous content is intact; free space, or {place}"
    return writing.failure(failed, place)


def machine_name(fingerprint: dict[str, object]) -> str:
    """What of a machine decides about its latencies, in a few words."""
    known = [fingerprint.get(name) for name in ("cpu_model", "kernel", "preemption")]
    return ", ".join(str(one) for one in known if one) or "unknown machine"


def find(paths: Iterable[Path]) -> list[Path]:
    """The run folders and bundles among these, and the folders directly below them."""
    from takt.measure.results import bundle
    from takt.measure.results.store import find_runs
    from takt.processes.scratch import DOCUMENT

    found: list[Path] = []
    for path in paths:
        if path.is_file() and path.suffix == bundle.SUFFIX:
            found.append(path)
            continue
        found += [path] if (path / DOCUMENT).exists() else find_runs(path)
    return found


def says(cell: Cell) -> bool:
    """Whether it came to its end and has samples; all else is in no number of the history."""
    return cell.status is Status.complete and cell.statistics is not None


def _entry(run: Run, folder: Path, cell: Cell) -> Entry | None:
    if cell.statistics is None or cell.histogram is None or cell.started is None:
        return None
    found: Percentiles = cell.statistics.latency
    if cell.statistics.cyclic:
        found = cell.statistics.cyclic.jitter
    with contextlib.suppress(OSError, TaktError):
        return Entry(
            key=scheduling.name(cell),
            machine=machine_name(run.machine),
            started=cell.started.isoformat(),
            run=str(folder),
            cell=cell.id,
            kind=cell.kind,
            stack=cell.stack,
            policy="+".join(one.policy for one in scheduling.measured(cell)),
            deadline_us=cell.deadline_us,
            lost=reservations.absent(cell),
            count=found.count,
            min_us=found.min_us,
            mean_us=found.mean_us,
            stddev_us=found.stddev_us,
            max_us=found.max_us,
            bins=histogram.read(folder / cell.histogram),
            exceeded=cell.statistics.exceedance.exceeded,
            responses=cell.statistics.exceedance.count,
            excused=outcome.late([cell], cell.deadline_us).excused,
            granted=int(not outcome.not_granted([cell])),
        )
    return None  # the histogram was removed or is damaged: nothing to add


def _packed(bins: tuple[Int64, Int64]) -> bytes:
    return zlib.compress(np.concatenate(bins).astype("<i8").tobytes())


def _unpacked(content: bytes) -> tuple[Int64, Int64]:
    both = np.frombuffer(zlib.decompress(content), dtype="<i8").astype(np.int64)
    values, counts = both[: len(both) // 2], both[len(both) // 2 :]
    if len(values) != len(counts) or (counts < 0).any():
        raise ValueError("a histogram in it is damaged")
    return values, counts
