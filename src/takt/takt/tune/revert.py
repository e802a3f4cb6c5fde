# SPDX-License-Identifier: Apache-2.0
"""Takes back what tune did: every place to the value, to the byte, of before the first apply.

A place that holds neither what tune wrote nor what was before was changed by somebody else
meanwhile: it is left alone and told. So is an entry of the journal that is damaged.
"""

from __future__ import annotations

from takt.machine.settings import BY_ID
from takt.machine.writable import WritableSystem
from takt.tune import journal as journals
from takt.tune.journal import Damaged, Entry
from takt.tune.outcome import PlaceOutcome, Result, refusal


def revert(machine: WritableSystem) -> list[PlaceOutcome]:
    """What came of each place, empty where there was nothing; raises TaktError, Failure, OSError.

    What could not be put back stays in the journal, for another try.
    """
    file = machine.path(journals.FILE)
    if not (file.exists() or file.is_symlink()):
        return []
    with journals.held(machine):
        journal = journals.load(machine)
        if journal is None:
            return []
        rebooted = journals.boot(machine) != journal.boot
        backwards = list(reversed(journal.entries))
        judged = [_judge(machine, entry, rebooted=rebooted) for entry in backwards]
        for entry, one in zip(backwards, judged, strict=True):
            if one is None:  # a place may hold something in between until it is done
                entry.state = "begun"
        journals.save(machine, journal)
        done, kept = [_damaged(one) for one in journal.damaged], []
        for entry, one in zip(backwards, judged, strict=True):
            done.append(one or _restore(machine, entry))
            if done[-1].result == "refused":
                kept.append(entry)
        journal.entries = list(reversed(kept))
        journals.save(machine, journal)
        return done


def _damaged(one: Damaged) -> PlaceOutcome:
    name = one.content.get("setting") if isinstance(one.content, dict) else None
    return PlaceOutcome(
        setting=name if isinstance(name, str) and name in BY_ID else "unknown",
        where=f"{journals.FILE}, entry {one.number}",
        result="damaged",
        reason=f"{one.why}; the entry is kept: fix it by hand, or delete it from the file",
    )


def _outcome(entry: Entry, result: Result, reason: str | None = None) -> PlaceOutcome:
    return PlaceOutcome(
        setting=entry.setting,
        where=entry.place.where,
        before=entry.place.plain(entry.before),
        result=result,
        reason=reason,
    )


def _judge(machine: WritableSystem, entry: Entry, *, rebooted: bool) -> PlaceOutcome | None:
    """What is to be said of a place that is not to be written to; None for the others."""
    place = entry.place
    if rebooted and not place.survives_reboot:
        return _outcome(entry, "rebooted", "it was reset by the reboot")
    try:
        if place.gone(machine):
            return _outcome(entry, "ended", "it no longer exists")
        now = place.read(machine)
        place.tidy(machine)
    except OSError as error:
        return _outcome(entry, "refused", refusal(error))
    if entry.state == "noted" or place.same(now, entry.before):
        return _outcome(entry, "unchanged")
    if entry.state == "done" and not place.same(now, entry.wrote or ""):
        why = f"another process set it to {place.plain(now)!r} meanwhile; left unchanged"
        return _outcome(entry, "left", why)
    return None


def _restore(machine: WritableSystem, entry: Entry) -> PlaceOutcome:
    place = entry.place
    try:
        # One write may change several places: CPUs share a governor.
        if not place.same(place.read(machine), entry.before):
            place.write(machine, entry.before)
        now = place.read(machine)
    except OSError as error:
        return _outcome(entry, "refused", refusal(error))
    if not place.same(now, entry.before):
        return _outcome(entry, "refused", f"the kernel set {place.plain(now)!r} instead")
    return _outcome(entry, "restored", place.rest(entry.before, now) or None)
