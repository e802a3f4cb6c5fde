# SPDX-License-Identifier: Apache-2.0
"""The rule: a limit on what is missing is not met; without a limit, nothing is decided."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from takt.statistics.judgement import Outcome


class Absence(BaseModel):
    """A callback without a release, a chain without an arrival, a reader without data."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    subject: str  # callback, chain, or reader ← topic
    arrived: int
    # Of a callback: releases that its period asks for; of a chain: jobs of its first callback; of a
    # reader: its jobs. None: nothing says how many.
    expected: int | None
    outcome: Outcome  # fails: a limit is not met; undecided: it has no limit, or nothing proves it
    reason: str


def unreleased(callback: str, expected: int | None, *, known: bool = True) -> Absence:
    """Of an active callback; ``known``: whether the trace knows it at all."""
    if not known:
        reason = "active in the application, absent here"
    else:
        reason = "never released" if expected is None else "no release of those expected"
    outcome = Outcome.fails if expected or not known else Outcome.undecided
    return Absence(subject=callback, arrived=0, expected=expected, outcome=outcome, reason=reason)


def unpassed(chain: str, started: int, *, limited: bool, doubt: str = "") -> Absence:
    """Of a chain whose first callback completed so many jobs; ``doubt``: why it is not certain."""
    return _without(chain, started, "no data passed the chain", limited=limited, doubt=doubt)


def unfed(
    callback: str, topic: str, jobs: int, *, limited: bool = True, doubt: str = ""
) -> Absence:
    """Of a reader with so many jobs."""
    subject = reader(callback, topic)
    return _without(subject, jobs, "it never had data", limited=limited, doubt=doubt)


def reader(callback: str, topic: str) -> str:
    """Its name as a subject."""
    return f"{callback} ← {topic}"


def fails(absences: Iterable[Absence]) -> bool:
    """Whether a limit is not met."""
    return any(one.outcome is Outcome.fails for one in absences)


def _without(subject: str, expected: int, what: str, *, limited: bool, doubt: str) -> Absence:
    outcome = Outcome.fails if limited and not doubt else Outcome.undecided
    reason = f"{what}, as far as recorded: {doubt}" if doubt else what
    if not limited:
        reason += "; it has no limit"
    return Absence(subject=subject, arrived=0, expected=expected, outcome=outcome, reason=reason)
