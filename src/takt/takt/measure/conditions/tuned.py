# SPDX-License-Identifier: Apache-2.0
"""A machine that is tuned while a cell is measured, by one setting or by all, and put back then."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from takt.errors import TaktError
from takt.machine.settings import BY_ID
from takt.machine.writable import WritableSystem
from takt.measure.results.model import Note
from takt.tune import journal
from takt.tune.apply import apply
from takt.tune.changes import find_changes
from takt.tune.outcome import PlaceOutcome
from takt.tune.revert import revert

NONE = "none"
ALL = "all"
CHOICES = (NONE, ALL, *BY_ID)
_LATER = frozenset({"limits"})  # count at the next login, so no cell can tell what they are worth
_REVERT = "sudo ./takt tune --revert"


def machine() -> WritableSystem:
    """The one that is tuned; a test puts another in its place."""
    return WritableSystem()


class Tuned:
    """What became of the settings of one cell."""

    def __init__(self) -> None:
        self.changed = 0  # places
        self.fault: Note | None = None  # why the cell is not what its name says
        self.notes: list[Note] = []


@contextlib.contextmanager
def tuned(choice: str) -> Iterator[Tuned]:
    """Changes the places of a choice, and puts them back whatever happens."""
    found = Tuned()
    if choice == NONE:
        yield found
        return
    target = machine()
    if journal.load(target) is not None:  # or its end would take back what is somebody else's
        found.fault = Note(what="the machine was tuned already", why=journal.FILE, fix=_REVERT)
        yield found
        return
    try:
        places = apply(target, without=_without(choice))
    except TaktError as error:  # another tune is at work; what it changed is its own
        found.fault = Note(what=error.what, why=error.where or "", fix=error.remedy)
        yield found
        return
    try:
        found.changed = sum(place.result == "changed" for place in places)
        found.notes += [_note(place) for place in places if place.result == "refused"]
        if not found.changed:
            why = "; ".join(note.why for note in found.notes) or "all is as it should be already"
            found.fault = Note(what=f"nothing was changed by {choice}", why=why)
        yield found
    finally:
        back = revert(target)
        found.notes += [_note(place) for place in back if place.result in ("refused", "left")]


def lacking(choice: str) -> tuple[str, str] | None:
    """Why this user or machine cannot do it, and the remedy; None: it can."""
    if choice == NONE:
        return None
    target = machine()
    if not journal.may_record(target):
        return "this user may not change the settings of the machine", "use sudo"
    if journal.load(target) is not None:
        return f"takt tune has changed this machine ({journal.FILE})", _REVERT
    return None


def worth_measuring(target: WritableSystem) -> list[str]:
    """The settings that would change something at once, in the order of the list."""
    planned = {change.setting.id for change in find_changes(target).changes if change.allowed}
    return [name for name in BY_ID if name in planned - _LATER]


def parse(value: object) -> str:
    """A choice; raises ValueError."""
    if value not in CHOICES:
        raise ValueError(f"{value!r} is not one of {', '.join(CHOICES)}")
    return str(value)


def refuse_if_lacking(choice: str) -> None:
    """Raises TaktError with the remedy."""
    if lack := lacking(choice):
        raise TaktError(lack[0], remedy=lack[1])


def _without(choice: str) -> set[str]:
    return set(_LATER) if choice == ALL else set(BY_ID) - {choice}


def _note(place: PlaceOutcome) -> Note:
    return Note(what=f"{place.setting}: {place.where} {place.result}", why=place.told or "")
