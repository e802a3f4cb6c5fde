# SPDX-License-Identifier: Apache-2.0
"""The numbers beside the timeline: callbacks, topics, and chains with their distributions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from takt.schedule.model import chains as paths
from takt.schedule.model.observed import ObservedCallback
from takt.schedule.ros2.stand_ins import SILENT
from takt.schedule.ros2.topics import plain
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
    why_not: str  # then the reason
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
    messages = gathered.messages
    pairs = np.unique(np.stack([messages["maker"], messages["user"]]), axis=1)
    for maker, user in pairs.T.tolist():
        if maker in callbacks and user in callbacks:  # of a topic with several writers, these two
            step = f"{maker} to {user}"
            callbacks[maker].writes[step] = callbacks[user].reads[step] = 1
    found, _ = paths.chains(paths.followers_of(list(callbacks.values())))
    return paths.names(found[:MOST_CHAINS])


def chain(
    name: str, callbacks: list[str], limit: float | None, ns: NDArray[np.int64], why_not: str = ""
) -> Chain:
    """With the histogram of its latencies; bins of equal width."""
    ms = ns / 1e6
    counts, edges = np.histogram(ms, _BINS) if len(ns) else (np.empty(0), np.empty(0))
    bins = edges.tolist(), counts.astype(int).tolist()
    return Chain(name, callbacks, limit, latencies(ns), "" if len(ns) else why_not, *bins)


def why_no_data(names: Names, gathered: Gathered, callbacks: list[str]) -> str:
    """Of a chain: the first step that no message took."""
    numbers = {name: number for number, name in names.tasks.items()}
    messages = gathered.messages
    for name in callbacks:
        if name not in numbers or not (gathered.jobs["task"] == numbers[name]).any():
            return f"{name} did not run"
    for writer, reader in pairwise(callbacks):
        between = (messages["maker"] == numbers[writer]) & (messages["user"] == numbers[reader])
        if not between.any():
            others = np.unique(messages["maker"][messages["user"] == numbers[reader]])
            known = [names.task(one) for one in others.tolist() if one != NONE]
            used = f"; its messages came from {', '.join(known)}" if known else ""
            return f"no message of {writer} reached {reader}{used}"
    return "each step has messages, and none of them led through all"
