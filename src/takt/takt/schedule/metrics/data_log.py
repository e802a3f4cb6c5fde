# SPDX-License-Identifier: Apache-2.0
"""Lines that callbacks log of the data that they make and use (Krukiewicz-Gacek 2021, listing 5.1).

``[1626023628.982256552]: producing_data_topic_id sensor1 452``, and ``using_data_topic_id`` for a
use: UNIX time in seconds, the topic, the number of the datum. Metrics are those of section 5.1 as
far as such lines tell: the age of data at each use, and uses of data to which a newer one was made.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from takt.documents import reading
from takt.errors import TaktError
from takt.schedule.metrics.model import DataAge, Freshness, Metrics, NodeFreshness, Overhead, spread
from takt.schedule.ros2.topics import plain
from takt.schedule.trace.file import Names, Step, Trace, Type

SOURCE = "logged lines"
MAKES, USES = "producing_data_topic_id", "using_data_topic_id"
_LINE = re.compile(rf"\[(\d+)\.(\d{{1,9}})\].*?\b({MAKES}|{USES})\s+(\S+)\s+(\d+)\s*$")
_BEGIN = 1 << 16  # bytes in which the first of such lines is looked for


class DataLog:
    """The sink that writes such lines of a trace; what is used before there are data has none."""

    def __init__(self, trace: Trace, file: Path) -> None:
        self._names: Names = trace.names
        self._offset = trace.realtime_offset_ns
        self._file = file.open("w", encoding="utf-8")

    def close(self) -> None:
        """Ends what is written."""
        self._file.close()

    def take(self, step: Step) -> None:
        """Writes a line for each datum that was made or used."""
        events = step.events
        both = (events["type"] == Type.publish) | (events["type"] == Type.use)
        rows = both & (events["value"] >= 0)
        columns = (events[name][rows].tolist() for name in ("time", "type", "topic", "value"))
        for time, kind, topic, number in zip(*columns, strict=True):
            word = MAKES if kind == Type.publish else USES
            seconds, ns = divmod(time + self._offset, 10**9)
            name = plain(self._names.topic(topic))
            self._file.write(f"[{seconds}.{ns:09d}]: {word} {name} {number}\n")


@dataclass
class _Topic:
    """Of one topic, in the order of time."""

    times: dict[int, int] = field(default_factory=dict)  # when, by number
    newest: int = -1
    ages: list[int] = field(default_factory=list)
    uses: int = 0
    on_old_data: int = 0
    unknown: int = 0


def is_log(path: Path) -> bool | None:
    """Whether such a line is near the begin of a file; None: it cannot be read."""
    try:
        with reading.opened(path) as file:
            text = file.read(_BEGIN).decode("utf-8", "replace")
    except (OSError, TaktError):
        return None
    return any(map(_LINE.search, text.splitlines()))


def measure(path: Path) -> Metrics:
    """The metrics of the lines in a file; other lines in it are left out."""
    lines = sorted(_lines(path), key=lambda one: one[0])
    topics: dict[str, _Topic] = defaultdict(_Topic)
    for time, produced, topic, number in lines:
        of = topics[topic]
        if produced:
            of.times[number] = time
            of.newest = max(of.newest, number)
            continue
        of.uses += 1
        of.on_old_data += number < of.newest
        if number in of.times:
            of.ages.append(time - of.times[number])
        else:
            of.unknown += 1
    used = {name: of for name, of in sorted(topics.items()) if of.uses}
    readers = [
        NodeFreshness(
            node=f"readers of {name}", executions=of.uses, on_old_data=of.on_old_data,
            ratio=of.on_old_data / of.uses,
        )
        for name, of in used.items()
    ]  # fmt: skip
    return Metrics(
        trace=str(path),
        source=SOURCE,
        approach=None,
        policy=[],
        duration_ms=(lines[-1][0] - lines[0][0]) / 1e6,
        closed_in_order=True,
        lost=0,
        not_granted=[],
        notes=["logged lines name no callbacks: there are no deadlines, responses and chains"],
        declared=False,
        callbacks=[],
        helpers=[],
        executions=0,
        misses=0,
        mean_miss_ratio=None,
        freshness=Freshness(
            nodes=readers,
            mean_ratio=float(np.mean([one.ratio for one in readers])) if readers else 0.0,
            on_old_data=sum(one.on_old_data for one in readers),
        ),
        data_age=[
            DataAge(
                callback="any reader", topic=name, age_us=spread(of.ages), without_data=0,
                unknown=of.unknown, max_age_us=None, violations=0,
            )
            for name, of in used.items()
        ],
        chains=[],
        overhead=Overhead(cpu_us=None, handover_us=None),
        stolen_ms={},
    )  # fmt: skip


def _lines(path: Path) -> Iterator[tuple[int, bool, str, int]]:
    """When in ns, whether it was made, the topic, its number."""
    for text in reading.read_text(path, most=reading.DOCUMENT_BYTES).splitlines():
        if found := _LINE.search(text):
            seconds, fraction, word, topic, number = found.groups()
            time = int(seconds) * 10**9 + int(fraction.ljust(9, "0"))
            yield time, word == MAKES, topic, int(number)
