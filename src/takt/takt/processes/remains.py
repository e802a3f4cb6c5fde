# SPDX-License-Identifier: Apache-2.0
"""What Takt left behind: processes, shared memory, scratch folders, locks of who was killed.

Only what bears Takt's mark or stands in a journal of its own is touched, and only where it is this
user's and nobody uses it any more. Recordings that a resume can still take over stay, on the disk.
"""

from __future__ import annotations

import fcntl
import os
import re
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from takt.documents import own
from takt.processes import dead, leftovers, scratch
from takt.processes.guard import identity, marked
from takt.processes.process import TERM_S

_BENCH = re.compile("takt_bench_[A-Za-z0-9]{6}")  # as bench_record calls it
_PROC = Path("/proc")
_POLL_S = 0.02


@dataclass(frozen=True)
class Remains:
    """What was found, each as one line for a person."""

    processes: list[str]
    shared_memory: list[str]
    folders: list[str]
    locks: list[str]
    kept: list[str]  # still of use, with what to do
    refused: list[str]  # called as Takt's own, and not taken for it

    @property
    def lines(self) -> list[str]:
        """What is, or was, removed."""
        return [*self.processes, *self.shared_memory, *self.folders, *self.locks]


def clean(
    sweeper: leftovers.Sweeper,
    *,
    dry_run: bool,
    memory: Path = scratch.MEMORY,
    temporary: Path | None = None,
) -> Remains:
    """Removes it; in a dry run, only finds it."""
    ended = {pid: _title(pid) for pid in orphans()}
    if not dry_run:
        end(ended)
    processes = [f"process {pid}: {title}" for pid, title in ended.items()]
    removed = Remains(processes, [], [], [], [], [])
    refused: list[own.Refused] = []
    for one in dead.dead_folders(memory, refused=refused):
        _clean_after(one, removed, memory, set(ended), sweeper, dry_run=dry_run)
    for folder in _benches(memory, refused, remove=not dry_run):
        removed.folders.append(f"scratch folder of a bench: {folder}")
    if left := [name for name in leftovers.nobodys(memory) if _is_reported(name, memory, removed)]:
        removed.kept.append(_unclaimed(left, memory))
    place = temporary or Path(tempfile.gettempdir())
    removed.locks.extend(sweeper.locks(place, not dry_run))
    removed.refused.extend(own.reported(refused))
    return removed


def _clean_after(
    one: dead.Dead,
    removed: Remains,
    memory: Path,
    ending: set[int],
    sweeper: leftovers.Sweeper,
    *,
    dry_run: bool,
) -> None:
    """Cleans up after one killed run, while it is locked."""
    if leftovers.take_back(one, execute_it=not dry_run):
        removed.folders.append("changes of the machine for a cell: takt tune --revert")
    names = leftovers.unused(one.folder, memory, remove=not dry_run, ignoring=ending)
    removed.shared_memory.extend(f"shared memory: {memory / name}" for name in names)
    removed.folders.extend(sweeper.of_run(one.folder, not dry_run))
    if one.has_load:
        removed.folders.append(f"files of a load: {one.run_folder / scratch.LOADED}")
        if not dry_run:
            one.remove_load()
    if one.waits:
        removed.kept.append(_how_to_go_on(one))
        if one.named if dry_run else one.to_disk():
            removed.folders.append(f"scratch folder: {one.folder}")
    elif not dry_run and leftovers.in_use(one.folder, memory):
        removed.kept.append(f"{one.folder}: its shared memory is in use; run clean again later")
    else:
        removed.folders.append(f"scratch folder: {one.folder}")
        if not dry_run:
            one.remove()


def _is_reported(name: str, memory: Path, removed: Remains) -> bool:
    """Whether nothing else is said of it: a dry run leaves what it would remove."""
    return f"shared memory: {memory / name}" not in removed.shared_memory


def _unclaimed(names: list[str], memory: Path) -> str:
    """No journal of Takt's names them, so that they may be a robot's, which goes on with them."""
    some = " ".join(str(memory / name) for name in names[:3])
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return (
        f"{some}{more}: shared memory without any process or known run of Takt; if none of "
        "your other programs needs it: rm"
    )


def _benches(memory: Path, refused: list[own.Refused], *, remove: bool) -> Iterator[Path]:
    """Folders of a bench that was killed: it has them locked while it lives."""
    for name in sorted(one.name for one in memory.iterdir() if _BENCH.fullmatch(one.name)):
        try:
            with own.opened(memory) as place, place.folder(name) as folder:
                if time.time() - os.fstat(folder.descriptor).st_mtime < dead.MAKING_S:
                    continue  # it may not have locked it yet
                fcntl.flock(folder.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if remove:
                    place.remove_tree(name)
                yield memory / name
        except own.Refused as error:
            if error.uid == os.geteuid():  # others have benches, too
                refused.append(error)
        except OSError:
            continue  # it lives, or has just gone


def orphans() -> Iterator[int]:
    """Processes that a Takt which is gone has started, or who was started by them."""
    for pid, starter in marked():
        if pid != os.getpid() and identity(int(starter.partition(":")[0])) != starter:
            yield pid


def end(pids: dict[int, str]) -> None:
    """Asks them to end, and ends them after a while."""
    there = {pid: identity(pid) for pid in pids}
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid, who in there.items():
            if who and identity(pid) == who:
                with suppress(OSError):
                    os.kill(pid, number)
        limit = time.monotonic() + TERM_S
        while any(who and identity(pid) == who for pid, who in there.items()):
            if time.monotonic() > limit:
                break
            time.sleep(_POLL_S)


def _title(pid: int) -> str:
    with suppress(OSError):
        words = (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
        return b" ".join(words).decode(errors="replace").strip()[:120]
    return "?"


def _how_to_go_on(one: dead.Dead) -> str:
    if one.lent:
        return f"recordings for a run on another machine, still to be fetched: {one.folder}"
    if one.resumes:
        return f"recordings of a killed run; continue with: takt run --resume {one.run_folder}"
    return f"recordings of a killed run whose results folder no longer exists: {one.folder}"
