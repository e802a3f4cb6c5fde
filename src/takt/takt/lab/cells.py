# SPDX-License-Identifier: Apache-2.0
"""The ordinary cells of a run, measured inside a guest: their jobs, and what came of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from takt.lab import second_host
from takt.lab.guest import Share
from takt.lab.jobs import FFT, IDLE, KEPT, LOADED, MEMORY, Job
from takt.measure.experiment import file
from takt.measure.experiment.faults import Machine
from takt.measure.experiment.model import Experiment
from takt.measure.experiment.plan import Plan, plan
from takt.measure.results.model import Cell, Note
from takt.measure.run import cell as one_cell
from takt.measure.run import programs
from takt.measure.run.context import Context
from takt.measure.run.measured import add_measured
from takt.network import stacks, transport
from takt.network.hosts import Hosts
from takt.network.namespace import THERE
from takt.network.stacks import Stacks
from takt.processes.leftovers import Journal
from takt.processes.scratch import Scratch
from takt.processes.supervision import End, Limits, Program, Stop

NAME = "lab"
TIMED_OUT = 143  # busybox's timeout ends with SIGTERM
_ROOM_S = 60  # of the guest's time: under load everything there is slow to start
_SYSTEM = Path("/usr")
_ENVIRONMENT = ("LD_LIBRARY_PATH", "AMENT_PREFIX_PATH", "RMW_IMPLEMENTATION", "ROS_DISTRO")


@dataclass(frozen=True)
class Planned:
    """A cell, and the job that measures it."""

    cell: Cell
    job: Job
    programs: list[Program]


def experiment(
    seconds: int, *, ros: bool, disturbances: Iterable[str] = ()
) -> tuple[Experiment, Plan, Stacks]:
    """The wake-up probe, and with ``ros`` a timer and a round trip of ROS 2; idle and loaded.

    Under the label of each disturbance the wake-up probe once more.
    """
    found = stacks.find()
    common = {"scheduling": "fifo 80", "duration": f"{seconds}s"}
    kinds: list[dict[str, Any]] = [{"kind": "wakeup", "stack": "raw", "rate": "1kHz"}]
    if ros:
        kinds += [
            {"kind": "timer-cyclic", "stack": "rcl", "transport": "executor", "rate": "200Hz"},
            {"kind": "pingpong", "stack": "rcl", "transport": "shm", "rate": "100Hz"},
        ]
    between = [one for load in (IDLE, LOADED) if ros for one in second_host.cells(seconds, load)]
    document: dict[str, Any] = {
        "name": NAME,
        "repetitions": 1,
        "skip_missing": True,
        "measurements": [
            *(one | common | {"label": load} for one in kinds for load in (IDLE, LOADED)),
            *between,
        ],
    }
    disturbed = [kinds[0] | common | {"label": one} for one in disturbances]
    document["measurements"] += disturbed
    source = file.Source()
    collected = file.check(document, source)
    return (
        collected,
        plan(collected, source, found, Machine(frozenset({0}), 1 << 30), seed=1),
        found,
    )


def planned(
    cells: Iterable[Cell],
    found: Stacks,
    folder: Path,
    disturbances: Mapping[str, str] = MappingProxyType({}),
    hosts: Hosts | None = None,
) -> tuple[list[Planned], dict[str, str]]:
    """The cells as jobs, and the profiles that the guest needs below /lab.

    ``folder`` is the host's, for the profiles while they are written; ``disturbances`` are scripts
    by the labels of the cells beside which they run; ``hosts`` are two guests.
    """
    limits = Limits()
    context = Context(Scratch(folder, folder, NAME, []), folder, 0, Journal(folder), Stop(), limits)
    collected, texts = [], {}
    for cell in cells:
        seconds = cell.samples_requested * cell.period_us / 1e6
        limit_s = seconds + cell.lost_after_us / 1e6 + _ROOM_S
        stack = found[cell.stack]
        inside = hosts is None and THERE in cell.hosts
        both = second_host.ENDS if inside else hosts or Hosts.one()
        variables, each = programs.probes(cell, stack, Path(MEMORY), context, limit_s, both)
        profile = Path(variables[transport.PROFILE])
        for each_host in folder.glob(f"{cell.id}.*{profile.suffix}"):
            texts[f"lab/{each_host.name}"] = each_host.read_text(encoding="utf-8")
        for one in each:
            one.command = [word.replace(str(folder), MEMORY) for word in one.command]
            if inside and both.of(one.role) is both.passive:
                one.command = [*second_host.INSIDE, *one.command]
        job = Job(
            cell.id,
            _load_of(cell),
            tuple(tuple(one.command) for one in each),
            round(limit_s) + _ROOM_S,
            from_host=cell.stack != "raw",
            environment=environment(Path("/lab") / profile.name) if cell.stack != "raw" else (),
            beside=disturbances.get(cell.label, ""),
            takes=any(one.samples for one in each[:-1]),
        )
        collected.append(Planned(cell, job, each))
    return collected, texts


def _load_of(cell: Cell) -> str:
    """Its own comparison loads a guest by label, the experiment of a paper by its load."""
    if cell.label == LOADED:
        return LOADED
    return FFT if cell.load == FFT else IDLE


def shares(variables: Mapping[str, str] = os.environ, others: Iterable[Path] = ()) -> list[Share]:
    """What ROS 2 and Takt's programs lie in, read-only; a folder inside another one comes along."""
    named = [str(_SYSTEM), *map(str, others)]
    # On the wheels of ROS 2, programs find these by their run-time path: no other variable does.
    named += [variables.get(one, "") for one in ("TAKT_PREFIX", "TAKT_ROS_WHEELS")]
    for variable in ("AMENT_PREFIX_PATH", "LD_LIBRARY_PATH"):
        named += variables.get(variable, "").split(os.pathsep)
    folders = sorted({Path(one).resolve() for one in named if one and Path(one).is_dir()})
    top = [one for one in folders if not any(other in one.parents for other in folders)]
    return [Share(f"host{number}", folder) for number, folder in enumerate(top)]


