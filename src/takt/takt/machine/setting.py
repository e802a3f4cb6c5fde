# SPDX-License-Identifier: Apache-2.0
"""A setting of a machine: which places it has, what they should hold, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from takt.machine.places import AnyPlace
from takt.machine.system import System


@dataclass(frozen=True)
class Wish:
    """What one place should hold."""

    place: AnyPlace
    value: str


@dataclass(frozen=True)
class Setting:
    """One subject of the list that doctor, tune and check share."""

    id: str
    title: str
    why: str
    findings: tuple[str, ...]  # of the doctor, that see it
    wishes: Callable[[System], Iterable[Wish]]  # none where the machine has no such thing
    by_hand: Callable[[System], str]  # a command that does the same, for the doctor
    absent: str = ""  # why a machine may have none of it
    caution: str = ""  # what it costs, or what may go wrong
