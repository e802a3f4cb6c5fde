# SPDX-License-Identifier: Apache-2.0
"""What a guest says of the threads that deliver its packets, before and after a test.

How long ksoftirqd waited for the CPU is what section II of Gutiérrez et al. 2018 is about: at
normal priority it stands in one queue with the load.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from takt.errors import Failure
from takt.lab.hosts_model import NetworkThread
from takt.measure.conditions.traffic import DATAGRAM

_POLICIES = {"0": "other", "1": "fifo"}
_HEADERS = 42  # bytes of a frame around the payload of UDP, as the card counts them


@dataclass
class Counts:
    """At one moment."""

    up_s: float = 0.0
    received: int = 0  # bytes, by the card
    threads: dict[str, tuple[str, int, int]] = field(default_factory=dict)  # priority, ns, ns


def read(file: Path) -> Counts:
    """Reads what ``counts`` has written in the guest; raises Failure where it has not."""
    found = Counts()
    try:
        for line in file.read_text(encoding="utf-8").splitlines():
            what, *words = line.split()
            if what == "uptime":
                found.up_s = float(words[0])
            elif what == "rx":
                found.received = int(words[0])
            elif what == "thread":
                name, priority, policy, ran, waited, _ = words
                scheduling = _POLICIES[policy] + (f" {priority}" if policy != "0" else "")
                found.threads[name] = scheduling, int(ran), int(waited)
    except (OSError, ValueError, KeyError) as error:
        raise Failure(f"cannot read what the guest counted: {error!r}", where=file.name) from None
    return found


def between(host: str, before: Counts, after: Counts) -> list[NetworkThread]:
    """What its threads did meanwhile."""
    return [
        NetworkThread(
            host=host,
            thread=name,
            scheduling=scheduling,
            ran_ms=round((ran - before.threads[name][1]) / 1e6, 3),
            waited_ms=round((waited - before.threads[name][2]) / 1e6, 3),
        )
        for name, (scheduling, ran, waited) in after.threads.items()
        if name in before.threads
    ]


def traffic_mbps(before: Counts, after: Counts, messages: int, payload: int) -> float:
    """Payload of the traffic that the card received, without the messages that were measured."""
    seconds = after.up_s - before.up_s
    frames = after.received - before.received - messages * (payload + _HEADERS)
    return 8e-6 * frames * DATAGRAM / (DATAGRAM + _HEADERS) / seconds if seconds > 0 else 0.0
