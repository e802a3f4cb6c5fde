# SPDX-License-Identifier: Apache-2.0
"""What was wrong with the data of a job: old, too old, or not there."""

from __future__ import annotations

from takt.schedule.metrics.flows import Flows
from takt.schedule.trace.declared import Application, plain
from takt.schedule.trace.file import Event, Events, Trace, Type
from takt.schedule.trace.timeline import Job


class Inputs:
    """Follows the messages, and remembers the faults of the jobs that are not yet told."""

    def __init__(self, trace: Trace, application: Application | None) -> None:
        self._names = trace.names
        self._flows = Flows(trace.names, application)
        self._faults: dict[tuple[int, int], list[str]] = {}

    def block(self, events: Events) -> None:
        """The next events, by time."""
        types = events["type"]
        wanted = (types == Type.release) | (types == Type.start) | (types == Type.end)
        wanted |= (types == Type.publish) | (types == Type.use) | (types == Type.age_violation)
        for row in events[wanted].tolist():
            event = Event._make(row)
            if event.type == Type.age_violation:
                age = "no data yet" if event.value < 0 else f"{event.value / 1e6:.1f} ms old"
                self._note(event, f"{self._topic(event)}: {age}, older than it allows")
            elif event.type == Type.use:
                self._use(event)
            self._flows.take(event)

    def pop(self, job: Job) -> list[str]:
        """The faults of a job, which is not asked for again."""
        return self._faults.pop((job.task, job.job), [])

    def _use(self, event: Event) -> None:
        if event.value < 0:
            self._note(event, f"{self._topic(event)}: no message yet")
        elif (newest := self._flows.newest_at_start(event)) > event.value:
            self._note(
                event,
                f"{self._topic(event)}: used message {event.value}, "
                f"message {newest} had been made before it started",
            )

    def _note(self, event: Event, text: str) -> None:
        self._faults.setdefault((event.task, event.job), []).append(text)

    def _topic(self, event: Event) -> str:
        return plain(self._names.topic(event.topic))
