# SPDX-License-Identifier: Apache-2.0
"""What stands beside each other; ``Beside`` is the document of ``--beside … --json``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from takt.reproduce.model import Figure, Finding, Statement

SCHEMA_VERSION = 1


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Side(_Model):
    """One reproduction: where it was measured, and how its findings came out."""

    name: str  # by what tells it from the others
    run: str  # folder or bundle
    scale: float
    complete: bool
    machine: dict[str, str]  # kernel, preemption model, CPU, ROS, middleware, as far as known
    verdicts: dict[str, int]  # holds, smaller, not here, undecided, not asked


class Value(_Model):
    """A measured figure of one run, with its interval at 95 %."""

    value: float | str | None
    low: float | None = None
    high: float | None = None


class Compared(_Model):
    """A finding in each run; what differs between them has intervals that do not overlap."""

    id: str
    stack: str
    claim: str
    at: str
    verdicts: dict[str, str]  # by run
    measured: dict[str, dict[str, Value]]  # by figure, then by run
    differing: list[str] = []  # figures

    @property
    def apart(self) -> bool:
        """Whether it holds in one run and does not in another one."""
        return {"holds", "not here"} <= set(self.verdicts.values())


class Beside(_Model):
    """Several reproductions of one paper."""

    schema_version: int = SCHEMA_VERSION
    paper: str
    title: str
    sides: list[Side]
    findings: list[Finding]  # that take several runs
    compared: list[Compared]  # that each run has by itself
    figures: list[Figure]  # of several runs in one picture
    statements: list[Statement] = []  # of the paper, that take several runs
    results: str  # the folder
