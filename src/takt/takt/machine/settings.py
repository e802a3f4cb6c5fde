# SPDX-License-Identifier: Apache-2.0
"""The one list of settings: the doctor finds them, tune changes them, check names them."""

from __future__ import annotations

from takt.machine import cores, exclusive, kernel, memory, threads
from takt.machine.places import AnyPlace
from takt.machine.setting import Setting, Wish
from takt.machine.system import System

# In the order of their effect on a loop; taken back in the reverse one.
SETTINGS: tuple[Setting, ...] = (
    *kernel.SETTINGS,
    *threads.SETTINGS,
    *cores.SETTINGS,
    *memory.SETTINGS,
)
BY_ID = {setting.id: setting for setting in SETTINGS}
BY_FINDING = {finding: setting for setting in SETTINGS for finding in setting.findings}


def is_listed(name: str, place: AnyPlace) -> bool:
    """Whether a setting may have a place: one of the list, or the cores of the measured."""
    places = (
        exclusive.PLACES if name == exclusive.ID else BY_ID[name].places if name in BY_ID else ()
    )
    return any(one.has(place) for one in places)


def by_hand(name: str, system: System) -> str:
    """The command that makes a setting without tune."""
    return BY_ID[name].by_hand(system)


def is_wanted(setting: Setting, system: System) -> bool:
    """Whether something of it can be read and is not as it should be."""
    return any(_differs(wish, system) for wish in setting.wishes(system))


def _differs(wish: Wish, system: System) -> bool:
    try:
        return not wish.place.same(wish.place.read(system), wish.value)
    except (OSError, ValueError):
        return False
