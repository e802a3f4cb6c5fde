# SPDX-License-Identifier: Apache-2.0
"""The kinds of places where a setting lives: how its value is read, written and recognized.

A value is text that holds every byte of what was read, so that it can be put back exactly. Two
values are the same when their :meth:`Place.plain` forms are: the kernel answers in other words than
it takes (``always [madvise] never`` for ``madvise``).
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from takt.machine.system import System
from takt.machine.writable import WritableSystem

ABSENT = ""
_BYTE = 256
BYTES = "latin-1"  # a character for each byte, and JSON takes them all


class Place(BaseModel, ABC):
    """What all kinds have in common."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    survives_reboot: ClassVar[bool] = False

    @property
    def key(self) -> str:
        """The same for the same place, and for no other."""
        return self.model_dump_json()

    @property
    @abstractmethod
    def where(self) -> str:
        """For people."""

    @property
    @abstractmethod
    def listed_as(self) -> str:
        """What a setting's list knows it by: where it is, and what decides how it is written."""

    @abstractmethod
    def can_hold(self, value: str) -> bool:
        """Whether such a place can have had a value, as a journal tells it."""

    @abstractmethod
    def gone(self, machine: System) -> bool:
        """Whether what this place belonged to is not there any more; raises OSError."""

    @abstractmethod
    def read(self, machine: System) -> str:
        """The value now; raises OSError."""

    @abstractmethod
    def write(self, machine: WritableSystem, value: str) -> None:
        """Sets a wanted value, or one that was read before; raises OSError."""

    @abstractmethod
    def may_write(self, machine: System) -> bool:
        """Whether this user has what it takes; the kernel may still refuse."""

    def keeps(self, error: OSError) -> str:
        """Why nobody may change it, where the kernel's refusal means that; else empty."""
        return ""

    def rest(self, before: str, now: str) -> str:
        """What of a value that is the same again is not, in words; else empty."""
        return ""

    def tidy(self, machine: WritableSystem) -> None:
        """Removes what a write that was killed left beside the place; raises OSError."""

    def plain(self, value: str) -> str:
        """The value as people write it."""
        return value.strip()

    def same(self, one: str, other: str) -> bool:
        """Whether two values mean the same."""
        return self.plain(one) == self.plain(other)


class KernelFile(Place):
    """A file of the kernel, below /proc or /sys."""

    kind: Literal["file"] = "file"
    path: str
    form: Literal["text", "choice", "mask"] = "text"

    @property
    def where(self) -> str:
        """The file."""
        return self.path

    @property
    def listed_as(self) -> str:
        """The file, and its form where that is no text."""
        return self.path if self.form == "text" else f"{self.path} {self.form}"

    def can_hold(self, value: str) -> bool:
        """A line of numbers and words."""
        return bool(re.fullmatch(r"[A-Za-z0-9_.,:@+\[\]() \t-]{0,4000}\n?", value))

    def gone(self, machine: System) -> bool:
        """A device, a CPU or a control group may have gone."""
        return not machine.exists(self.path)

    def read(self, machine: System) -> str:
        """All bytes."""
        return machine.read(self.path).decode(BYTES)

    def write(self, machine: WritableSystem, value: str) -> None:
        """Of a choice, its word."""
        text = self.plain(value) if self.form == "choice" else value
        machine.write(self.path, text.encode(BYTES) or b"\n")

    def may_write(self, machine: System) -> bool:
        """By the file's permissions."""
        return machine.writable(self.path)

    def plain(self, value: str) -> str:
        """Of a choice the chosen word; a mask without leading zeros."""
        if self.form == "choice":
            chosen = re.search(r"[\[(](\w+)[\])]", value)
            return chosen.group(1) if chosen else value.strip()
        if self.form == "mask":
            return value.replace(",", "").strip().lstrip("0") or "0"
        return value.strip()


class Controller(Place):
    """A controller of a version 2 control group, as its children have it."""

    kind: Literal["controller"] = "controller"
    group: str
    name: str

    @property
    def where(self) -> str:
        """The file and the controller."""
        return f"{self._file} ({self.name})"

    @property
    def _file(self) -> str:
        return f"{self.group}/cgroup.subtree_control"

    @property
    def listed_as(self) -> str:
        """Group and controller."""
        return f"{self.group} {self.name}"

    def can_hold(self, value: str) -> bool:
        """Either of two."""
        return value in ("on", "off")

    def gone(self, machine: System) -> bool:
        """With its group."""
        return not machine.exists(self._file)

    def read(self, machine: System) -> str:
        """``on`` or ``off``."""
        return "on" if self.name in machine.read(self._file).decode(BYTES).split() else "off"

    def write(self, machine: WritableSystem, value: str) -> None:
        """With the sign that the kernel wants."""
        machine.write(self._file, f"{'+' if value == 'on' else '-'}{self.name}".encode())

    def may_write(self, machine: System) -> bool:
        """By the file's permissions."""
        return machine.writable(self._file)


class OwnFile(Place):
    """A whole file that Takt puts on the disk, where it stays over a reboot."""

    kind: Literal["own-file"] = "own-file"
    survives_reboot: ClassVar[bool] = True
    path: str

    @property
    def where(self) -> str:
        """The file."""
        return self.path

    @property
    def listed_as(self) -> str:
        """The file."""
        return self.path

    def can_hold(self, value: str) -> bool:
        """Permissions, without those that make a program another user's, owner and content."""
        head = value.partition("\n")[0]
        whole = re.fullmatch("[0-7]{1,3} [0-9]{1,9} [0-9]{1,9}", head) and "\n" in value
        return value == ABSENT or (bool(whole) and all(ord(one) < _BYTE for one in value))

    def gone(self, machine: System) -> bool:
        """Never: an absent file is a value."""
        return False

    def read(self, machine: System) -> str:
        """Permissions, owner and content; empty where it is absent."""
        try:
            content = machine.read(self.path)
            status = machine.path(self.path).stat()
        except FileNotFoundError:
            return ABSENT
        text = content.decode(BYTES)
        return file_value(text, status.st_mode & 0o7777, (status.st_uid, status.st_gid))

    def write(self, machine: WritableSystem, value: str) -> None:
        """All of it in one step."""
        if value == ABSENT:
            machine.remove(self.path)
            return
        head, _, text = value.partition("\n")
        mode, user, group = head.split()
        content = text.encode(BYTES)
        machine.replace(self.path, content, int(mode, 8), (int(user), int(group)))

    def tidy(self, machine: WritableSystem) -> None:
        """The new file that did not get its name any more."""
        machine.sweep(self.path)

    def may_write(self, machine: System) -> bool:
        """By the folder's permissions."""
        return machine.writable(os.path.dirname(self.path))  # noqa: PTH120 - of another tree

    def plain(self, value: str) -> str:
        """The content in one line."""
        return " | ".join(value.splitlines()[1:]) if value else "absent"

    def same(self, one: str, other: str) -> bool:
        """To the byte."""
        return one == other


def file_value(text: str, mode: int, owner: tuple[int, int]) -> str:
    """The value of an :class:`OwnFile`, whose owner is a user and a group."""
    return f"{mode:o} {owner[0]} {owner[1]}\n{text}"
