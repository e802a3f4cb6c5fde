# SPDX-License-Identifier: Apache-2.0
"""A setting of a machine: which places it has, what they should hold, and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from takt.machine.place import Place
from takt.machine.places import AnyPlace
from takt.machine.system import System

# An absolute path that goes down only.
ANY_PATH = r"(/(?!\.\.?(/|$))[^/\0\n]+)+"


@dataclass(frozen=True)
class Wish:
    """What one place should hold."""

    place: AnyPlace
    value: str


@dataclass(frozen=True)
class Listed:
    """Places of one kind that a setting may have, on any machine."""

    kind: type[Place]
    pattern: str  # of what the place is listed as, all of it

    def has(self, place: AnyPlace) -> bool:
        """Whether a place is one of these."""
        return type(place) is self.kind and bool(re.fullmatch(self.pattern, place.listed_as))


@dataclass(frozen=True)
class Setting:
    """One subject of the list that doctor, tune and check share."""

    id: str
    title: str
    why: str
    findings: tuple[str, ...]  # of the doctor, that see it
    wishes: Callable[[System], Iterable[Wish]]  # none where the machine has no such thing
    places: tuple[Listed, ...]  # all that a journal may name for it
    by_hand: Callable[[System], str]  # a command that does the same, for the doctor
    absent: str = ""  # why a machine may have none of it
    caution: str = ""  # what it costs, or what may go wrong
