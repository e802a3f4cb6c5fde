# SPDX-License-Identifier: Apache-2.0
"""The limits file (NAME.limits.yaml): what a recorded run is held to, beside its own declarations.

Durations are ns and shares parts per million here; in the file they carry their units.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, PrivateAttr

from takt.documents import yaml_file
from takt.documents.quantities import Duration, Share, Strict
from takt.documents.yaml_file import Form, Source
from takt.statistics.judgement import ALLOWED

ALL = 1_000_000  # parts


class CallbackLimits(Strict):
    """Limits of one callback."""

    response: Duration | None = Field(None, description="longest response; default: its deadline")
    budget: Duration | None = Field(
        None, description="longest execution time of a job; default: not judged"
    )
    late: Share = Field(0, description="share of its jobs that may exceed either")
    skipped: Share | None = Field(
        None,
        description="share of its releases that may be skipped, or dropped by its full queue; "
        "default: not judged",
    )


class ChainLimits(Strict):
    """Limits of one chain of the application."""

    latency: Duration | None = Field(None, description="longest latency; default: its max_latency")
    age: Duration | None = Field(None, description="oldest data at its end; default: not judged")
    late: Share = Field(0, description="share that may exceed either")


class ReadLimits(Strict):
    """Limits of the data of one topic that a callback reads."""

    age: Duration | None = Field(None, description="oldest data; default: its max_age")
    late: Share = Field(0, description="share of its uses that may exceed it")
    unused: Share | None = Field(
        None,
        description="share of the topic's messages that its jobs may never use: lost, dropped by a "
        "full queue, or followed by a newer one; default: not judged",
    )


class TopicLimits(Strict):
    """Limit of the messages of one topic."""

    unused: Share = Field(0, description="share of them that no reader may ever use")


class CellLimits(Strict):
    """Limits of the cells of a run."""

    response: Duration | None = Field(None, description="longest response; default: its deadline")
    late: Share = Field(round(ALLOWED * ALL), description="share of its samples that may exceed it")
    lost: Share | None = Field(
        None,
        description="share of its samples that may be lost or never sent; "
        "default: they count among the late ones",
    )


class NotWorseThan(Strict):
    """The growth that is tolerated from a baseline (written by ``--write-baseline``)."""

    baseline: str = Field(description="file of the baseline, from the folder of the limits file")
    by: Share = Field(100_000, description="tolerated growth of p50, p99 and of each share")


class Limits(Strict):
    """Limits of a run; those without an entry are the application's own declarations."""

    confidence: Share = Field(950_000, description="of each judgement that allows a share")
    absent: Share = Field(0, description="share of the expected jobs that may be absent")
    callbacks: dict[str, CallbackLimits] = Field(
        default_factory=dict, description="by node.callback"
    )
    chains: dict[str, ChainLimits] = Field(default_factory=dict, description="by name")
    reads: dict[str, dict[str, ReadLimits]] = Field(
        default_factory=dict, description="by callback and topic"
    )
    topics: dict[str, TopicLimits] = Field(default_factory=dict, description="by name")
    cells: dict[str, CellLimits] = Field(
        default_factory=dict,
        description="of a run folder, by key or pattern (raw-wakeup-*); the first that matches",
    )
    not_worse_than: NotWorseThan | None = Field(
        None, description="comparison with a baseline; default: none"
    )

    _source: Source = PrivateAttr(default_factory=Source)

    def where(self, *location: str) -> str | None:
        """``file:line`` of a key; None: no file has it."""
        return self._source.where(location) if self._source.file else None


FORM = Form(
    "a limits file",
    Limits,
    keys="callbacks, chains, reads, topics, cells or not_worse_than",
    example="docs/how-to/gate-a-robot-in-ci.md",
    reference="docs/reference/limits-keys.md",
)


def read_limits(path: Path | None) -> Limits:
    """Reads and checks a file; raises TaktError with all of its errors. None: no limits besides."""
    if path is None:
        return Limits()
    limits, source = yaml_file.read(path, FORM)
    limits._source = source  # noqa: SLF001 - the reader is the one who knows
    if limits.not_worse_than is None:
        return limits
    baseline = str(path.parent / limits.not_worse_than.baseline)
    found = limits.not_worse_than.model_copy(update={"baseline": baseline})
    return limits.model_copy(update={"not_worse_than": found})
