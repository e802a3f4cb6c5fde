# SPDX-License-Identifier: Apache-2.0
"""What each process asked of the system, what it got, and where these differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from takt.report import text
from takt.results.model import Cell, Note


@dataclass(frozen=True)
class SettingRow:
    """What one role of a measurement asked for and got; differences in words."""

    measurement: str
    role: str
    asked: str
    obtained: str
    differences: list[str]
    memory_locked: str
    notes: list[Note]
    reported: bool  # a process that was killed early reports nothing


def setting_rows(measurement: str, cells: Iterable[Cell]) -> list[SettingRow]:
    """Give one row a role; repetitions that asked for and got the same are one row."""
    rows: dict[tuple[str, ...], SettingRow] = {}
    for cell in cells:
        for probe in cell.probes:
            row = SettingRow(
                measurement,
                probe.role,
                _scheduling(probe.asked),
                _scheduling(probe.obtained),
                _differences(probe.asked, probe.obtained),
                text.setting(probe.obtained.get("memory_locked")),
                probe.notes,
                bool(probe.obtained),
            )
            notes = [note.model_dump_json() for note in row.notes]
            alike = (row.role, row.asked, row.obtained, row.memory_locked)
            rows.setdefault((*alike, *row.differences, *notes), row)
    return list(rows.values())


def _differences(asked: dict[str, Any], obtained: dict[str, Any]) -> list[str]:
    if not obtained:  # the process ended before it could say
        return []
    return [
        f"{text.words(name)}: asked {text.setting(value)}, "
        f"obtained {text.setting(obtained.get(name))}"
        for name, value in asked.items()
        if value not in ([], None) and obtained.get(name) != value
    ]


def _scheduling(settings: dict[str, Any]) -> str:
    if not settings:
        return text.ABSENT
    policy, priority = str(settings.get("policy", "other")), int(settings.get("priority") or 0)
    return f"{text.scheduling(policy, priority, [])}, {text.cpus(settings.get('cpu') or [])}"
