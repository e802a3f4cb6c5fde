# SPDX-License-Identifier: Apache-2.0
"""The kinds of places where a setting lives: how its value is read, written and recognized.

A value is text that holds every byte of what was read, so that it can be put back exactly. Two
values are the same when their :meth:`Place.plain` forms are: the kernel answers in other words than
it takes (``always [madvise] never`` for ``madvise``).
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from typing import Annotated, ClassVar, Literal, Union

from pydantic import BaseModel, ConfigDict, Field

from takt.machine.system import System
from takt.machine.writable import CAP_SYS_ADMIN, CAP_SYS_NICE, WritableSystem

ABSENT = ""
BYTES = "latin-1"  # a character for each byte, and JSON takes them all
_POLICIES = {0: "other", 1: "fifo", 2: "rr", 3: "batch", 5: "idle", 6: "deadline", 7: "ext"}
_USED = "used: "
_MOVES_S = 0.2
_RESET_ON_FORK = 0x40000000
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD of linux/sched.h


class Place(BaseModel):
    """What all kinds have in common."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    survives_reboot: ClassVar[bool] = False

    @property
    def key(self) -> str:
        """The same for the same place, and for no other."""
        return self.model_dump_json()

    @property
    def where(self) -> str:
        """For people."""
        raise NotImplementedError

    def gone(self, machine: System) -> bool:
        """Whether what this place belonged to is not there any more; raises OSError."""
        raise NotImplementedError

    def read(self, machine: System) -> str:
        """The value now; raises OSError."""
        raise NotImplementedError

    def write(self, machine: WritableSystem, value: str) -> None:
        """Sets a wanted value, or one that was read before; raises OSError."""
        raise NotImplementedError

    def may_write(self, machine: System) -> bool:
        """Whether this user has what it takes; the kernel may still refuse."""
        raise NotImplementedError

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


class InterruptAffinity(KernelFile):
    """The CPUs of an interrupt; its number may come to belong to another device."""

    kind: Literal["interrupt"] = "interrupt"  # type: ignore[assignment]
    device: str  # the names of its handlers

    @property
    def where(self) -> str:
        """The file and whose it is."""
        return f"{self.path} ({self.device})" if self.device else self.path

    def gone(self, machine: System) -> bool:
        """Also where the number belongs to another device now."""
        return super().gone(machine) or handlers(machine, self.path) != self.device

    def read(self, machine: System) -> str:
        """The allowed CPUs, and those of them that the kernel uses."""
        allowed = machine.read(self.path).decode(BYTES)
        used = machine.text(self._effective)
        return f"{allowed}{_USED}{used}" if used else allowed

    def write(self, machine: WritableSystem, value: str) -> None:
        """First to where it was: an interrupt that may stay where it is, stays.

        It moves when it fires the next time, so this waits for that, but not for long.
        """
        allowed, _, used = value.partition(_USED)
        if used and machine.text(self._effective) != used:
            with contextlib.suppress(OSError):
                machine.write(self.path, used.encode(BYTES))
                limit = time.monotonic() + _MOVES_S
                while machine.text(self._effective) != used and time.monotonic() < limit:
                    time.sleep(_MOVES_S / 100)
        machine.write(self.path, allowed.encode(BYTES))

    def keeps(self, error: OSError) -> str:
        """Managed interrupts, of disks above all, have a core each."""
        if error.errno not in (errno.EPERM, errno.EIO):
            return ""
        return "the kernel manages this interrupt itself; isolcpus=managed_irq moves it at boot"

    def rest(self, before: str, now: str) -> str:
        """Which of the allowed CPUs is used, the kernel decides."""
        was, is_now = (one.partition(_USED)[2] for one in (before, now))
        if was == is_now:
            return ""
        return f"allowed as before; it fires on CPU {is_now} of these until the kernel moves it"

    def plain(self, value: str) -> str:
        """The allowed CPUs."""
        return value.partition(_USED)[0].strip()

    @property
    def _effective(self) -> str:
        return f"{self.path.rpartition('/')[0]}/effective_affinity_list"


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

    def gone(self, machine: System) -> bool:
        """With its group."""
        return not machine.exists(self._file)

    def read(self, machine: System) -> str:
        """``on`` or ``off``."""
        return "on" if self.name in machine.read(self._file).decode().split() else "off"

    def write(self, machine: WritableSystem, value: str) -> None:
        """With the sign that the kernel wants."""
        machine.write(self._file, f"{'+' if value == 'on' else '-'}{self.name}".encode())

    def may_write(self, machine: System) -> bool:
        """By the file's permissions."""
        return machine.writable(self._file)


