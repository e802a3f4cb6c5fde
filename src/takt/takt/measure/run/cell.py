# SPDX-License-Identifier: Apache-2.0
"""One cell: probes started, watched and ended; their recordings stored and summed up."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from takt.errors import Failure
from takt.machine import cpu_quota
from takt.machine.system import System
from takt.measure.conditions import load
from takt.measure.conditions.declared import Declared
from takt.measure.conditions.relay import expected_losses
from takt.measure.conditions.tuned_hosts import TunedHosts, tuned_hosts
from takt.measure.results.model import Cell, Note, ProbeResult, Status
from takt.measure.results.point import SUPPLY
from takt.measure.run import buffers, programs, samples, shared_memory
from takt.measure.run.context import Context
from takt.measure.run.hosts import hosts_of
from takt.measure.run.measured import add_measured
from takt.measure.run.starving import Starving
from takt.measure.run.takers import Takers
from takt.network import addresses, transport
from takt.network.hosts import Hosts
from takt.network.second_path import NoIpv6
from takt.network.stacks import Stack
from takt.network.workers import Gone
from takt.processes import guard, others
from takt.processes.frame import Frame
from takt.processes.scratch import LOADED, remove_from
from takt.processes.supervision import End, Limits, Program

SHARED_MEMORY = "shm"
ONESHOT_LATE_S = 1e-3  # more than one-shot timers are late on average, even on a busy machine
LOSSES_ROOM = 2  # times the replies that a link loses on average
NEVER_FIRED_ROOM = 20  # so many timers may never fire before the cell's time is up


@dataclass(frozen=True)
class _Programs:
    """What runs for one cell, and where."""

    context: Context
    hosts: Hosts
    probes: list[Program]
    talkers: list[Program]
    declared: Declared
    takers: Takers
    environment: dict[str, str]
    limit_s: float  # of the probes

    def end(self) -> None:
        """The last probe has ended, and the load still runs."""
        self.takers.end()
        self.declared.end()


def measure_cell(
    cell: Cell, stack: Stack, context: Context, progress: Callable[[int], None]
) -> tuple[Cell, list[Path]]:
    """Measures one cell; returns it, and the recordings to delete once ``run.json`` has it.

    Whatever the probes do ends up in the cell, and a second host that cannot be made. Raises
    Failure or OSError where there is no space.
    """

    def failed(fault: Note) -> tuple[Cell, list[Path]]:
        return cell.model_copy(update={"status": Status.failed, "error": fault}), []

    with contextlib.ExitStack() as around:
        try:
            hosts = around.enter_context(hosts_of(cell, context))
        except Failure as failure:
            return failed(Note(what=failure.what, why="no second host", fix=failure.fix))
        try:
            settings = around.enter_context(tuned_hosts(cell, hosts, context.scratch.folder))
            if settings.fault:
                return failed(settings.fault)
            quota = around.enter_context(_quota(cell, context))
            started = _programs(cell, stack, context, hosts, settings, quota)
            measured = _supervised(cell, started, progress)
        except (Gone, NoIpv6, cpu_quota.NoQuota) as fault:  # before anything was measured
            return failed(Note(what=fault.what, why=fault.where or "", fix=fault.fix))
        recorded = [file for one in started.probes for file in one.recordings]
        if not context.stop.at_once:  # in a hurry: left in the scratch folder for a resume
            _count(measured, stack, started, recorded)
        settings.record(measured)
    measured.notes += settings.notes  # of the end, too
    return measured, recorded


def _quota(cell: Cell, context: Context) -> contextlib.AbstractContextManager[Path | None]:
    """The control group of a limited load."""
    if not any(map(load.limited, cell.loads.values())):
        return contextlib.nullcontext()
    cpus = load.QUOTA * len(os.sched_getaffinity(0))
    return cpu_quota.quota(context.scratch.folder, cpus)


def _programs(
    cell: Cell,
    stack: Stack,
    context: Context,
    hosts: Hosts,
    settings: TunedHosts,
    quota: Path | None,
) -> _Programs:
    folder = context.scratch.folder
    place = context.scratch.place_for(programs.recorded_bytes(cell, stack))
    limit_s = _limit_s(cell, context.limits)
    profiles, probes = programs.probes(cell, stack, place, context, limit_s, hosts)
    for program in probes if settings.group else []:
        program.environment = program.environment | {guard.GROUP: settings.group}
    return _Programs(
        context,
        hosts,
        probes,
        programs.talkers(cell, stack, context, limit_s),
        Declared(cell, folder, context.folder, hosts, quota),
        Takers(cell),
        transport.environment(profiles, context.domain_of(cell), logs=folder / "log")
        | context.surroundings.get(cell.stack, {}),
        limit_s,
    )


def _supervised(cell: Cell, started: _Programs, progress: Callable[[int], None]) -> Cell:
    """Runs the programs; the cell says how they ended, and what happened meanwhile."""
    context, probes, declared = started.context, started.probes, started.declared
    until = Starving(context.stop, cell, local=not started.hosts.remotes)
    allowed = others.IDLE if load.IDLE in cell.loads.values() else others.USUAL
    hosts = started.hosts

    def ours() -> tuple[float, float | None]:
        spent, at = hosts.spent_here()
        return spent + declared.spent(), at

    frame = Frame(context.journal, until, allowed, ours)
    notes_left = 2  # once it records, everything is mapped: no need to look into it any more

    def tick(pids: list[int], _seconds: float) -> None:
        nonlocal notes_left
        declared.begin()
        recorded = max(one.recorded for one in probes)
        if recorded:  # they have met
            frame.until_met.close()
        if notes_left:  # each time: it may be killed as soon as it has shared memory
            context.journal.note(pids)
            notes_left -= recorded > 0
        started.takers.look(one.process.pid for one in probes if one.process and one.process.pid)
        until.look(recorded, pids, time.monotonic())
        progress(recorded)

    if cell.transport == SHARED_MEMORY:
        frame.until_met.enter_context(addresses.kept())
    end, who = frame.run(
        [*declared.programs, *started.talkers, *probes],
        started.environment,
        started.limit_s + context.limits.term_s,  # the probe's own limit comes first
        context.limits,
        tick,
        measured=started.end,
    )
    remove_from(context.folder, LOADED)
    by_others = frame.disturbances.by_others if started.hosts.one_is_here else None
    taken = [*([by_others] if by_others else []), *declared.taken()]
    measured = cell.model_copy(
        update={
            "started": frame.started,
            "seconds": frame.seconds,
            "steal_seconds": frame.steal_seconds,
            "others_seconds": round(sum(one.seconds for one in taken), 3) if taken else None,
            # What others take of a supply is what it is about.
            "disturbed": cell.kind != SUPPLY and any(one.much for one in taken),
            "notes": list(cell.notes),  # of an earlier attempt that was not readable
            "error": None,
            "conditions": None,
        }
    )
    lost, gone = ([], []) if context.stop.at_once else _bring_home(started.hosts)
    judge(measured, probes, end, who)
    if end in (End.unready, End.died) and who:
        # With a host goes what ran there, and what talked to it.
        of_host = Note(what=gone[0].what, why=who.how_it_ended, fix=gone[0].fix) if gone else None
        _explain(measured, of_host if gone and who.background else declared.missing(who))
    processes = len(probes) + len(started.talkers)
    measured.error = shared_memory.too_small(measured, processes, System()) or measured.error
    measured.notes += [Note(what=what, why=why) for what, why in frame.disturbances.reported]
    measured.notes += [*_fallen_silent(started.talkers, end), *lost]
    return measured


def _count(measured: Cell, stack: Stack, started: _Programs, recorded: list[Path]) -> None:
    """Stores the samples and puts their numbers into the cell."""
    context = started.context
    for one in programs.heard_elsewhere(started.probes, started.hosts):
        samples.to_clock(one, started.declared.add_ns)
    capability = stack.capability(measured.kind, measured.transport)
    reports = capability is not None and capability.reports
    if any(context.scratch.run_folder in one.parents for one in recorded):
        why = "its file system may have delayed the recording thread"
        measured.notes.append(
            Note(what="recorded to the disk", why=why, fix="free space in /dev/shm")
        )
    takers = started.takers
    add_measured(measured, recorded, context.folder, reports=reports, takers=takers)
    if note := buffers.too_small(measured, System()):
        measured.notes.append(note)
    started.declared.judge(measured)


def _explain(measured: Cell, missing: Note | None) -> None:
    """Replaces an error that only follows from a condition or a host that was not there."""
    if missing:
        measured.status, measured.error = Status.failed, missing


def _bring_home(hosts: Hosts) -> tuple[list[Note], list[Gone]]:
    """Fetches what was written on other hosts; what was recorded on a lost one waits there."""
    notes, gone = [], []
    for remote in hosts.remotes:
        try:
            remote.bring_home()
        except (Gone, OSError) as error:
            remote.abandon()
            notes.append(Note(what=f"nothing was fetched from {remote.name}", why=str(error)))
            gone += [error] if isinstance(error, Gone) else []
    return notes, gone


def _limit_s(cell: Cell, limits: Limits) -> float:
    measuring = cell.samples_requested * cell.period_us / 1e6 + cell.start_delay_us / 1e6
    if cell.kind == "timer-oneshot":  # each starts when the one before it has fired, or never will
        measuring = 3 * (measuring + cell.samples_requested * ONESHOT_LATE_S)
        measuring += NEVER_FIRED_ROOM * cell.lost_after_us / 1e6
    waiting = LOSSES_ROOM * expected_losses(cell) * cell.lost_after_us / 1e6
    return measuring + waiting + cell.lost_after_us / 1e6 + limits.start_s


def _fallen_silent(talkers: list[Program], end: End) -> list[Note]:
    """Says which pairs did not talk to the end: a publisher that did was ended by a signal."""
    notes = []
    for publisher in talkers[1::2]:
        try:
            document = json.loads(publisher.result.read_bytes())
        except (OSError, ValueError):
            document = {}
        if document.get("status") != "stopped" and end is End.done:
            why = publisher.last_words() or publisher.how_it_ended
            notes.append(Note(what="a pair of talkers stopped early", why=why))
    return notes


def judge(cell: Cell, probes: list[Program], end: End, who: Program | None) -> None:
    """Sets the status of a cell and its error from how the processes ended and what they say.

    ``end`` is why the watching ended, ``who`` is to blame for it.
    """
    cell.probes = []
    fault: Note | None = None  # of the last role with one: the others only follow it
    for one in probes:
        try:
            document = json.loads(one.result.read_bytes())
            cell.probes.append(ProbeResult.model_validate(document))
        except FileNotFoundError:
            what = f"the {one.title} wrote no result"
            fault = Note(what=what, why=one.last_words() or one.how_it_ended)
        except (OSError, ValueError, ValidationError) as error:
            what = f"the {one.title} wrote a result that cannot be read"
            fault = Note(what=what, why=f"{error}"[:500])
    cell.notes += [note for result in cell.probes for note in result.notes]
    said = next((one.error for one in cell.probes if one.status == "failed" and one.error), None)
    if end is End.stopped:
        cell.status = Status.partial
        return
    if end is End.timeout and who is not None:
        fault = Note(
            what=f"the {who.title} did not end in time",
            why=who.last_words() or "it hung and was terminated",
            fix="its samples so far are kept; increase the duration, or fix the stack",
        )
    elif end is End.died and who is not None:
        words = who.last_words()
        fault = said or Note(
            what=f"the {who.title} died: {who.how_it_ended}", why=words or "no message"
        )
    elif said is not None:
        fault = said
    cell.error = fault
    stopped = any(one.status == "stopped" for one in cell.probes if one.role != "pong")
    cell.status = Status.failed if fault else Status.partial if stopped else Status.complete
