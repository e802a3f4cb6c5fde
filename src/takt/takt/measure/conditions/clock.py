# SPDX-License-Identifier: Apache-2.0
"""The clocks of two hosts between which a message goes one way: how far apart, how well known."""

from __future__ import annotations

import contextlib

from takt.errors import Failure
from takt.measure.conditions.condition import Condition
from takt.measure.results.model import Cell, Conditions, Note
from takt.network import clocks
from takt.network.clocks import Between, Clock
from takt.network.hosts import Hosts


class OneWay(Condition):
    """From the subscribers' clock to that of the publisher, before and after."""

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts
        self._before = self._look()
        self._after: tuple[Clock, Clock] | None = None

    @property
    def add_ns(self) -> int:
        """What is to be added to the subscribers' stamps."""
        found = self._found()
        return found.add_ns if found else 0

    def end(self) -> None:
        """Once more: who set a clock meanwhile is seen."""
        with contextlib.suppress(Failure):
            self._after = self._look()

    def record(self, into: Conditions) -> None:
        """Who says it, and the bound."""
        if found := self._found():
            into.clock, into.clock_bound_us = found.by, round(found.bound_ns / 1e3, 3)

    def fault(self, _cell: Cell) -> Note | None:
        """Where the two readings do not agree, or one is missing."""
        if self._found() is None:
            publisher, subscriber = self._after or self._before
            why = clocks.why_unknown(publisher, subscriber)
            what = "the offset between the clocks is unknown"
            return Note(what=what, why=why, fix=clocks.REMEDY)
        if self._after and self._before[0].identity != self._before[1].identity:
            steps = [
                abs(new.offset_ns - old.offset_ns) - new.read_ns - old.read_ns
                for old, new in zip(self._before, self._after, strict=True)
            ]
            bounds = [one.bound_ns or 0 for one in self._before]
            if any(step > bound for step, bound in zip(steps, bounds, strict=True)):
                why = f"by {max(steps) / 1e3:.0f} µs, more than its bound"
                return Note(what="a clock was set meanwhile", why=why, fix="measure again")
        return None

    def _look(self) -> tuple[Clock, Clock]:
        return self._hosts.active.clock(), self._hosts.passive.clock()

    def _found(self) -> Between | None:
        """By the reading whose bound is the wider."""
        looks = [self._before, *([self._after] if self._after else [])]
        found = [clocks.between(subscriber, publisher) for publisher, subscriber in looks]
        known = [one for one in found if one]
        return max(known, key=lambda one: one.bound_ns) if len(known) == len(found) else None
