# SPDX-License-Identifier: Apache-2.0
"""What was found of the conditions that the cells declare: load, traffic, the link's bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from takt.measure.results.model import Cell, Conditions, OfMachine, SystemProcess
from takt.pages import text


@dataclass(frozen=True)
class ConditionRow:
    """One variant of a measurement, its repetitions together."""

    measurement: str
    scheduling: str
    load: str
    traffic: str
    link: str
    system: str  # that it was measured within


def condition_row(measurement: str, scheduling: str, cells: Iterable[Cell]) -> ConditionRow | None:
    """From the least to the most of the repetitions; None where nothing was declared."""
    found = [cell.conditions for cell in cells if cell.conditions]
    if not found:
        return None
    load = _of_machine(found)
    each = {name: [one.hosts[name] for one in found if name in one.hosts] for name in _names(found)}
    if each:
        load = "; ".join(f"{name}: {_of_machine(there)}" for name, there in each.items())
    traffic = _joined(
        _range(found, "traffic_there_mbps", 1, "Mbit/s there"),
        _range(found, "traffic_back_mbps", 1, "Mbit/s back"),
    )
    link = _joined(
        _range(found, "messages_there_bytes", 1e-3, "kB of messages there"),
        _range(found, "messages_back_bytes", 1e-3, "kB back"),
        _range(found, "first_there_bytes", 1e-3, "kB through their own queue there"),
        _range(found, "first_back_bytes", 1e-3, "kB back"),
        _range(found, "link_there_bytes", 1e-3, "kB of everything there"),
        _range(found, "link_back_bytes", 1e-3, "kB back"),
        _range(found, "delay_there_us", 1, "µs of delay there"),
        _range(found, "delay_back_us", 1, "µs back"),
        _range(found, "lost_there", 100, "% lost there"),
        _range(found, "lost_back", 100, "% back"),
        _range(found, "relay_late_us", 1, "µs added by the relay (p99)"),
        _range(found, "clock_bound_us", 1, "µs at most between the clocks"),
        ", ".join(sorted({one.clock for one in found if one.clock})),
        _range(found, "segment_frames", 1, "frames to the simulated segment"),
        _range(found, "segment_ignored", 1, "wrong frames"),
    )
    system = _system(found)
    # What is tuned is in the title of the measurement.
    if {load, traffic, link, system} == {text.ABSENT}:
        return None
    return ConditionRow(measurement, scheduling, load, traffic, link, system)


def _names(found: Iterable[Conditions]) -> list[str]:
    return list(dict.fromkeys(name for one in found for name in one.hosts))


def _of_machine(found: Sequence[OfMachine]) -> str:
    return _joined(
        _range(found, "load_cpu_share", 100, "% of CPU time used by it"),
        _range(found, "idle_cpu_share", 100, "% idle"),
        _range(found, "load_written_bytes", 1e-6, "MB written"),
        _range(found, "others_seconds", 1, "s of CPU time by other programs"),
    )


def _system(found: Sequence[Conditions]) -> str:
    """Each program of the system that was measured within, and how much CPU time it used."""
    programs: dict[str, list[SystemProcess]] = {}
    for one in (process for conditions in found for process in conditions.system):
        programs.setdefault(one.name, []).append(one)
    return "; ".join(_program(name, each) for name, each in sorted(programs.items())) or text.ABSENT


def _program(name: str, found: Sequence[SystemProcess]) -> str:
    number = len({one.pid for one in found})
    ended = sum(one.ended for one in found)
    return _joined(
        f"{number} × {name}" if number > 1 else name,
        _range(found, "cpu", 100, "% of a CPU each" if number > 1 else "% of a CPU"),
        f"{ended} ended early" if ended else "",
    )


def _joined(*parts: str) -> str:
    return ", ".join(filter(None, parts)) or text.ABSENT


def _range(found: Sequence[OfMachine | SystemProcess], name: str, factor: float, unit: str) -> str:
    values = [value * factor for one in found if (value := getattr(one, name)) is not None]
    if not values:
        return ""
    low, high = map(_number, (min(values), max(values)))
    spaced = low if low == high else f"{low} to {high}"
    return f"{spaced}{text.THIN_SPACE}{unit}"


def _number(value: float) -> str:
    return text.count(round(value)) if value >= 1000 else f"{value:.3g}"
