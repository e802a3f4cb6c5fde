# SPDX-License-Identifier: Apache-2.0
"""What each process requested of the system, what it was granted, and where these differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from takt.measure.results.model import Cell, Note
from takt.pages import text

OUR_OWN = {"takt.watchdog"}  # a thread of the probe's that only ends it


@dataclass(frozen=True)
class SettingRow:
    """What one role of a measurement requested and was granted; differences in words."""

    measurement: str
    role: str
    requested: str
    granted: str
    differences: list[str]
    memory_locked: str
    remarks: list[str]
    notes: list[Note]
    reported: bool  # a process that was killed early reports nothing


def setting_rows(measurement: str, cells: Iterable[Cell]) -> list[SettingRow]:
    """Give one row a role; repetitions that requested and were granted the same are one row."""
    rows: dict[tuple[str, ...], SettingRow] = {}
    for cell in cells:
        for probe in cell.probes:
            row = SettingRow(
                measurement,
                probe.role,
                _scheduling(probe.requested),
                _scheduling(probe.granted),
                _differences(probe.requested, probe.granted),
                text.setting(probe.granted.get("memory_locked")),
                _remarks(probe.requested, probe.granted),
                probe.notes,
                bool(probe.granted),
            )
            notes = [note.model_dump_json() for note in row.notes]
            alike = (row.role, row.requested, row.granted, row.memory_locked)
            rows.setdefault((*alike, *row.differences, *row.remarks, *notes), row)
    return list(rows.values())


def repeated_notes(rows: Iterable[SettingRow]) -> list[tuple[Note, int]]:
    """What is said of more than one row, with their number, the most frequent first."""
    notes = [note for row in rows for note in row.notes]
    counts = Counter(note.model_dump_json() for note in notes)
    every = {note.model_dump_json(): note for note in notes}
    return [(every[key], count) for key, count in counts.most_common() if count > 1]


def _differences(requested: dict[str, Any], granted: dict[str, Any]) -> list[str]:
    if not granted:  # the process ended before it could say
        return []
    return [
        f"{text.words(name)}: requested {text.setting(value)}, granted "
        f"{text.setting(granted.get(name))}"
        for name, value in requested.items()
        if value not in ([], None) and granted.get(name) != value
    ]


def _remarks(requested: dict[str, Any], granted: dict[str, Any]) -> list[str]:
    """What else was read back and disturbs real time: threads, page faults, the time slice."""
    remarks = []
    if requested.get("policy") == "rr" and granted.get("rr_interval_ns"):
        remarks.append(f"time slice {text.duration(granted['rr_interval_ns'] / 1000)}")
    if pool := granted.get("pool"):
        used, all_of_it = (text.bytes_(pool[name]) for name in ("peak_bytes", "bytes"))
        remarks.append(f"its pool used at most {used} of {all_of_it}")
        if pool["refused"]:
            remarks.append(f"its pool was full {text.count(pool['refused'])} times")
    if requested.get("policy", "other") == "other":
        return remarks
    threads = [one for one in granted.get("threads", []) if one.get("name") not in OUR_OWN]
    wanted = {one["tid"]: one.get("requested_priority") for one in granted.get("dds_threads", [])}
    others: dict[str, int] = {}
    for one in threads:
        priority = wanted.get(one.get("tid"), requested.get("priority"))
        if (one.get("policy"), one.get("priority")) != (requested["policy"], priority):
            name = text.scheduling(str(one.get("policy")), int(one.get("priority") or 0), [])
            others[f"{one.get('name')} {name}"] = others.get(f"{one.get('name')} {name}", 0) + 1
    if others:
        named = ", ".join(f"{number} {name}" for name, number in others.items())
        remarks.append(
            f"{sum(others.values())} of {len(threads)} threads have other settings: {named}"
        )
    faults = sum(int(granted.get(name) or 0) for name in ("minor_faults", "major_faults"))
    if faults:
        remarks.append(f"{text.count(faults)} page faults during the measurement")
    if granted.get("memory_locked") is False:
        remarks.append("its memory was not locked")
    return remarks


def _scheduling(settings: dict[str, Any]) -> str:
    if not settings:
        return text.ABSENT
    policy, priority = str(settings.get("policy", "other")), int(settings.get("priority") or 0)
    return f"{text.scheduling(policy, priority, [])}, {text.cpus(settings.get('cpu') or [])}"
