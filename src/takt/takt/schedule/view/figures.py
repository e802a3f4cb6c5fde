# SPDX-License-Identifier: Apache-2.0
"""The numbers beside the timeline: callbacks, topics, and chains with their distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from takt.schedule.model import chains as paths
from takt.schedule.model.observed import ObservedCallback
from takt.schedule.ros2.stand_ins import SILENT
from takt.schedule.ros2.topics import plain, topic_name
from takt.schedule.trace.file import NONE, Names, Trace, by_number
from takt.schedule.view.gather import Gathered

MOST_CHAINS = 32
_BINS = 60


@dataclass(frozen=True)
class Latencies:
    """Of messages or of a chain, in ms."""

    count: int
    p50: float
    p99: float
    most: float


@dataclass(frozen=True)
class Topic:
    """A topic with its writers and readers, by the names of callbacks."""

    name: str
    writers: list[str]  # "": somebody who is not in the trace
    readers: dict[str, Latencies]
    messages: int
    rate: float | None  # in Hz; None: fewer than two messages


@dataclass(frozen=True)
class Chain:
    """A chain and how long its data took, in ms."""

    name: str
    callbacks: list[str]
    limit: float | None
    latency: Latencies | None  # None: no data reached its end
    edges: list[float]  # of the bins
    counts: list[int]


def latencies(ns: NDArray[np.int64]) -> Latencies | None:
    """None for none."""
    if not len(ns):
        return None
    p50, p99, most = (np.percentile(ns, [50, 99, 100]) / 1e6).tolist()
    return Latencies(len(ns), p50, p99, most)


def rate(times: NDArray[np.int64]) -> float | None:
    """How often a second; None where nothing repeats."""
    span = int(times.max() - times.min()) if len(times) > 1 else 0
    return (len(times) - 1) * 1e9 / span if span else None


def rates(gathered: Gathered) -> dict[int, float | None]:
    """Of the starts of jobs, by task: a trace goes on before the first and after the last job."""
    jobs = gathered.jobs
    return {task: rate(starts) for task, (starts,) in by_number(jobs["task"], jobs["start"])}


def topics(trace: Trace, gathered: Gathered) -> list[Topic]:
    """Those with messages, by name."""
    messages, found = gathered.messages, []
    for number, times in gathered.published.items():
        of = messages["topic"] == number
        age, user = (messages["to"] - messages["from"])[of], messages["user"][of]
        readers = {}
        for task in np.unique(user).tolist():
            taken = latencies(age[user == task])
            if taken is not None:
                readers[trace.names.task(task)] = taken
        name = plain(trace.names.topic(number))
        if not readers and name.rsplit("/", 1)[-1] in SILENT:
            continue
        writers = gathered.writers[number]
        known = sorted("" if one == NONE else trace.names.task(one) for one in writers)
        found.append(Topic(name, known, readers, len(times), rate(times)))
    return sorted(found, key=lambda one: one.name)


def observed(names: Names, gathered: Gathered) -> dict[str, list[str]]:
    """The chains of the data that was observed, by name: the longest paths first."""
    callbacks = {
        number: ObservedCallback(name, name, "timer") for number, name in names.tasks.items()
    }
    for number, writers in gathered.writers.items():
        for writer in writers & callbacks.keys():
            callbacks[writer].writes[topic_name(names.topic(number))] = 1
    messages = gathered.messages
    pairs = np.unique(np.stack([messages["user"], messages["topic"]]), axis=1)
    for user, number in pairs.T.tolist():
        if user in callbacks:
            callbacks[user].reads[topic_name(names.topic(number))] = 1
    found, _ = paths.chains(list(callbacks.values()))
    return paths.names(found[:MOST_CHAINS])


def chain(name: str, callbacks: list[str], limit: float | None, ns: NDArray[np.int64]) -> Chain:
    """With the histogram of its latencies; bins of equal width."""
    ms = ns / 1e6
    counts, edges = np.histogram(ms, _BINS) if len(ns) else (np.empty(0), np.empty(0))
    return Chain(name, callbacks, limit, latencies(ns), edges.tolist(), counts.astype(int).tolist())
