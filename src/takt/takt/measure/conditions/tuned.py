# SPDX-License-Identifier: Apache-2.0
"""A machine that is changed while a cell is measured, and put back then, by tune's own journal.

By settings of the list that doctor and tune share, by all of them, and by cores that the measured
processes have alone. What is to be done if the tool is killed is written down before anything is
changed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from takt.errors import TaktError
from takt.machine import exclusive
from takt.machine.setting import Setting
from takt.machine.settings import BY_ID, SETTINGS
from takt.machine.writable import WritableSystem
from takt.measure.results.model import Note, TunedPlace
from takt.measure.results.point import Point
from takt.processes import last_will
from takt.tune import journal
from takt.tune.apply import apply
from takt.tune.changes import find_changes
from takt.tune.outcome import PlaceOutcome
from takt.tune.revert import revert

NONE = "none"
ALL = "all"
CHOICES = (NONE, ALL, *BY_ID)
SHARED, EXCLUSIVE = "shared", "alone"
PATTERN = f"{NONE}|{ALL}|({'|'.join(BY_ID)})([+]({'|'.join(BY_ID)}))*"
_LATER = frozenset({"limits"})  # count at the next login, so no cell can tell what they are worth
_REVERT = "sudo ./takt tune --revert"


def machine() -> WritableSystem:
    """The one that is tuned; a test puts another in its place."""
    return WritableSystem()


class Tuned:
    """What became of the settings of one cell."""

    def __init__(self) -> None:
        self.places: list[TunedPlace] = []  # that were changed
        self.group = ""  # the control group of the measured processes
        self.fault: Note | None = None  # why the cell is not what its name says
        self.notes: list[Note] = []

    @property
    def changed(self) -> int:
        """How many places."""
        return len(self.places)


@contextlib.contextmanager
def tuned(choice: str, cores: Sequence[int] = (), scratch: Path | None = None) -> Iterator[Tuned]:
    """Changes the places of a choice, gives these cores to the measured; and puts all back.

    ``scratch`` is the run's folder, whose undertaker does so where this process is killed.
    """
    found = Tuned()
    settings = [*_chosen(choice), *([exclusive.exclusive_cores(cores)] if cores else [])]
    if not settings:
        yield found
        return
    target = machine()
    if journal.load(target) is not None:  # or its end would take back what is somebody else's
        found.fault = Note(what="the machine is already tuned", why=journal.FILE, fix=_REVERT)
        yield found
        return
    with last_will.of(scratch, last_will.REVERT):
        try:
            places = apply(target, settings=settings)
        except TaktError as error:  # another tune is at work; what it changed is its own
            found.fault = Note(what=error.what, why=error.where or "", fix=error.fix)
            yield found
            return
        try:
            _judge(found, target, choice, settings, places)
            if cores and not found.fault:
                found.group = exclusive.group(target)
            yield found
            found.notes += _strangers(target, cores) if found.group else []
        finally:
            back = revert(target)
            found.notes += [_note(place) for place in back if place.result in ("refused", "left")]


def lacking(choice: str, cores: Sequence[int] = ()) -> tuple[str, str] | None:
    """Why this user or machine cannot do it, and the fix; None: it can."""
    if choice == NONE and not cores:
        return None
    target = machine()
    if not journal.may_record(target):
        return "this user may not change machine settings", "use sudo"
    if journal.load(target) is not None:
        return f"takt tune has changed this machine ({journal.FILE})", _REVERT
    return exclusive.lacking(target, cores) if cores else None


def cores_of(point: Point) -> list[int]:
    """Those that the measured processes of a point have alone; empty: none."""
    return sorted(set(point.cpu)) if point.cores == EXCLUSIVE else []


def worth_measuring(target: WritableSystem) -> list[str]:
    """The settings that would change something at once, in the order of the list."""
    planned = {change.setting.id for change in find_changes(target).changes if change.allowed}
    return [name for name in BY_ID if name in planned - _LATER]


def parse(value: object) -> str:
    """A choice, several settings in the order of the list; raises ValueError."""
    names = str(value).replace(" ", "").split("+")
    if len(names) == 1 and names[0] in (NONE, ALL):
        return names[0]
    if unknown := [name for name in names if name not in BY_ID]:
        several = "; or several of these, joined by +" if BY_ID else ""
        raise ValueError(f"{unknown[0]!r} is not one of {', '.join(CHOICES)}{several}")
    return "+".join(name for name in BY_ID if name in names)


def refuse_if_lacking(choice: str) -> None:
    """Raises TaktError with the fix."""
    if lack := lacking(choice):
        raise TaktError(lack[0], fix=lack[1])


def _chosen(choice: str) -> list[Setting]:
    names = choice.split("+")
    return [one for one in SETTINGS if one.id in names or (choice == ALL and one.id not in _LATER)]


def _judge(
    found: Tuned,
    target: WritableSystem,
    choice: str,
    settings: Sequence[Setting],
    places: Sequence[PlaceOutcome],
) -> None:
    """What was changed, what was not to be had, and whether the cell is what its name says."""
    found.places = [
        TunedPlace(
            setting=one.setting, where=one.where, before=one.before or "", now=one.wanted or ""
        )
        for one in places
        if one.result == "changed"
    ]
    found.notes += [_note(place) for place in places if place.result == "refused"]
    if choice != ALL:
        found.notes += [
            Note(what=f"{one.id} is not available here", why=one.absent)
            for one in settings
            if one.absent and not any(True for _ in one.wishes(target))
        ]
    refused = [
        place for place in places if place.result == "refused" and place.setting == exclusive.ID
    ]
    if refused:
        reasons = "; ".join(f"{one.where}: {one.reason}" for one in refused)
        found.fault = Note(what="the measured processes have no exclusive cores", why=reasons)
    elif not found.places:
        why = (
            "; ".join(note.why for note in found.notes)
            or "all settings already have their recommended values"
        )
        found.fault = Note(what=f"nothing was changed by {choice}", why=why)


def _strangers(target: WritableSystem, cores: Sequence[int]) -> list[Note]:
    others = exclusive.strangers(target, cores)
    if not others:
        return []
    fix = "they are in their own control groups or started meanwhile: stop them, or move them"
    what = f"{len(others)} other processes may use the measured cores"
    return [Note(what=what, why=", ".join(others[:8]), fix=fix)]


def _note(place: PlaceOutcome) -> Note:
    return Note(what=f"{place.setting}: {place.where} {place.result}", why=place.reason or "")
