# SPDX-License-Identifier: Apache-2.0
"""Makes the changes, each place recorded before it is written to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby

from takt.errors import TaktError
from takt.machine.setting import Setting
from takt.machine.settings import SETTINGS
from takt.machine.writable import WritableSystem
from takt.tune import journal as journals
from takt.tune.changes import Change, Changes, Unread, find_changes
from takt.tune.journal import Entry, Journal
from takt.tune.outcome import PlaceOutcome, Result, refusal

_ROUNDS = 3  # a controller that is switched on makes new files, which the next round finds


def apply(
    machine: WritableSystem,
    without: Collection[str] = (),
    settings: Sequence[Setting] = SETTINGS,
) -> list[PlaceOutcome]:
    """What came of each place; raises TaktError, Failure, and OSError of the journal."""
    find_changes(machine, without, settings)  # refuses wrong names before anything is done
    with journals.held(machine):
        journal = _journal(machine)
        done: dict[str, PlaceOutcome] = {}
        found = Changes()
        for _ in range(_ROUNDS):
            found = find_changes(machine, without, settings)
            fresh = [one for one in found.changes if one.place.key not in done]
            if not fresh:
                break
            _note(journal, fresh)
            journals.save(machine, journal)
            for _, group in groupby(fresh, key=lambda one: one.setting.id):
                done.update(_change(machine, journal, list(group)))
        return [*done.values(), *map(outcome_unread, found.unread)]


def outcome_unread(one: Unread) -> PlaceOutcome:
    """A place that is left alone because it could not be read."""
    why = f"unreadable, left unchanged: {one.reason}"
    return PlaceOutcome(setting=one.setting.id, where=one.where, result="unread", reason=why)


def outcome(change: Change, result: Result, reason: str | None = None) -> PlaceOutcome:
    """What came of a change, in plain words."""
    return PlaceOutcome(
        setting=change.setting.id,
        where=change.place.where,
        before=change.place.plain(change.now),
        wanted=change.place.plain(change.wanted),
        result=result,
        reason=reason,
    )


def _journal(machine: WritableSystem) -> Journal:
    """The journal of before, without what the kernel forgot when it was started again."""
    boot = journals.boot(machine)
    journal = journals.load(machine)
    if journal is None:
        return Journal(boot=boot)
    if journal.damaged:
        raise TaktError(
            f"{len(journal.damaged)} entries of the journal are damaged",
            where=str(machine.path(journals.FILE)),
            fix="takt tune --revert restores the others and lists these",
        )
    if journal.boot != boot:
        kept = [one for one in journal.entries if one.place.survives_reboot]
        return Journal(boot=boot, entries=kept)
    return journal


def _note(journal: Journal, changes: Iterable[Change]) -> None:
    """What was before the first apply stays what was before."""
    for one in changes:
        entry = journal.entry(one.place)
        if entry is None:
            entry = Entry(setting=one.setting.id, place=one.place, before=one.now)
            journal.entries.append(entry)
        elif entry.state == "noted":  # by an apply that was killed before it came to it
            entry.before = one.now


def _change(
    machine: WritableSystem, journal: Journal, changes: list[Change]
) -> dict[str, PlaceOutcome]:
    """The places of one setting: begun on the disk, written, done on the disk."""
    entries = {one.place.key: one for one in journal.entries}
    older = {key: entry.model_copy() for key, entry in entries.items()}
    for change in changes:
        entries[change.place.key].state = "begun"
    journals.save(machine, journal)
    done = {}
    for change in changes:
        entry = entries[change.place.key]
        done[change.place.key] = _write(machine, change, entry)
        if entry.state == "noted":  # nothing was written after all
            before = older[change.place.key]
            if before.state == "noted":
                journal.entries.remove(entry)
            else:
                entry.state, entry.wrote = before.state, before.wrote
    journals.save(machine, journal)
    return done


def _write(machine: WritableSystem, change: Change, entry: Entry) -> PlaceOutcome:
    """Writes, reads back, and says in the entry what is there now."""
    place, refused, kept = change.place, "", ""
    try:
        now = place.read(machine)
        # One write may change several places: CPUs share a governor.
        if not place.same(now, change.now) and not place.same(now, change.wanted):
            entry.state = "noted"
            return outcome(
                change, "refused", "another process changed it at the same time; try again"
            )
    except OSError as error:
        entry.state = "noted"
        return outcome(change, "refused", refusal(error))
    try:
        if not place.same(now, change.wanted):
            place.write(machine, change.wanted)
    except OSError as error:
        refused, kept = refusal(error), place.keeps(error)
    try:
        entry.wrote = place.read(machine)
    except OSError as error:
        return outcome(change, "refused", refused or refusal(error))  # begun: is taken back
    entry.state = "done"
    if place.same(entry.wrote, change.wanted):
        return outcome(change, "changed")
    if place.same(entry.wrote, change.now):
        entry.state = "noted"
        if kept:
            return outcome(change, "kept", kept)
    refused = refused or f"the kernel set {place.plain(entry.wrote)!r} instead"
    return outcome(change, "refused", refused)
