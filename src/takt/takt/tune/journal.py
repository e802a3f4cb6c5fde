# SPDX-License-Identifier: Apache-2.0
"""What each place held before tune, on the disk before anything is written to it.

The file outlives a crash and a reboot. It knows the boot: what the kernel holds starts anew with
each, and is not "restored" over that; files stay, and are.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from takt.documents import reading, writing
from takt.errors import Failure, TaktError
from takt.machine.places import AnyPlace
from takt.machine.writable import WritableSystem

FOLDER = "/var/lib/takt"
FILE = f"{FOLDER}/tune.json"
_BOOT = "/proc/sys/kernel/random/boot_id"


class Entry(BaseModel):
    """One place that tune writes to, or is about to."""

    model_config = ConfigDict(extra="forbid")

    setting: str
    place: AnyPlace
    before: str  # to the byte, from before the first apply
    # noted: not touched. begun: may hold what tune writes. done: holds `wrote`.
    state: Literal["noted", "begun", "done"] = "noted"
    wrote: str | None = None  # as it was read after the write


class Journal(BaseModel):
    """All places that differ from before because of tune."""

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal[1] = 1
    boot: str
    entries: list[Entry] = []

    def entry(self, place: AnyPlace) -> Entry | None:
        """The entry of a place, if there is one."""
        return next((one for one in self.entries if one.place.key == place.key), None)


def boot(machine: WritableSystem) -> str:
    """Which start of the machine this is; raises Failure."""
    text = machine.text(_BOOT)
    if not text:
        what = "it cannot be told when this machine started, so nothing could be taken back"
        raise Failure(what, where=_BOOT, remedy="run it where /proc is mounted")
    return text


def may_record(machine: WritableSystem) -> bool:
    """Whether this user may write the journal; without it nothing is changed."""
    folder = Path(FOLDER)
    while not machine.exists(str(folder)) and folder != folder.parent:
        folder = folder.parent
    file_too = machine.writable(FILE) or not machine.exists(FILE)
    return machine.writable(str(folder)) and file_too


@contextlib.contextmanager
def held(machine: WritableSystem) -> Iterator[None]:
    """One tune at a time; raises Failure where another is at work."""
    folder = machine.path(FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            remedy = "wait for it to end"
            raise Failure("another takt tune is at work", where=FILE, remedy=remedy) from None
        for stale in folder.glob(f".*{writing.SUFFIX}"):  # of one that was killed
            stale.unlink(missing_ok=True)
        yield
    finally:
        os.close(descriptor)


def load(machine: WritableSystem) -> Journal | None:
    """What was recorded, None where nothing was; raises TaktError for a file that is none."""
    file = machine.path(FILE)
    remedy = "it is not touched; mend it by hand, or reboot and remove it"
    try:
        text = reading.read_text(file, most=reading.DOCUMENT_BYTES)
    except FileNotFoundError:
        return None
    document = reading.parse_json(text, str(file), remedy=remedy)
    try:
        return Journal.model_validate(document)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(map(str, fault["loc"]))
        what = f"not a journal of takt tune: {place}: {fault['msg']}"
        raise TaktError(what, where=str(file), remedy=remedy) from None


def save(machine: WritableSystem, journal: Journal) -> None:
    """Onto the disk in one step; without entries there is no file. Raises OSError."""
    file = machine.path(FILE)
    if journal.entries:
        writing.write_text(file, journal.model_dump_json(indent=1) + "\n")
    elif file.exists():
        file.unlink()
        writing.flush(file.parent)
