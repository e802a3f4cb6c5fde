# SPDX-License-Identifier: Apache-2.0
"""The scratch folders of runs that were killed: found by the rule, and believed by both sides.

A run folder is touched only where its ``run.lock`` names the scratch folder whose ``owner.json``
names it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from takt.documents import own
from takt.documents.writing import replacing
from takt.processes.scratch import (
    DOCUMENT,
    LOADED,
    LOCK,
    MEMORY,
    ON_DISK,
    is_name,
    owner,
    recordings,
    remove_from,
)

MAKING_S = 60.0  # longer than from the folder to the file that says whose it is


@dataclass(frozen=True)
class Dead:
    """The scratch folder of a run that was killed."""

    folder: Path
    run_folder: Path
    recordings: list[Path]
    resumable: bool
    lent: bool = False  # its run is one of another machine, which had a role here
    refused: list[own.Refused] = field(default_factory=list, compare=False)

    @property
    def waits(self) -> bool:
        """Whether a resume, or at least a person, may still want it."""
        return self.resumable and (bool(self.recordings) or own.is_own(self.run_folder / DOCUMENT))

    @property
    def named(self) -> bool:
        """Whether a resume of the run folder would be of this run."""
        text = ""
        with self._trying(), own.opened(self.run_folder) as results:
            text = results.text(LOCK)
        return text == f"{self.folder.name}\n"

    @property
    def resumes(self) -> bool:
        """Whether this user can go on with it."""
        return self.named and own.is_own(self.run_folder, folder=True)

    def to_disk(self) -> bool:
        """Moves its recordings into the run folder, where a resume finds them, too, and removes it.

        False where they had to stay: no resume would take them over, or one is at it right now, or
        there is no room.
        """
        if not self.named:
            return False
        with self._trying(), own.opened(self.run_folder) as results:
            if lock := results.lock(LOCK):
                with lock:
                    for path in self.recordings:
                        results.make(ON_DISK)
                        with replacing(self.run_folder / ON_DISK / path.name) as temporary:
                            shutil.copyfile(path, temporary)
                    self.remove()
                return True
        return False

    def remove(self) -> None:
        """Removes it, and the lock that names it."""
        if named := self.named:
            self.remove_load()
            with self._trying(), own.opened(self.run_folder) as results:
                results.remove(LOCK)
        with self._trying(), own.opened(self.folder.parent) as place:
            place.remove_tree(self.folder.name)
        if self.lent and named:
            with contextlib.suppress(OSError):  # not empty: something waits there
                self.run_folder.rmdir()

    @property
    def has_load(self) -> bool:
        """Whether there is something that a load wrote."""
        return self.named and own.is_own(self.run_folder / LOADED, folder=True)

    def remove_load(self) -> None:
        """Removes what a load wrote, which nobody wants any more."""
        if self.named:
            self.refused.extend(remove_from(self.run_folder, LOADED))

    @contextlib.contextmanager
    def _trying(self) -> Iterator[None]:
        try:
            yield
        except own.Refused as error:
            self.refused.append(error)
        except OSError:  # it has gone
            pass


def dead_folders(
    memory: Path = MEMORY,
    of_dead: Path | None = None,
    refused: list[own.Refused] | None = None,
) -> Iterator[Dead]:
    """The scratch folders in memory whose runs are dead, each locked while it is looked at.

    ``of_dead`` is one more, wherever it is, whose run is known to be dead. What bears the name of
    one of this user's and is none comes into ``refused``.
    """
    failures = [] if refused is None else refused
    mine = f"takt-{os.getuid()}-"
    found = {one for one in memory.iterdir() if one.name.startswith(mine)}
    for folder in sorted({*found, *filter(None, [of_dead])}):
        try:
            with _dead(folder, being_made=folder != of_dead, refused=failures) as dead:
                if dead:
                    yield dead
        except own.Refused as error:
            failures.append(error)
        except OSError:
            continue  # being made or being removed right now


@contextlib.contextmanager
def _dead(folder: Path, *, being_made: bool, refused: list[own.Refused]) -> Iterator[Dead | None]:
    """Locked; None: it is alive. Raises Refused, and OSError where there is none (any more)."""
    with own.opened(folder.parent) as place:
        if not is_name(folder.name):
            raise own.Refused(folder, "not a name that Takt assigns")
        with place.folder(folder.name) as scratch:
            failures = owner(scratch)
            age = time.time() - os.fstat(scratch.descriptor).st_mtime
            if failures is None and being_made and age < MAKING_S:
                raise FileNotFoundError(errno.ENOENT, "it is being created", str(folder))
            lock = scratch.lock(LOCK)
    if lock is None:
        yield None
        return
    with lock:
        failures = failures or {"run": str(folder), "resumable": False}  # killed while it was made
        resumable, lent = bool(failures.get("resumable", True)), bool(failures.get("lent"))
        run_folder = Path(str(failures["run"]))
        yield Dead(folder, run_folder, recordings(folder), resumable, lent, refused)
