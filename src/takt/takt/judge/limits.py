# SPDX-License-Identifier: Apache-2.0
"""The limits file (NAME.limits.yaml): what a recorded run is held to, beside its own declarations.

Durations are ns and shares parts per million here; in the file they carry their units.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from takt.documents import yaml_file
from takt.documents.quantities import Duration, Share, Strict
from takt.documents.yaml_file import Form

ALL = 1_000_000  # parts


class CallbackLimits(Strict):
    """Limits of one callback."""

    response: Duration | None = Field(None, description="longest response; default: its deadline")
    late: Share = Field(0, description="share of its jobs that may exceed it")
    skipped: Share | None = Field(
        None, description="share of its releases that may be skipped; default: not judged"
    )


class ChainLimits(Strict):
    """Limits of one chain of the application."""

    latency: Duration | None = Field(None, description="longest latency; default: its max_latency")
    age: Duration | None = Field(None, description="oldest data at its end; default: not judged")
    late: Share = Field(0, description="share that may exceed either")


class ReadLimits(Strict):
    """Limit of the data of one topic that a callback reads."""

    age: Duration | None = Field(None, description="oldest data; default: its max_age")
    late: Share = Field(0, description="share of its uses that may exceed it")


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


FORM = Form(
    "a limits file",
    Limits,
    keys="callbacks, chains or reads",
    example="docs/how-to/gate-a-robot-in-ci.md",
    reference="docs/reference/limits.schema.json",
)


def read_limits(path: Path | None) -> Limits:
    """Reads and checks a file; raises TaktError with all of its errors. None: no limits besides."""
    if path is None:
        return Limits()
    limits, _ = yaml_file.read(path, FORM)
    return limits
