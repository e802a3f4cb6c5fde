# SPDX-License-Identifier: Apache-2.0
"""What Takt left behind: processes, shared memory, scratch folders, locks of who was killed.

Only what bears Takt's mark or stands in a journal of its own is touched, and only where nobody
uses it any more. Recordings that a resume can still take over stay, on the disk.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from takt.processes import domain, last_will, leftovers, namespace, scratch
from takt.processes.guard import MARK, identity
from takt.processes.process import TERM_S

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

    @property
    def lines(self) -> list[str]:
        """What is, or was, removed."""
        return [*self.processes, *self.shared_memory, *self.folders, *self.locks]


def clean(
    *, dry_run: bool, memory: Path = scratch.MEMORY, temporary: Path | None = None
) -> Remains:
    """Removes it; in a dry run, only finds it."""
    dead = {pid: _title(pid) for pid in orphans()}
    if not dry_run:
        end(dead)
    removed = Remains([f"process {pid}: {title}" for pid, title in dead.items()], [], [], [], [])
    for one in scratch.dead_folders(memory):
        if last_will.left_in(one.folder, execute_it=not dry_run):
            removed.folders.append("changes of the machine for a cell: takt tune --revert")
        names = leftovers.unused(one.folder, memory, remove=not dry_run, ignoring=set(dead))
        removed.shared_memory.extend(f"shared memory: {memory / name}" for name in names)
        links = namespace.left_in(one.folder, remove_it=not dry_run)
        removed.folders.extend(f"link of a second host: {name}" for name in links)
        if (written := one.run_folder / scratch.LOADED).is_dir():
            removed.folders.append(f"files of a load: {written}")
            if not dry_run:
                one.remove_load()
        if one.waits:
            removed.kept.append(_how_to_go_on(one))
            if one.named if dry_run else one.to_disk():
                removed.folders.append(f"scratch folder: {one.folder}")
        else:
            removed.folders.append(f"scratch folder: {one.folder}")
            if not dry_run:
                one.remove()
    locks = domain.free_locks(temporary or Path(tempfile.gettempdir()), remove=not dry_run)
    if locks:
        names = [str(locks[0]), *(path.name for path in locks[1:])]
        removed.locks.append(f"locks of ROS domains: {', '.join(names)}")
    return removed


def orphans() -> Iterator[int]:
    """Processes that a Takt which is gone has started, or who was started by them."""
    for entry in _PROC.iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        with suppress(OSError):  # gone, or another user's
            environment = (entry / "environ").read_bytes().split(b"\0")
            mark = next((one for one in environment if one.startswith(f"{MARK}=".encode())), b"")
            starter = mark.decode(errors="replace").partition("=")[2]
            if starter and identity(int(starter.partition(":")[0] or 0)) != starter:
                yield int(entry.name)


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


def _how_to_go_on(dead: scratch.Dead) -> str:
    if dead.lent:
        return f"recordings of a role of another machine's run, which fetches them: {dead.folder}"
    if dead.named:
        return f"recordings of a killed run; go on with: takt run --resume {dead.run_folder}"
    return f"recordings of a killed run whose results folder is gone: {dead.folder}"
