# SPDX-License-Identifier: Apache-2.0
"""Priorities of a DDS implementation's own threads, in its own configuration.

Two for each: threads through which messages pass, and those that keep house (events, discovery,
watchdogs). What a vendor does not take, the probe sets itself once the ends have met.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PATTERN = re.compile(r"([1-9][0-9]?)(?:-([1-9][0-9]?))?")
HIGHEST = 98
_POLICIES = {"fifo": 1, "rr": 2}  # sched.h
# Fast DDS 2.12 and later. Of a transport, of a participant, of all participants. Its sender is no
# higher than its events: above them it waits busily, for ever, for a lock that they hold.
_RECEIVING = "default_reception_threads"
_DUMPING = "dump_thread"
_KEEPING = (
    "builtin_controllers_sender_thread",
    "timed_events_thread",
    "discovery_server_thread",
    "typelookup_service_thread",
)
_OF_ALL = ("shm_watchdog_thread", "file_watch_threads")
_THREAD = (
    "<{name}><scheduling_policy>{policy}</scheduling_policy>"
    "<priority>{priority}</priority></{name}>"
)
# Cyclone DDS: names as its configuration and the kernel know them.
_CYCLONE = {
    "recv": True,
    "dq.user": True,
    "xmit.user": True,
    "dq.builtins": False,
    "tev": False,
    "gc": False,
    "lease": False,
}


@dataclass(frozen=True)
class DdsThreads:
    """What is asked of them."""

    policy: str  # fifo, rr
    least: int  # of those that keep house
    most: int  # of those that carry messages

    @classmethod
    def of(cls, policy: str, text: str) -> DdsThreads | None:
        """From the words of a cell; None: they inherit what the loop has."""
        match = PATTERN.fullmatch(text)
        return cls(policy, int(match[1]), int(match[2] or match[1])) if match else None

    def fast_dds_transport(self, *, shared_memory: bool) -> str:
        """Below a transport's description."""
        dumping = self._fast_dds(_DUMPING, self.least) if shared_memory else ""
        return self._fast_dds(_RECEIVING, self.most) + dumping

    def fast_dds_participant(self) -> str:
        """Below a participant's rtps."""
        return "".join(self._fast_dds(name, self.least) for name in _KEEPING)

    def fast_dds_factory(self) -> str:
        """Beside the participants, for what they share."""
        threads = "".join(self._fast_dds(name, self.least) for name in _OF_ALL)
        return (
            '\n <domainparticipant_factory profile_name="takt" is_default_profile="true">'
            f"<qos>{threads}</qos></domainparticipant_factory>"
        )

    def cyclone(self) -> str:
        """Below a domain."""
        threads = "".join(
            f'<Thread name="{name}"><Scheduling><Class>realtime</Class>'
            f"<Priority>{self.most if carries else self.least}</Priority></Scheduling></Thread>"
            for name, carries in _CYCLONE.items()
        )
        return f"\n <Threads>{threads}</Threads>"

    def _fast_dds(self, name: str, priority: int) -> str:
        return _THREAD.format(name=name, policy=_POLICIES[self.policy], priority=priority)
