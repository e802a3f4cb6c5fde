# SPDX-License-Identifier: Apache-2.0
"""What each place held before tune, on the disk before anything is written to it.

The file outlives a crash and a reboot. It knows the boot: what the kernel holds starts anew with
each, and is not "restored" over that; files stay, and are.

Whoever takes something back believes only a journal that is root's, or this user's, and of it only
what is on the list of settings: an entry that names anything else is told, and left where it is.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from takt.documents import own, reading, writing
from takt.errors import Failure, TaktError, shortened
from takt.machine.places import AnyPlace
from takt.machine.settings import is_listed
from takt.machine.writable import WritableSystem

FOLDER = "/var/lib/takt"
FILE = f"{FOLDER}/tune.json"
_WORDS = 300  # of why an entry is none
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


@dataclass(frozen=True)
class Damaged:
    """An entry that is none: it stays in the journal, and nothing is done by it."""

    number: int  # in the file, from 1
    content: Any
    why: str


@dataclass
class Journal:
    """All places that differ from before because of tune."""

    boot: str
    entries: list[Entry] = field(default_factory=list)
    damaged: list[Damaged] = field(default_factory=list)

    def entry(self, place: AnyPlace) -> Entry | None:
        """The entry of a place, if there is one."""
        return next((one for one in self.entries if one.place.key == place.key), None)


class _Document(BaseModel):
    """As it stands on the disk."""

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal[1] = 1
    boot: str
    entries: list[Any] = []


def boot(machine: WritableSystem) -> str:
    """Which start of the machine this is; raises Failure."""
    text = machine.text(_BOOT)
    if not text:
        what = "cannot determine the boot of this machine, so no change could be reverted"
        raise Failure(what, where=_BOOT, fix="run it where /proc is mounted")
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
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(folder, flags)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fix = "wait for it to end"
            raise Failure("another takt tune is running", where=FILE, fix=fix) from None
        for stale in folder.glob(f".*{writing.SUFFIX}"):  # of one that was killed
            stale.unlink(missing_ok=True)
        yield
    finally:
        os.close(descriptor)


def load(machine: WritableSystem) -> Journal | None:
    """What was recorded, None where nothing was; raises TaktError for a file that is none."""
    file = machine.path(FILE)
    fix = "Takt does not touch it; fix it by hand, or reboot and delete it"
    try:
        text = _text(file)
    except FileNotFoundError:
        return None
    document = reading.parse_json(text, str(file), fix=fix)
    try:
        found = _Document.model_validate(document)
    except ValidationError as error:
        what = f"not a journal of takt tune: {_first(error)}"
        raise TaktError(what, where=str(file), fix=fix) from None
    journal = Journal(boot=found.boot)
    for number, content in enumerate(found.entries, 1):
        try:
            journal.entries.append(_entry(content, journal))
        except ValueError as error:
            journal.damaged.append(Damaged(number, content, shortened(str(error), _WORDS)))
        except RecursionError:
            raise TaktError("it is nested too deeply", where=str(file), fix=fix) from None
    return journal


def save(machine: WritableSystem, journal: Journal) -> None:
    """Onto the disk in one step; without entries there is no file. Raises OSError."""
    file = machine.path(FILE)
    if journal.entries or journal.damaged:
        entries = [one.model_dump(mode="json") for one in journal.entries]
        entries += [one.content for one in journal.damaged]
        lines = ",\n".join(map(json.dumps, entries))
        boot = json.dumps(journal.boot)
        text = f'{{"schema_version": 1, "boot": {boot}, "entries": [\n{lines}\n]}}\n'
        with writing.replacing(file) as temporary:
            temporary.write_text(text, encoding="ascii")
            temporary.chmod(0o644)  # whatever the umask is
    elif file.exists():
        file.unlink()
        writing.flush(file.parent)


def _text(file: Path) -> str:
    """What a journal holds; raises FileNotFoundError and TaktError."""
    fix = "Takt does not touch it; ask its owner to delete it"
    for path in (file.parent, file):
        status = path.lstat()
        owner = 0 if status.st_uid == 0 else None
        why = own.fault(status, folder=path != file, closed=0o022, owner=owner)
        if why is not None:
            what = f"not recognised as created by takt tune: {why}"
            raise TaktError(what, where=str(path), fix=fix)
    return reading.read_text(file, most=reading.DOCUMENT_BYTES)


def _entry(content: Any, journal: Journal) -> Entry:
    """Raises ValueError for what tune does not write."""
    try:
        entry = Entry.model_validate(content)
    except ValidationError as error:
        raise ValueError(_first(error)) from None
    entry.model_dump_json()  # ValueError: half a character; whoever tells of it must not stumble
    json.dumps(content)
    if not is_listed(entry.setting, entry.place):
        raise ValueError(f"{entry.place.where} does not belong to the setting {entry.setting!r}")
    for value in (entry.before, entry.wrote):
        if value is not None and not entry.place.can_hold(value):
            raise ValueError(f"{entry.place.where} cannot hold {value!r}")
    if journal.entry(entry.place):
        raise ValueError(f"duplicate {entry.place.where}")
    return entry


def _first(error: ValidationError) -> str:
    fault = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
