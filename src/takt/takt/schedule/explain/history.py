# SPDX-License-Identifier: Apache-2.0
"""What happened lately on each core: who had it, and what was stolen from it."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable

from takt.schedule.trace.file import Event
from takt.schedule.trace.timeline import Slice

STEAL_SETTLES = 20_000_000  # ns: the kernel tells steal in ticks, and the trace every 10 ms
_BUSY = 500_000_000  # ns before a release that its busy period may go back


class History:
    """Forgets what is older than anybody asks for."""

    def __init__(self) -> None:
        self._slices: dict[int, deque[Slice]] = defaultdict(deque)  # by core
        self._stolen: deque[Event] = deque()

    def add(self, one: Slice) -> None:
        """A stretch that has ended."""
        self._slices[one.core].append(one)

    def add_stolen(self, events: Iterable[Event]) -> None:
        """What the kernel tells of theft, in ticks."""
        self._stolen.extend(events)

    def before(self, core: int, end: int) -> list[Slice]:
        """Of a core, those that began before: as far back as anybody may look, by time."""
        return [one for one in self._slices[core] if one.begin < end]

    def around(self, begin: int, end: int) -> list[Slice]:
        """Of all cores, those that overlap."""
        return [
            one
            for _, slices in sorted(self._slices.items())
            for one in slices
            if one.end > begin and one.begin < end
        ]

    def stolen_within(self, core: int, begin: int, end: int) -> int:
        """What the kernel told for a time that this may have been in: it tells in late ticks."""
        return sum(
            event.value
            for event in self._stolen
            if event.core == core
            and event.time > begin
            and event.time - event.job < end + STEAL_SETTLES // 2
        )

    def forget(self, needed: int) -> None:
        """Nobody asks any more for jobs that were released before."""
        needed -= _BUSY
        for slices in self._slices.values():
            while slices and slices[0].end < needed:
                slices.popleft()
        while self._stolen and self._stolen[0].time < needed:
            self._stolen.popleft()
