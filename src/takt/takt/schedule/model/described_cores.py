# SPDX-License-Identifier: Apache-2.0
"""What the description in a trace says that cores provide: no event shows it.

A model without it would prove more than holds.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from takt.schedule.application.executors import Cpu
from takt.schedule.application.processes import cores_of, places_of
from takt.schedule.model.declared import Name, Time

Part = dict[str, Any]
_Number = Annotated[int, Field(ge=1, strict=True)]


class _Supply(BaseModel):
    budget: Time = 0
    period: Time = 0
    rate: Time = 0  # in billionths
    delay: Time = 0


class _Interrupts(BaseModel):
    period: Time
    duration: Time
    burst: _Number = 1


class _Measured(BaseModel):
    windows: _Number
    window: Time


class _Core(BaseModel):
    cpu: Cpu
    host: Name | None = None
    supply: _Supply | None = None
    latency: Time = 0
    interrupts: list[_Interrupts] = []
    measured: _Measured | None = None


class _Described(BaseModel):
    cores: list[_Core] = []


def cores(text: str | None) -> list[Part]:
    """In the flat form; none where there is no description, or it is damaged."""
    try:
        found = _Described.model_validate_json(text or "{}").cores
    except ValidationError:
        return []
    return [one.model_dump(exclude_unset=True) for one in found]


def keep(document: Part, described: list[Part], notes: list[str]) -> None:
    """Adds the cores that the document uses."""
    robot = "processes" in document
    used = places_of(document) if robot else {("", cpu) for cpu in cores_of(document)}
    found = [one for one in described if (one.get("host") or "", one["cpu"]) in used]
    if found:
        document["cores"] = found
        notes.append(
            "cores: supply, latency and interrupts are as described; no trace shows them (takt "
            "measure supply)"
        )
