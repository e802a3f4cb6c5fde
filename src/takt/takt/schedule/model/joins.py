# SPDX-License-Identifier: Apache-2.0
"""Finds joins: callbacks of a node of which only the job that completes a set publishes.

It is one if every job of the trace keeps that rule. At its beginning, and after each pause of the
recording, messages may be stored that came before; the next publication tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from takt.schedule.model.observed import ObservedCallback, Times

LEAST_PUBLICATIONS = 3  # of a join; fewer may be chance
NAME = "join"

Part = dict[str, Any]
Kept = list[tuple[ObservedCallback, Part]]
Notes = dict[str, list[str]]


class _Stored(NamedTuple):
    """A job has ended that had a message."""

    end: int
    callback: int
    published: bool


def mark(kept: Kept, resumed: Times, notes: Notes) -> None:
    """Writes the joins into the parts of their callbacks, with notes."""
    groups: dict[tuple[str, frozenset[str]], Kept] = {}
    for one, part in kept:
        if one.kind == "message" and part["writes"]:
            key = (part["node"], frozenset(part["writes"]))
            groups.setdefault(key, []).append((one, part))
    named: dict[str, int] = {}
    for (node, topics), group in groups.items():
        publications = _publications([one for one, _ in group], topics, resumed)
        if publications is None:
            continue
        named[node] = named.get(node, 0) + 1
        name = NAME if named[node] == 1 else f"{NAME}{named[node]}"
        for one, part in group:
            part["join"] = name
            _unite_messages(part, group)
            others = ", ".join(part["name"] for _, part in group if part["name"] != one.name)
            notes.setdefault(one.name, []).append(
                f"join: with {others}; each of {publications} publications, and no other job, "
                "completes a set"
            )


def _unite_messages(part: Part, group: Kept) -> None:
    """The same on each topic, whichever job completes the set."""
    for topic in part["writes"]:
        ranges = [one.messages.get(topic, (1, 1)) for one, _ in group if topic in one.messages]
        least, most = min(a for a, _ in ranges), max(b for _, b in ranges)
        if most > 1:
            part.setdefault("messages", {})[topic] = most if least == most else [least, most]


def _publications(
    callbacks: Sequence[ObservedCallback], topics: frozenset[str], resumed: Times
) -> int | None:
    """How often it published; None: these callbacks are no join."""
    if len(callbacks) < 2 or any(set(one.published) - topics for one in callbacks):
        return None
    jobs = []
    for number, one in enumerate(callbacks):
        each = [one.published.get(topic, np.zeros(len(one.ends), np.bool_)) for topic in topics]
        if any((column != each[0]).any() for column in each):
            return None
        jobs += [
            _Stored(*job)
            for job in zip(
                one.ends.tolist(), [number] * len(each[0]), each[0].tolist(), strict=True
            )
        ]
    publications = sum(job.published for job in jobs)
    if publications < LEAST_PUBLICATIONS or publications == len(jobs):
        return None
    jobs.sort()
    stretches = np.searchsorted(resumed, [job.end for job in jobs], side="right")
    by_stretch = groupby(zip(stretches, jobs, strict=True), key=lambda pair: pair[0])
    for _, pairs in by_stretch:
        if not _keeps_rule([job for _, job in pairs], len(callbacks)):
            return None
    return int(publications)


def _keeps_rule(jobs: list[_Stored], callbacks: int) -> bool:
    stored: set[int] = set()
    known = False  # which messages are stored: at the beginning not those from before
    for job in _in_order(jobs, stored, callbacks):
        stored.add(job.callback)
        complete = len(stored) == callbacks
        if job.published != complete and (known or complete):
            return False
        if job.published:
            stored.clear()
            known = True
    return True


def _in_order(jobs: list[_Stored], stored: set[int], callbacks: int) -> Iterator[_Stored]:
    """By their ends; of those at the same time one that keeps the rule comes first."""
    for _, together in groupby(jobs, key=lambda job: job.end):
        left = list(together)
        while left:
            fitting = (
                job for job in left if job.published == (len(stored | {job.callback}) == callbacks)
            )
            chosen = next(fitting, left[0])
            left.remove(chosen)
            yield chosen
