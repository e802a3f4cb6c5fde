# SPDX-License-Identifier: Apache-2.0
"""The attributes `task` and `change` of a trace: what an executor knows and no event shows."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError, model_validator

from takt.documents.units import LONGEST

Time = Annotated[int, Field(ge=0, le=LONGEST, strict=True)]  # ns
Name = Annotated[str, Field(min_length=1)]


class _Parameters(BaseModel):
    """What a scenario may change; a later version of Takt may tell more."""

    period: Time | None = None
    deadline: Time | None = None
    expected_execution: Time | None = None
    budget: Time | None = None
    priority: Annotated[int, Field(ge=0, le=98, strict=True)] | None = None
    overrun: Literal["skip", "queue_one", "catch_up"] | None = None
    active: bool | None = None


class DeclaredRead(BaseModel):
    """A topic that a task reads."""

    topic: Name
    max_age: Time = 0


class DeclaredTask(_Parameters):
    """A task."""

    name: Name
    kind: Literal["timer", "message"]
    offset: Time | Literal["unknown"] | None = None
    trigger: Name | None = None
    reads: list[DeclaredRead] | None = None
    writes: list[Name] | None = None
    group: Name | None = None
    locks: list[Name] | None = None
    cpu: Annotated[int, Field(ge=0, strict=True)] | None = None
    jitter: Time | None = None
    waits: bool | None = None

    @model_validator(mode="after")
    def _released_by_one(self) -> DeclaredTask:
        if self.kind == "message" and self.offset == "unknown":
            raise ValueError("only a timer has an offset")
        return self


class DeclaredChange(_Parameters):
    """What a scenario changes of a task."""

    scenario: Name
    task: Name
    offset: Time | None = None


def declarations(texts: list[str], kind: type[BaseModel]) -> list[dict[str, Any]]:
    """Those that can be read, as plain data; of a damaged trace some may not."""
    found = []
    for text in texts:
        try:
            found.append(kind.model_validate_json(text).model_dump(exclude_unset=True))
        except ValidationError:
            continue
    return found