class ThreadScheduling(Place):
    """Policy and priority of a kernel thread: this one, not another that got its number."""

    kind: Literal["thread"] = "thread"
    pid: int
    start: int  # clock ticks after boot
    name: str

    @property
    def where(self) -> str:
        """The thread."""
        return f"thread {self.pid} ({self.name})"

    def gone(self, machine: System) -> bool:
        """Ended; its number may be another's."""
        return kernel_thread(machine, self.pid) != self

    def read(self, machine: System) -> str:
        """As ``fifo 60``; the same thread before and after."""
        self._check(machine)
        policy, priority = machine.scheduling(self.pid)
        self._check(machine)
        bare = policy & ~_RESET_ON_FORK
        if bare not in _POLICIES or _POLICIES[bare] in ("deadline", "ext"):
            raise OSError(errno.ENOTSUP, "its policy could not be put back", self.where)
        text = f"{_POLICIES[bare]} {priority}"
        return f"{text} reset-on-fork" if policy & _RESET_ON_FORK else text

    def write(self, machine: WritableSystem, value: str) -> None:
        """Only to this very thread."""
        words = value.split()
        policy = next(number for number, name in _POLICIES.items() if name == words[0])
        self._check(machine)
        flags = _RESET_ON_FORK if "reset-on-fork" in words else 0
        machine.set_scheduling(self.pid, policy | flags, int(words[1]))

    def may_write(self, machine: System) -> bool:
        """By CAP_SYS_NICE."""
        return machine.capable(CAP_SYS_NICE)

    def _check(self, machine: System) -> None:
        if self.gone(machine):
            raise OSError(errno.ESRCH, "the thread has ended", self.where)


class SwapArea(Place):
    """A device or file that pages are written to."""

    kind: Literal["swap"] = "swap"
    path: str

    @property
    def where(self) -> str:
        """The device or file."""
        return self.path

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


class OwnFile(Place):
    """A whole file that Takt puts on the disk, where it stays over a reboot."""

    kind: Literal["own-file"] = "own-file"
    survives_reboot: ClassVar[bool] = True
    path: str

    @property
    def where(self) -> str:
        """The file."""
        return self.path

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


AnyPlace = Annotated[
    Union[KernelFile, InterruptAffinity, Controller, ThreadScheduling, SwapArea, OwnFile],  # noqa: UP007 - pydantic on Python 3.10
    Field(discriminator="kind"),
]


def file_value(text: str, mode: int = 0o644, owner: tuple[int, int] | None = None) -> str:
    """The value of an :class:`OwnFile`; owned by this user where nobody is named."""
    user, group = owner or (os.geteuid(), os.getegid())
    return f"{mode:o} {user} {group}\n{text}"


def kernel_thread(system: System, pid: int) -> ThreadScheduling | None:
    """The kernel thread with this number, or None where there is none."""
    head, _, tail = (system.text(f"/proc/{pid}/stat") or "").rpartition(") ")
    fields = tail.split()  # from the third of proc(5) on: flags are the 9th, start time the 22nd
    numbers = fields[6:7] + fields[19:20]
    if len(numbers) < 2 or not all(map(str.isdecimal, numbers)):
        return None
    if not int(fields[6]) & _KERNEL_THREAD:
        return None
    return ThreadScheduling(pid=pid, start=int(fields[19]), name=head.partition("(")[2])


def handlers(system: System, path: str) -> str:
    """Who handles the interrupt that a file below /proc/irq/N belongs to."""
    folder = path.rpartition("/")[0]
    names = system.names(folder)
    text = ", ".join(name for name in names if system.path(f"{folder}/{name}").is_dir())
    return text.encode(errors="replace").decode()


def swap_areas(text: str) -> dict[str, int]:
    """Priority of each area of /proc/swaps; those whose file was deleted are left out."""
    found = {}
    for line in text.splitlines()[1:]:
        words = line.split()
        if len(words) == 5 and not words[0].endswith("(deleted)"):
            path = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code.group(1), 8)), words[0])
            found[path] = int(words[4])
    return found
