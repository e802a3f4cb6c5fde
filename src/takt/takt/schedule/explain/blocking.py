# SPDX-License-Identifier: Apache-2.0
"""Which less urgent job may go on while another one is pending, by the rules of scheduling.

All others are preempted at a release, and so are those of processes that the kernel prefers less,
unless they hold a lock. One that ran on all the same did so because the kernel had
not woken the other one's thread yet: that is no blocking, and no bound counts with it.
"""

from __future__ import annotations

from takt.schedule.explain.declarations import Declarations
from takt.schedule.explain.jobs import Job
from takt.schedule.explain.urgency import Urgency

_PREEMPTIVE = {"fp", "rm", "dm", "edf"}


class Blocking:
    """By the policies of a trace, and what its application declares."""

    def __init__(self, policies: list[str], declared: Declarations, urgency: Urgency) -> None:
        self._preemptive = bool(policies) and set(policies) <= _PREEMPTIVE
        self._declared = declared
        self._urgency = urgency

    def may(self, other: Job, job: Job) -> bool:
        """Whether the other one, which is less urgent, may go on; also where nothing tells."""
        mine, its = self._declared.of(job), self._declared.of(other)
        if self._urgency.is_below(other.task, job.task):
            return bool(its and its.locks)
        if not self._preemptive or mine is None or its is None:
            return True
        # A group has a ceiling, which others outside of it stay below, too, and a lock lends
        # the priority of who waits for it. And in a timer's job
        # its node's message callbacks may run, one at a time.
        if its.group or its.locks:
            return True
        return bool(its.reads) and its.node == mine.node
