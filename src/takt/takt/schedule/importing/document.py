# SPDX-License-Identifier: Apache-2.0
"""The document of ``./takt import --json``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

SCHEMA_VERSION = 1


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ImportedFile(_Part):
    """One application."""

    application: str  # the file that was written
    callbacks: int
    chains: int
    utilization: float  # of all its cores together; callbacks of unknown period not counted


class ImportDocument(_Part):
    """The whole document."""

    schema_version: int = SCHEMA_VERSION
    source: str
    format: str
    applications: list[ImportedFile]
    notes: list[str]  # what the format leaves open, or says otherwise than Takt
