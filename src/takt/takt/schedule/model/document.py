# SPDX-License-Identifier: Apache-2.0
"""The document of ``./takt model --json``; times in µs."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from takt.schedule.model.tail import TailEstimate

SCHEMA_VERSION = 1
Notes = dict[str, list[str]]  # by callback or topic; "": of the whole


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ModelledCallback(_Part):
    """One callback, and how its execution time was found."""

    callback: str  # node.callback in the file
    recorded: str  # its name in the trace
    kind: Literal["timer", "message", "service"]
    jobs: int  # that ended
    period_us: float | None = None  # as written; None: that of the topic that releases it
    best_us: float | None = None  # observed; None: no job ended
    mean_us: float | None = None
    longest_us: float | None = None  # observed, no worst case
    wcet_us: float | None = None  # as written: the longest and the margin
    tail: TailEstimate | None = None
    no_tail: str | None = None  # why there is no estimate
    notes: list[str] = []  # what stands as comments beside it


class ModelledChain(_Part):
    """A path of data, and what was seen of it."""

    chain: str
    callbacks: list[str]
    arrivals: int = 0  # data of its begin that reached its end
    longest_us: float | None = None  # observed latency
    described: bool = False  # its name and limit are those of the description in the trace
    max_latency_us: float | None = None  # that limit


class ModelledWriter(_Part):
    """One writer of a topic; its messages are at most t / period + burst in any time t."""

    writer: str  # the callback; outside: all that are no callback of the file
    messages: int  # observed
    jobs: int | None = None  # that wrote it; None: outside
    least: int | None = None  # messages of one of these jobs
    most: int | None = None
    period_us: float | None = None  # observed; None: too few messages
    burst: int  # at once


class ModelledTopic(_Part):
    """A topic with several writers; readers get the sum of what these publish."""

    topic: str
    writers: list[ModelledWriter]
    period_us: float | None = None  # of all writers together; None: unknown for one of them
    burst: int  # of all writers together


class Modelled(_Part):
    """The whole document."""

    schema_version: int = SCHEMA_VERSION
    application: str  # the file that was written
    trace: str
    source: str
    duration_ms: float
    policy: str
    callbacks: list[ModelledCallback]
    chains: list[ModelledChain]
    topics: list[ModelledTopic] = []  # those with several writers
    notes: list[str]  # what the trace does not tell
