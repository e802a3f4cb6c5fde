# SPDX-License-Identifier: Apache-2.0
"""How long the middleware's threads of a process computed, beside what the description allows them.

They are not traced: Takt does not know which of them receives what. So their CPU time, in which is
also what they do unasked, is held against that of all messages which they are declared to receive.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from takt.schedule.metrics.model import Received
from takt.schedule.ros2.topics import topic_name


def received(
    attributes: Sequence[str], description: str | None, published: Mapping[str, int]
) -> list[Received]:
    """Of each process with threads that receive; ``attributes``: PROCESS CPU_NS of each.

    ``published``: by topic, how many messages there were.
    """
    try:
        processes = {one["name"]: one for one in json.loads(description or "{}")["processes"]}
        used = {name: int(cpu) for name, _, cpu in (one.rpartition(" ") for one in attributes)}
        return [
            _of(processes[name], cpu, published)
            for name, cpu in used.items()
            if any(thread.get("receives") for thread in processes[name].get("threads", []))
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []  # damaged


def _of(process: Mapping[str, Any], cpu: int, published: Mapping[str, int]) -> Received:
    receipts = [
        (published.get(topic_name(one["topic"]), 0), one["execution"]["worst"])
        for thread in process.get("threads", [])
        for one in thread.get("receives", [])
    ]
    return Received(
        process=process["name"],
        messages=sum(count for count, _ in receipts),
        cpu_ms=cpu / 1e6,
        declared_ms=sum(count * worst for count, worst in receipts) / 1e6,
    )


def remarks(all_received: Sequence[Received]) -> Iterator[str]:
    """For people."""
    for one in all_received:
        above = "; bounds do not count the difference: declare more in receives"
        yield (
            f"the middleware's threads of process {one.process} used {one.cpu_ms:.3g} ms of CPU "
            f"time while {one.messages} messages came; declared: up to {one.declared_ms:.3g} ms"
            + (above if one.cpu_ms > one.declared_ms else "")
        )
