# SPDX-License-Identifier: Apache-2.0
"""Swap areas as places: on, with their priority, or off."""

from __future__ import annotations

import re
from typing import Literal

from takt.machine.place import Place
from takt.machine.system import System
from takt.machine.writable import CAP_SYS_ADMIN, WritableSystem


class SwapArea(Place):
    """A device or file that pages are written to."""

    kind: Literal["swap"] = "swap"
    path: str

    @property
    def where(self) -> str:
        """The device or file."""
        return self.path

    @property
    def listed_as(self) -> str:
        """The device or file."""
        return self.path

    def can_hold(self, value: str) -> bool:
        """As it is read."""
        return bool(re.fullmatch("off|on -?[0-9]{1,5}", value))

    def gone(self, machine: System) -> bool:
        """The device or file itself."""
        return not machine.exists(self.path)

    def read(self, machine: System) -> str:
        """``on`` with its priority, or ``off``."""
        priority = swap_areas(machine.read("/proc/swaps").decode(errors="replace")).get(self.path)
        return "off" if priority is None else f"on {priority}"

    def write(self, machine: WritableSystem, value: str) -> None:
        """Whichever is wanted."""
        if value == "off":
            machine.swap_off(self.path)
        else:
            machine.swap_on(self.path, int(value.split()[1]))

    def may_write(self, machine: System) -> bool:
        """By CAP_SYS_ADMIN."""
        return machine.capable(CAP_SYS_ADMIN)


def swap_areas(text: str) -> dict[str, int]:
    """Priority of each area of /proc/swaps; those whose file was deleted are left out."""
    found = {}
    for line in text.splitlines()[1:]:
        words = line.split()
        number = words[4].removeprefix("-") if len(words) == 5 else ""
        if number.isdecimal() and not words[0].endswith("(deleted)"):
            path = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code.group(1), 8)), words[0])
            found[path] = int(words[4])
    return found
