# SPDX-License-Identifier: Apache-2.0
"""A second host inside a guest: a network namespace behind a pair of virtual interfaces.

Both have one clock, and nothing of the outer host is in the way of a message: what differs from one
arrival to the next is the sending thread, the kernel's queues and its network stack. The link has
no limited rate, and the queue of messages with times (``network.shaping``).
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from takt.network import shaping
from takt.network.hosts import RAW_PORT, Hosts, Side
from takt.network.namespace import HERE, THERE

MODULES = ("veth", "sch_prio", "sch_etf")
PROGRAMS = ("ip", "tc")
WAYS = ("udp", shaping.TXTIME)  # sent when the thread has woken up, and at a set time
_NAME, _NEAR, _FAR = "there", "near", "far"
_FILE = f"/run/netns/{_NAME}"
INSIDE = ("nsenter", f"--net={_FILE}")  # begins the command of a program of the second host


class Guest(Side):
    """A host where no program uses a port but those of the tests."""

    def free_port(self) -> int:
        """The one of all tests, one after the other."""
        return RAW_PORT


ENDS = Hosts(Guest("198.18.0.1"), Guest("198.18.0.2"))


def cells(seconds: int, label: str) -> list[dict[str, Any]]:
    """The same round trips by both ways."""
    common = {"kind": "pingpong", "stack": "raw", "payload": "500B", "rate": "200Hz"}
    common |= {"host": f"{HERE},{THERE}", "late": "next_cycle", "lost_after": "100ms"}
    common |= {"scheduling": "fifo 80", "duration": f"{seconds}s", "label": label}
    return [common | {"transport": one} for one in WAYS]


def begin(programs: Sequence[Path]) -> str:
    """Lines of a shell that make it, with these PROGRAMS; the modules are loaded.

    They are called by their paths: busybox has an ip and a tc of its own, which can less.
    """
    paths = dict(zip(PROGRAMS, map(str, programs), strict=True))
    address, other = ENDS.active.address, ENDS.passive.address
    calls = [
        ["ip", "link", "add", _NEAR, "type", "veth", "peer", "name", _FAR, "netns", _NAME],
        ["ip", "address", "add", f"{address}/30", "dev", _NEAR],
        ["ip", "link", "set", _NEAR, "up"],
        ["ip", "-n", _NAME, "address", "add", f"{other}/30", "dev", _FAR],
        ["ip", "-n", _NAME, "link", "set", _FAR, "up"],
        *shaping.at_times(_NEAR, "root"),
    ]
    namespace = f"mkdir -p {_FILE.rpartition('/')[0]}; : >{_FILE}; unshare --net={_FILE} true"
    return "\n".join([namespace, *(shlex.join([paths[name], *words]) for name, *words in calls)])
