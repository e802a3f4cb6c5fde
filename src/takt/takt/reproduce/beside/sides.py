# SPDX-License-Identifier: Apache-2.0
"""The reproductions beside each other, each with a name that tells it from the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from takt.errors import TaktError
from takt.measure.results import store
from takt.measure.results.model import Run
from takt.processes.scratch import DOCUMENT
from takt.reproduce import page
from takt.reproduce.beside.judged import outcome_of
from takt.reproduce.beside.model import Side
from takt.reproduce.model import Outcome

# What is known of a machine, in the order in which it may tell two runs apart.
KNOWN = {
    "preemption": "preemption",
    "kernel": "kernel",
    "cpu": "cpu_model",
    "ros": "ros_distribution",
    "distribution": "distribution",
    "time": "time",  # what the times of a guest are
}
SAME = ("scale", "findings", "tables")  # of a run and its bundle, and of no two runs
VERDICTS = ("holds", "smaller", "not here", "undecided", "not asked")


@dataclass(frozen=True)
class Opened:
    """A reproduction whose files are there."""

    side: Side
    outcome: Outcome
    folder: Path
    run: Run | None  # None: its experiments are no experiment file


def opened(paper: str, module: ModuleType, places: Sequence[tuple[Path, Path]]) -> list[Opened]:
    """Each of a place as it was given, and the folder with its files; raises TaktError."""
    found: list[tuple[Path, Path, Outcome, Run | None]] = []
    runs = [store.read(one) if (one / DOCUMENT).is_file() else None for _, one in places]
    machines = [_machine(run) for run in runs]
    _refuse_several_times(machines, [place for place, _ in places])
    for (place, folder), run in zip(places, runs, strict=True):
        outcome = outcome_of(paper, module, place, folder)
        if outcome.paper != paper:
            raise TaktError(
                f"a reproduction of {outcome.paper}, not of {paper}",
                where=str(place),
                fix=f"leave it out; those of {outcome.paper}: takt reproduce {outcome.paper} "
                "--beside RUN RUN",
            )
        _refuse_again(place, outcome, [(one[0], one[2]) for one in found])
        found.append((place, folder, outcome, run))
    names = _names(machines)
    return [
        Opened(_side(name, place, outcome, machine), outcome, folder, run)
        for name, machine, (place, folder, outcome, run) in zip(names, machines, found, strict=True)
    ]


def _refuse_again(place: Path, outcome: Outcome, others: Sequence[tuple[Path, Outcome]]) -> None:
    """A run and its bundle are one: beside itself it would confirm everything."""
    if not any(one.measured for one in outcome.findings):
        return
    for other, known in others:
        if all(getattr(known, name) == getattr(outcome, name) for name in SAME):
            raise TaktError(f"the same run as {other}", where=str(place), fix="give each run once")


def _machine(run: Run | None) -> dict[str, str]:
    known: dict[str, Any] = run.machine if run else {}
    return {name: str(value) for name, key in KNOWN.items() if (value := known.get(key))}


def _refuse_several_times(machines: Sequence[dict[str, str]], places: Sequence[Path]) -> None:
    """Instructions that were counted in a guest and times of a machine do not compare."""
    for machine, place in zip(machines, places, strict=True):
        if machine.get("time") != machines[0].get("time"):
            raise TaktError(
                f"its times are {machine.get('time', 'of a machine')}, those of {places[0]} are "
                f"{machines[0].get('time', 'of a machine')}: they do not compare",
                where=str(place),
                fix="put runs of takt lab beside each other, and runs of machines",
            )


def _names(machines: Sequence[dict[str, str]]) -> list[str]:
    """By what differs; runs of which nothing does are counted."""
    differing = [key for key in KNOWN if len({one.get(key) for one in machines}) > 1]
    names = [""] * len(machines)
    for key in differing:
        if len(set(names)) == len(names):
            break
        names = [
            ", ".join(filter(None, (name, machine.get(key, f"unknown {key}"))))
            for name, machine in zip(names, machines, strict=True)
        ]
    twice = {name for name, count in Counter(names).items() if count > 1}
    numbers: Counter[str] = Counter()
    sides = []
    for name in names:
        numbers[name] += 1
        counted = f"{name}, run {numbers[name]}".removeprefix(", ")
        sides.append(counted if name in twice or not name else name)
    return sides


def _side(name: str, place: Path, outcome: Outcome, machine: dict[str, str]) -> Side:
    verdicts = Counter(map(page.verdict, outcome.findings))
    return Side(
        name=name,
        run=str(place),
        scale=outcome.scale,
        complete=outcome.complete,
        machine=machine,
        verdicts={one: verdicts[one] for one in VERDICTS},
    )
