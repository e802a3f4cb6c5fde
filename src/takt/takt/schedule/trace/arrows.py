# SPDX-License-Identifier: Apache-2.0
"""Where arrows between a trace's messages begin and end: from a publication to each use of it.

An arrow of its own for each use: one for all would lead from use to use. A publication is held back
until all of its uses are known, and with it uses at the very same time: of marks at one time the
first one that is written is where the arrow begins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from takt.schedule.trace.file import NONE, Table, Type, chosen

_IN_FLIGHT = 256  # messages of a topic that a job may still take up
_COLUMNS = ("type", "time", "job", "value", "task", "topic", "core")


class Linked(NamedTuple):
    """Events with the same number of arrows each."""

    events: Table
    arrows: NDArray[np.int64]  # a row for each of them


class Arrows:
    """Takes publications and uses in their order."""

    def __init__(self) -> None:
        self._messages = 0
        self._published = np.zeros(NONE + 1, np.int64)  # by topic
        self._held: Table | None = None

    def take(self, events: Table) -> list[Linked]:
        """The uses, and those publications, of now or before, of which no use can follow."""
        is_publish = events["type"] == Type.publish
        if not len(is_publish):
            return []
        topics = events["topic"]
        table = {name: events[name] for name in _COLUMNS}
        table["message"] = self._messages + np.cumsum(is_publish)
        table["of_topic"] = self._published[topics] + _so_far(
            topics, is_publish
        )  # so many, until now
        table["uses"] = np.zeros(len(is_publish), np.int64)
        self._messages = int(table["message"][-1])
        self._published[topics] = table["of_topic"]  # of several the last one
        if self._held is not None:
            table = {name: np.concatenate([self._held[name], table[name]]) for name in table}
        return self._distinguished(table, hold=True)

    def rest(self) -> list[Linked]:
        """What is held back."""
        return [] if self._held is None else self._distinguished(self._held, hold=False)

    def _distinguished(self, events: Table, *, hold: bool) -> list[Linked]:
        is_publish = events["type"] == Type.publish
        maker, last = _makers(events, is_publish)
        inside = events["task"] != NONE  # of the application: others have no job
        uses = ~is_publish & (maker >= 0) & inside & inside[maker]
        uses &= events["of_topic"] - events["of_topic"][maker] < _IN_FLIGHT
        newer = self._published[events["topic"]] - events["of_topic"]
        held = is_publish & last & (newer < _IN_FLIGHT) & hold
        at_once = uses & held[maker] & (events["time"] == events["time"][maker])
        uses &= ~at_once
        link = (events["message"][maker] << 32) + events["uses"][maker] + _so_far(maker, uses) - 1
        events["uses"] = events["uses"] + np.bincount(maker[uses], minlength=len(is_publish))
        self._held = chosen(events, held | at_once)
        others = chosen(events, ~(is_publish | uses | at_once))
        return [
            *_publications(chosen(events, is_publish & ~held)),
            Linked(chosen(events, uses), link[uses][:, None]),
            Linked(others, np.empty((len(others["time"]), 0), np.int64)),
        ]


def _makers(
    events: Table, is_publish: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The place of the publication that each event is of, -1 for none; whether it is the last."""
    place = np.arange(len(is_publish))
    order = np.lexsort((events["value"], events["topic"]))  # equal messages, in their order
    topic, sequence = events["topic"][order], events["value"][order]
    first = np.r_[True, (topic[1:] != topic[:-1]) | (sequence[1:] != sequence[:-1])]
    latest = np.maximum.accumulate(np.where(is_publish[order], place, -1))
    known = latest >= np.maximum.accumulate(np.where(first, place, 0))
    maker = np.full(len(is_publish), -1)
    maker[order] = np.where(known, order[latest], -1)
    last = np.zeros(len(is_publish), bool)
    last[maker[order[np.r_[first[1:], True] & known]]] = True
    return maker, last


def _so_far(groups: NDArray[np.integer], counted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many of the group of each event are counted up to it."""
    order = np.argsort(groups, kind="stable")
    begins = np.searchsorted(groups[order], groups[order])
    sums = np.r_[0, np.cumsum(counted[order])]
    found = np.empty(len(groups), np.int64)
    found[order] = sums[1:] - sums[begins]
    return found


def _publications(events: Table) -> list[Linked]:
    uses = events["uses"]
    found = []
    for count in np.unique(uses).tolist():
        some = chosen(events, uses == count)
        found.append(Linked(some, (some["message"] << 32)[:, None] + np.arange(count)))
    return found
