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

    def handle(self, key: str) -> tuple[int, int]:
        """Process and address of one of its fields; 0 where the event lacks it."""
        return self.process, int(self.fields.get(key, 0))

    @property
    def process(self) -> int:
        """Of the process that it is of; 0: not recorded."""
        return int(self.fields.get("vpid", 0))

    @property
    def cpu_time(self) -> int | None:
        """Of its thread; None: not recorded."""
        found = self.fields.get("cpu_time")
        return found if isinstance(found, int) else None

    @property
    def thread(self) -> tuple[int, int]:
        """Process and thread."""
        return self.handle("vtid")
