# SPDX-License-Identifier: Apache-2.0
"""What the doctor finds."""

from __future__ import annotations

from enum import Enum

from pydantic import BaseModel, ConfigDict


class Severity(str, Enum):
    """How much a doctor's finding stands between the machine and real time."""

    good = "good"
    note = "note"
    warning = "warning"
    problem = "problem"
    unknown = "unknown"


class Finding(BaseModel):
    """One answer of the doctor: what was found, why it matters, how to fix it."""

    model_config = ConfigDict(extra="forbid")

    id: str
    title: str
    severity: Severity
    value: str
    why: str
    fix: str | None = None
    setting: str | None = None  # of takt tune, which fixes it while the system runs
