# SPDX-License-Identifier: Apache-2.0
"""Mutexes of an application, and the parts of callbacks that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from takt.documents.quantities import Duration, Strict
from takt.documents.units import format_duration


class Lock(Strict):
    """A mutex that callbacks hold while they compute."""

    protocol: Literal["inheritance", "ceiling", "spin", "fmlp+"] = Field(
        description="inheritance: the holder has the priority of the most urgent callback that "
        "waits for it (PTHREAD_PRIO_INHERIT); ceiling: the highest priority of all callbacks that "
        "take it (PTHREAD_PRIO_PROTECT); spin: across cores, too: a job keeps its core and gets "
        "the lock in the order of requests; fmlp+: across cores, too: a job that waits leaves its "
        "core, and a holder comes before all others of its core"
    )


class Length(Strict):
    """A time of computing or waiting; `200us` alone is short for `{worst: 200us}`."""

    best: Duration | None = Field(None, description="shortest time; default: worst")
    worst: Duration = Field(description="longest time")

    @model_validator(mode="after")
    def _ascending(self) -> Length:
        if self.worst == 0:
            raise ValueError("must be greater than 0")
        if self.best is not None and self.best > self.worst:
            raise ValueError(
                f"best {format_duration(self.best)} is above worst {format_duration(self.worst)}"
            )
        return self

    @property
    def bounds(self) -> tuple[int, int]:
        """The shortest and the longest time, in ns."""
        return self.worst if self.best is None else self.best, self.worst


def length_of(value: Any) -> Any:
    """A time alone is the longest."""
    return value if isinstance(value, dict | Length) else {"worst": value}


class CriticalSection(Strict):
    """A part of each job during which it holds a lock."""

    lock: str = Field(description="one of locks")
    begin: Duration = Field(
        0, description="time that the job computes before it takes the lock; default: 0s"
    )
    length: Annotated[Length, BeforeValidator(length_of)] = Field(
        description="time that it computes while it holds the lock, `200us` or `{best: 100us, "
        "worst: 200us}`; a job that computes for less than the worst case leaves out what it does "
        "not reach"
    )


def flat_locks(locks: Mapping[str, Lock]) -> dict[str, Any]:
    """The locks as the core parses them."""
    named = [{"name": name, "protocol": lock.protocol} for name, lock in locks.items()]
    return {"locks": named} if named else {}


def flat_sections(sections: Sequence[CriticalSection]) -> dict[str, Any]:
    """The critical sections of a callback as the core parses them."""
    parts = [
        {
            "lock": one.lock,
            "begin": one.begin,
            "shortest": one.length.bounds[0],
            "longest": one.length.bounds[1],
        }
        for one in sections
    ]
    return {"critical_sections": parts} if parts else {}
