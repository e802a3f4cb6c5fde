# SPDX-License-Identifier: Apache-2.0
"""One cell: probes started, watched and ended; their recordings stored and summed up."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

from pydantic import ValidationError

from takt.errors import Failure
from takt.machine.system import System
from takt.measure.conditions import load
from takt.measure.conditions.declared import Declared
from takt.measure.conditions.relay import expected_losses
from takt.measure.conditions.tuned import Tuned, cores_of, tuned
from takt.measure.results.model import SUPPLY, Cell, Conditions, Note, ProbeResult, Status
from takt.measure.run import buffers, programs, samples, shared_memory
from takt.measure.run.context import Context
from takt.measure.run.hosts import hosts_of
from takt.measure.run.measured import add_measured
from takt.measure.run.starving import Starving
from takt.measure.run.takers import Takers
from takt.network import addresses, transport
from takt.network.hosts import Hosts
from takt.network.stacks import Stack
from takt.network.workers import Gone
from takt.processes import guard, others, supervision
from takt.processes.disturbances import Disturbances
from takt.processes.leftovers import present, sweep_since
from takt.processes.scratch import LOADED, remove_from
from takt.processes.stolen import steal_seconds
from takt.processes.supervision import End, Limits, Program

SHARED_MEMORY = "shm"
ONESHOT_LATE_S = 1e-3  # more than one-shot timers are late on average, even on a busy machine
LOSSES_ROOM = 2  # times the replies that a link loses on average
NEVER_FIRED_ROOM = 20  # so many timers may never fire before the cell's time is up


def measure(
    cell: Cell, stack: Stack, context: Context, progress: Callable[[int], None]
) -> tuple[Cell, list[Path]]:
    """Measures one cell; returns it, and the recordings to delete once ``run.json`` has it.

    Whatever the probes do ends up in the cell, and a second host that cannot be made. Raises
    Failure or OSError where there is no space.
    """
    with contextlib.ExitStack() as around:
        try:
            hosts = around.enter_context(hosts_of(cell, context))
        except Failure as failure:
            fault = Note(what=failure.what, why="no second host", fix=failure.fix)
            return cell.model_copy(update={"status": Status.failed, "error": fault}), []
        cores, scratch = cores_of(cell), context.scratch.folder
        settings = around.enter_context(tuned(cell.tuned, cores, scratch))
        if settings.fault:
            failed = {"status": Status.failed, "error": settings.fault}
            return cell.model_copy(update=failed), []
        try:
            measured, recorded = _measure(cell, stack, context, progress, hosts, settings)
        except Gone as gone:  # before anything was measured
            fault = Note(what=gone.what, why=gone.where or "", fix=gone.fix)
            return cell.model_copy(update={"status": Status.failed, "error": fault}), []
        if settings.changed:
            measured.conditions = measured.conditions or Conditions()
            measured.conditions.tuned_places = settings.changed
            measured.conditions.tuned = settings.places
    measured.notes += settings.notes  # of the end, too
    return measured, recorded


def _measure(
    cell: Cell,
    stack: Stack,
    context: Context,
    progress: Callable[[int], None],
    hosts: Hosts,
    settings: Tuned,
) -> tuple[Cell, list[Path]]:
    place = context.scratch.place_for(programs.recorded_bytes(cell, stack))
    limit_s = _limit_s(cell, context.limits)
    talkers = programs.talkers(cell, stack, context, limit_s)
    declared = Declared(cell, context.scratch.folder, context.folder, hosts)
    profiles, probes = programs.probes(cell, stack, place, context, limit_s, hosts)
    for program in probes if settings.group else []:
        program.environment = program.environment | {guard.GROUP: settings.group}
    started, clock, stolen = datetime.now(timezone.utc), time.monotonic(), steal_seconds()
    until = Starving(context.stop, cell, local=not hosts.remotes)
    disturbed = Disturbances(others.IDLE if cell.load == load.IDLE else others.USUAL)
    before, takers, start = present(), Takers(cell), contextlib.ExitStack()
    notes_left = 2  # once it records, everything is mapped: no need to look into it any more

    def tick(pids: list[int]) -> None:
        nonlocal notes_left
        declared.begin()
        recorded = max(one.recorded for one in probes)
        if recorded:  # they have met
            start.close()
        if notes_left:  # each time: it may be killed as soon as it has shared memory
            context.journal.note(pids)
            notes_left -= recorded > 0
        disturbed.look()
        takers.look()
        until.look(recorded, pids, time.monotonic())
        progress(recorded)

    with start:
        if cell.transport == SHARED_MEMORY:
            start.enter_context(addresses.kept())
        end, who = supervision.supervise(
            [*declared.programs, *talkers, *probes],
            transport.environment(profiles, context.domain, logs=context.scratch.folder / "log")
            | context.surroundings.get(cell.stack, {}),
            limit_s + context.limits.term_s,  # the probe's own limit comes first
            until,
            context.limits,
            tick,
            _at_end(disturbed, declared, takers),
        )
    measured = cell.model_copy(
        update={
            "started": started,
            "seconds": round(time.monotonic() - clock, 3),
            "steal_seconds": round(steal_seconds() - stolen, 3),
            "others_seconds": disturbed.by_others.seconds if disturbed.by_others else None,
            # What others take of a supply is what it is about.
            "disturbed": cell.kind != SUPPLY
            and bool(disturbed.by_others and disturbed.by_others.much),
            "notes": list(cell.notes),  # of an earlier attempt that was not readable
            "error": None,
            "conditions": None,
        }
    )
    remove_from(context.folder, LOADED)
    context.journal.sweep()
    sweep_since(before)
    lost = [] if context.stop.at_once else _bring_home(hosts)
    judge(measured, probes, *((End.timeout, probes[-1]) if until.is_over else (end, who)))
    _find_cause(measured, declared, end, who, len(probes) + len(talkers))
    disturbed.end()
    measured.notes += [Note(what=what, why=why) for what, why in disturbed.told]
    measured.notes += [*_fallen_silent(talkers, end), *lost]
    if context.scratch.run_folder in place.parents:
        why = "its file system may have delayed the recording thread"
        measured.notes.append(
            Note(what="recorded to the disk", why=why, fix="free space in /dev/shm")
        )
    recorded = [file for one in probes for file in one.recordings]
    if not context.stop.at_once:  # in a hurry: left in the scratch folder for a resume
        for one in programs.heard_elsewhere(probes, hosts):
            samples.to_clock(one, declared.add_ns)
        capability = stack.capability(cell.kind, cell.transport)
        reports = capability is not None and capability.reports
        add_measured(measured, recorded, context.folder, reports=reports, takers=takers)
        if note := buffers.too_small(measured, System()):
            measured.notes.append(note)
        declared.judge(measured)
    return measured, recorded


def _at_end(disturbed: Disturbances, declared: Declared, takers: Takers) -> Callable[[], None]:
    """What happens when the last probe has ended, and the load still runs."""

    def ended() -> None:
        disturbed.measured()
        takers.end()
        declared.end()

    return ended


def _find_cause(
    measured: Cell, declared: Declared, end: End, who: Program | None, processes: int
) -> None:
    """Replaces an error that only follows from another one."""
    if end in (End.unready, End.died) and who and (missing := declared.missing(who)):
        measured.status, measured.error = Status.failed, missing
    measured.error = shared_memory.too_small(measured, processes, System()) or measured.error


def _bring_home(hosts: Hosts) -> list[Note]:
    """Fetches what was written on other hosts; what was recorded on a lost one waits there."""
    notes = []
    for remote in hosts.remotes:
        try:
            remote.bring_home()
        except (Gone, OSError) as error:
            remote.abandon()
            notes.append(Note(what=f"nothing was fetched from {remote.name}", why=str(error)))
    return notes


def _limit_s(cell: Cell, limits: Limits) -> float:
    measuring = cell.samples_asked * cell.period_us / 1e6 + cell.start_delay_us / 1e6
    if cell.kind == "timer-oneshot":  # each starts when the one before it has fired, or never will
        measuring = 3 * (measuring + cell.samples_asked * ONESHOT_LATE_S)
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
