# SPDX-License-Identifier: Apache-2.0
"""How a guest is run, and what its numbers are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Mode(str, Enum):
    """The ways of running a guest."""

    icount = "icount"
    kvm = "kvm"
    functional = "functional"


def machine(mode: Mode, seed: int) -> list[str]:
    """QEMU's options; the seed is that of what the guest takes for chance."""
    return [*WAYS[mode].machine, "-seed", str(seed)]


@dataclass(frozen=True)
class Way:
    """One of them."""

    machine: tuple[str, ...]  # of QEMU
    numbers: str  # what its times are; wherever they appear
    publishable: bool  # whether they say anything at all about a kernel
    cpus: int
    side_by_side: bool  # whether guests may run at once: none has the host's time


WAYS = {
    # Every instruction takes 2 ns, idling none: the host's noise cannot come in.
    Mode.icount: Way(
        (
            *("-accel", "tcg,thread=single", "-cpu", "max", "-smp", "1"),
            *("-icount", "shift=1,sleep=off", "-rtc", "base=2026-01-01,clock=vm"),
        ),
        "instruction time, one virtual CPU",
        True,
        1,
        True,
    ),
    Mode.kvm: Way(
        ("-accel", "kvm", "-cpu", "host", "-smp", "2"),
        "time of a virtual machine on this host",
        True,
        2,
        False,
    ),
    # One thread for both CPUs: with two, QEMU may run an instruction that the kernel has just
    # replaced (it patches its branches while it runs), and now and then a boot panics.
    Mode.functional: Way(
        ("-accel", "tcg,thread=single", "-cpu", "max", "-smp", "2"),
        "time of an emulator: no measure of a kernel",
        False,
        2,
        False,
    ),
}
