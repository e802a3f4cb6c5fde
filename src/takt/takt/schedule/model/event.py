# SPDX-License-Identifier: Apache-2.0
"""An event of tracetools, whatever recorded it: LTTng or takt record."""

from __future__ import annotations

from dataclasses import dataclass

Value = int | str


@dataclass(frozen=True)
class Event:
    """One event with its fields, those of its context included."""

    time: int  # ns
    name: str  # ros2:callback_start
    fields: dict[str, Value]
