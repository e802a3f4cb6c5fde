# SPDX-License-Identifier: Apache-2.0
"""What tune would change: every place of the list that can be read and is not as it should be."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from takt.errors import TaktError
from takt.machine.places import AnyPlace
from takt.machine.setting import Setting
from takt.machine.settings import BY_ID, SETTINGS
from takt.machine.writable import WritableSystem


@dataclass(frozen=True)
class Change:
    """One place, what it holds and what it should."""

    setting: Setting
    place: AnyPlace
    now: str
    wanted: str
    allowed: bool  # as far as can be told without trying


@dataclass(frozen=True)
class Unread:
    """A place that stays as it is, because what it holds cannot be told."""

    setting: Setting
    where: str
    reason: str


@dataclass
class Changes:
    """All places of the list that this machine has."""

    changes: list[Change] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    settled: dict[str, int] = field(default_factory=dict)  # places that are as wanted, by setting


def find_changes(
    machine: WritableSystem,
    without: Collection[str] = (),
    settings: Sequence[Setting] = SETTINGS,
) -> Changes:
    """Looks at a list of settings but for some; raises TaktError for an unknown name."""
    if unknown := sorted(set(without) - set(BY_ID)):
        raise TaktError(f"unknown setting {unknown[0]}", fix=f"one of {', '.join(BY_ID)}")
    found = Changes()
    for setting in settings:
        if setting.id not in without:
            _look(machine, setting, found)
    return found


def _look(machine: WritableSystem, setting: Setting, found: Changes) -> None:
    for wish in setting.wishes(machine):
        place = wish.place
        try:
            now = place.read(machine)
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            found.unread.append(Unread(setting, place.where, reason))
            continue
        if place.same(now, wish.value):
            found.settled[setting.id] = found.settled.get(setting.id, 0) + 1
        else:
            allowed = place.may_write(machine)
            found.changes.append(Change(setting, place, now, wish.value, allowed))
