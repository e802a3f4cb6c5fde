# SPDX-License-Identifier: Apache-2.0
"""What each process asked of the system, what it got, and where these differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from takt.measure.results.model import Cell, Note
from takt.pages import text

OUR_OWN = {"takt.watchdog"}  # a thread of the probe's that only ends it


@dataclass(frozen=True)
class SettingRow:
    """What one role of a measurement asked for and got; differences in words."""

    measurement: str
    role: str
    asked: str
    obtained: str
    differences: list[str]
    memory_locked: str
    remarks: list[str]
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
                _remarks(probe.asked, probe.obtained),
                probe.notes,
                bool(probe.obtained),
            )
            notes = [note.model_dump_json() for note in row.notes]
            alike = (row.role, row.asked, row.obtained, row.memory_locked)
            rows.setdefault((*alike, *row.differences, *row.remarks, *notes), row)
    return list(rows.values())


def _differences(asked: dict[str, Any], obtained: dict[str, Any]) -> list[str]:
    if not obtained:  # the process ended before it could say
        return []
    return [
        f"{text.words(name)}: requested {text.setting(value)}, granted "
        f"{text.setting(obtained.get(name))}"
        for name, value in asked.items()
        if value not in ([], None) and obtained.get(name) != value
    ]


def _remarks(asked: dict[str, Any], obtained: dict[str, Any]) -> list[str]:
    """What else was read back and disturbs real time: threads, page faults, the time slice."""
    remarks = []
    if asked.get("policy") == "rr" and obtained.get("rr_interval_ns"):
        remarks.append(f"time slice {text.duration(obtained['rr_interval_ns'] / 1000)}")
    if pool := obtained.get("pool"):
        used, all_of_it = (text.bytes_(pool[name]) for name in ("peak_bytes", "bytes"))
        remarks.append(f"its pool used at most {used} of {all_of_it}")
        if pool["refused"]:
            remarks.append(f"its pool was full {text.count(pool['refused'])} times")
    if asked.get("policy", "other") == "other":
        return remarks
    threads = [one for one in obtained.get("threads", []) if one.get("name") not in OUR_OWN]
    wanted = {one["tid"]: one.get("asked_priority") for one in obtained.get("dds_threads", [])}
    others: dict[str, int] = {}
    for one in threads:
        priority = wanted.get(one.get("tid"), asked.get("priority"))
        if (one.get("policy"), one.get("priority")) != (asked["policy"], priority):
            name = text.scheduling(str(one.get("policy")), int(one.get("priority") or 0), [])
            others[f"{one.get('name')} {name}"] = others.get(f"{one.get('name')} {name}", 0) + 1
    if others:
        named = ", ".join(f"{number} {name}" for name, number in others.items())
        remarks.append(
            f"{sum(others.values())} of {len(threads)} threads have other settings: {named}"
        )
    faults = sum(int(obtained.get(name) or 0) for name in ("minor_faults", "major_faults"))
    if faults:
        remarks.append(f"{text.count(faults)} page faults during the measurement")
    if obtained.get("memory_locked") is False:
        remarks.append("its memory was not locked")
    return remarks


def _scheduling(settings: dict[str, Any]) -> str:
    if not settings:
        return text.ABSENT
    policy, priority = str(settings.get("policy", "other")), int(settings.get("priority") or 0)
    return f"{text.scheduling(policy, priority, [])}, {text.cpus(settings.get('cpu') or [])}"