def environment(profile: Path) -> tuple[tuple[str, str], ...]:
    """What a program on ROS 2 sees in the guest."""
    base = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    variables = transport.fast_dds(profile)
    return tuple(sorted(transport.environment(variables, 0, base).items()))


def measured(one: Planned, out: Path, folder: Path, numbers: str, found: Stacks) -> Cell:
    """The cell, with its samples stored in the run folder; ``out`` has what the guest left."""
    cell = one.cell.model_copy(update={"notes": [], "error": None, "probes": []})
    log = out / f"{one.job.name}.log"
    here = [
        replace(
            program,
            result=out / program.result.name,
            stderr=log,
            samples=out / program.samples.name if program.samples else None,
            more_samples=[out / each.name for each in program.more_samples],
        )
        for program in one.programs
    ]
    code = _code(_code_file(one, out))
    end = End.done if code == 0 else End.timeout if code == TIMED_OUT else End.died
    one_cell.judge(cell, here, end, here[-1])
    recorded = [file for each in here for file in each.recordings]
    capability = found[cell.stack].capability(cell.kind, cell.transport)
    add_measured(cell, recorded, folder, reports=capability is not None and capability.reports)
    cell.notes.append(Note(what=numbers, why="measured in a virtual machine by takt lab"))
    return cell


def undone(each: Sequence[Planned], *outs: Path) -> list[Planned]:
    """Those that guests have not measured whole; ``outs``: what each guest left, the pinger first.

    Marks of what is to be measured once more are removed.
    """
    todo = [
        one
        for one in each
        if not all(is_kept(one, out) for out in outs) or _code(_code_file(one, outs[0])) != 0
    ]
    for one in todo:
        for out in outs:
            _mark(one, out).unlink(missing_ok=True)
    return todo


def is_kept(one: Planned, out: Path) -> bool:
    """Whether all that a guest left of it is there, and its load lasted."""
    return _mark(one, out).exists()


def _mark(one: Planned, out: Path) -> Path:
    return out / f"{one.job.name}{KEPT}"


def _code_file(one: Planned, out: Path) -> Path:
    return out / f"{one.job.name}.code"


def _code(file: Path) -> int | None:
    try:
        return int(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def early(jobs: Sequence[Planned]) -> list[Path]:
    """The programs that are measured before anything of the host is mounted."""
    return sorted({Path(one.job.commands[-1][0]) for one in jobs if not one.job.from_host})


def have_second_host(jobs: Sequence[Planned]) -> bool:
    """Whether the guest needs one inside itself."""
    return any(THERE in one.cell.hosts for one in jobs)
