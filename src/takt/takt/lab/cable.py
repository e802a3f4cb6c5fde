# SPDX-License-Identifier: Apache-2.0
"""The network between two guests: an emulated Ethernet card in each, and a cable of sockets.

The cards are Intel's 82574 (e1000e): the kernel of a PC drives them as real ones, with interrupts
that have threads of their own under PREEMPT_RT. Nothing of the host's network is reached.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

MODULE = "e1000e"
INTERFACE = "eth0"  # as the guest's kernel calls its only card
NETWORK_MASK = "255.255.255.0"


@dataclass(frozen=True)
class End:
    """One end of the cable: the card of one guest."""

    number: int  # 1 or 2
    socket: Path  # its own
    other: Path  # that of the other end

    @property
    def address(self) -> str:
        """Of the guest, on a network that only the two are in."""
        return f"10.77.0.{self.number}"

    def arguments(self) -> list[str]:
        """QEMU's options."""
        ways = f"local.type=unix,local.path={self.socket},remote.type=unix,remote.path={self.other}"
        card = f"e1000e,netdev=cable,mac=52:54:00:77:00:{self.number:02x}"
        return ["-netdev", f"dgram,id=cable,{ways}", "-device", card]


def ends(folder: Path) -> tuple[End, End]:
    """Both ends of a cable, whose sockets lie in this folder."""
    first, second = folder / "1.cable", folder / "2.cable"
    return End(1, first, second), End(2, second, first)
