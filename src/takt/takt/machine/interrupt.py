# SPDX-License-Identifier: Apache-2.0
"""Interrupts as places: which CPUs each may fire on."""

from __future__ import annotations

import contextlib
import errno
import re
import time
from typing import Literal

from takt.machine.place import BYTES, KernelFile
from takt.machine.system import System
from takt.machine.writable import WritableSystem

_USED = "used: "
_MOVES_S = 0.2


class InterruptAffinity(KernelFile):
    """The CPUs of an interrupt; its number may come to belong to another device."""

    kind: Literal["interrupt"] = "interrupt"  # type: ignore[assignment]
    device: str  # the names of its handlers

    @property
    def where(self) -> str:
        """The file and whose it is."""
        return f"{self.path} ({self.device})" if self.device else self.path

    def can_hold(self, value: str) -> bool:
        """The allowed CPUs, and those of them that are used."""
        return bool(re.fullmatch(rf"[0-9,-]{{0,4000}}\n?({_USED}[0-9,-]{{1,4000}})?", value))

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
        return "managed by the kernel; isolcpus=managed_irq moves it at boot"

    def rest(self, before: str, now: str) -> str:
        """Which of the allowed CPUs is used, the kernel decides."""
        was, is_now = (one.partition(_USED)[2] for one in (before, now))
        if was == is_now:
            return ""
        return f"same mask as before; it fires on CPU {is_now} of it until the kernel moves it"

    def plain(self, value: str) -> str:
        """The allowed CPUs."""
        return value.partition(_USED)[0].strip()

    @property
    def _effective(self) -> str:
        return f"{self.path.rpartition('/')[0]}/effective_affinity_list"


def handlers(system: System, path: str) -> str:
    """Who handles the interrupt that a file below /proc/irq/N belongs to."""
    folder = path.rpartition("/")[0]
    names = system.names(folder)
    text = ", ".join(name for name in names if system.path(f"{folder}/{name}").is_dir())
    return text.encode(errors="replace").decode()
