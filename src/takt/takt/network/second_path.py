# SPDX-License-Identifier: Apache-2.0
"""The path of traffic between two machines: IPv6 of the interface that the messages use over IPv4.

So the kernel counts the two apart without a filter in their way. Link-local addresses are there
wherever IPv6 is, and nobody has to assign them; they reach the machines of one network segment.
"""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass
from pathlib import Path

from takt.errors import Failure

NET = Path("/proc/net")  # of the network namespace of who reads it
_ETHERNET = 14  # bytes of a frame's header
_IP_AND_UDP = 48  # bytes
_LISTENING = "0A"


class NoIpv6(Failure):
    """An interface has no such path."""


@dataclass(frozen=True)
class End:
    """One end of the path."""

    interface: str
    address: str  # without the interface, whose name differs from machine to machine

    def as_of(self, interface: str) -> str:
        """The address for a program that sends by this interface."""
        return f"{self.address}%{interface}"


def interface_of(address: str) -> str:
    """The interface with an address; raises LookupError."""
    import psutil

    for name, addresses in psutil.net_if_addrs().items():
        if any(one.address.split("%")[0] == address for one in addresses):
            return str(name)
    raise LookupError(f"no interface has the address {address}")


def end_of(address: str) -> End:
    """The end at the interface with an address; raises NoIpv6."""
    import psutil

    name = interface_of(address)
    for one in psutil.net_if_addrs()[name]:
        if one.family == socket.AF_INET6 and one.address.startswith("fe80:"):
            return End(name, one.address.split("%")[0])
    raise NoIpv6(f"the interface {name} has no link-local IPv6 address")


def received(interface: str) -> tuple[float, int]:
    """Now (s, CLOCK_MONOTONIC), and the bytes that came in UDP over IPv6, without headers."""
    began = time.monotonic()
    counted = payload(interface)
    return (began + time.monotonic()) / 2, counted


def payload(interface: str, net: Path = NET) -> int:
    """What came in UDP over IPv6, without 40 bytes and 8 bytes of headers each."""
    counted = _counters(interface, net)
    return counted.get("Ip6InOctets", 0) - _IP_AND_UDP * counted.get("Ip6InReceives", 0)


def arrived(address: str) -> tuple[int, int]:
    """Bytes of frames that the interface with this address has received; raises LookupError.

    Of all, and of those that may carry messages: traffic goes over IPv6. Who sends counts what its
    queue drops as sent over IPv6, but not as sent by the interface, so only who receives can tell
    the two apart.
    """
    import psutil

    name = interface_of(address)
    everything = psutil.net_io_counters(pernic=True, nowrap=False)[name].bytes_recv
    if ":" in address:
        return everything, everything
    counted = _counters(name, NET)
    traffic = counted.get("Ip6InOctets", 0) + _ETHERNET * counted.get("Ip6InReceives", 0)
    return everything, everything - traffic


def listens(port: int, net: Path = NET) -> bool:
    """Whether somebody listens on this TCP port over IPv6."""
    try:
        lines = (net / "tcp6").read_text(encoding="ascii").splitlines()
    except OSError:
        return False
    fields = [line.split() for line in lines[1:]]
    return any(one[1].endswith(f":{port:04X}") and one[3] == _LISTENING for one in fields)


def _counters(interface: str, net: Path) -> dict[str, int]:
    try:
        text = (net / "dev_snmp6" / interface).read_text(encoding="ascii")
    except FileNotFoundError:  # this kernel has no IPv6, and so no traffic
        return {}
    return {name: int(value) for name, value in (line.split() for line in text.splitlines())}
