# SPDX-License-Identifier: Apache-2.0
"""One cell: probes started, watched and ended; their recordings stored and summed up."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from pydantic import ValidationError

from takt.errors import Failure
from takt.measure.conditions.declared import Declared
from takt.measure.results.model import Cell, Note, ProbeResult, Status
from takt.measure.run import samples
from takt.measure.run.measured import add_measured
from takt.processes import namespace, recording, supervision, transport
from takt.processes.disturbances import Disturbances
from takt.processes.leftovers import Journal, present, sweep_since
from takt.processes.namespace import Link
from takt.processes.scratch import LOADED, Scratch
from takt.processes.stacks import Stack
from takt.processes.stolen import steal_seconds
from takt.processes.supervision import End, Limits, Program, Stop

ONESHOT_LATE_S = 1e-3  # more than one-shot timers are late on average, even on a busy machine
RAW_PORT = 7400
NEVER_FIRED_ROOM = 20  # so many timers may never fire before the cell's time is up


@dataclass
class Context:
    """What the cells of a run share."""

    scratch: Scratch
    folder: Path
    domain: int
    journal: Journal
    stop: Stop
    limits: Limits
    surroundings: dict[str, dict[str, str]] = field(default_factory=dict)  # environment by stack


def measure(
    cell: Cell, stack: Stack, context: Context, progress: Callable[[int], None]
) -> tuple[Cell, list[Path]]:
    """Measures one cell; returns it, and the recordings to delete once ``run.json`` has it.

    Whatever the probes do ends up in the cell, and a second host that cannot be made. Raises
    Failure or OSError where there is no space.
    """
    with contextlib.ExitStack() as hosts:
        link = None
        if cell.host != namespace.HERE:
            scratch, bits_per_s = context.scratch, round(cell.link_mbps * 1e6)
            made = namespace.link(scratch.folder, scratch.run_id, context.domain, bits_per_s)
            try:
                link = hosts.enter_context(made)
            except Failure as failure:
                fault = Note(what=failure.what, why="no second host", fix=failure.remedy)
                return cell.model_copy(update={"status": Status.failed, "error": fault}), []
        return _measure(cell, stack, context, progress, link)


def _measure(
    cell: Cell, stack: Stack, context: Context, progress: Callable[[int], None], link: Link | None
) -> tuple[Cell, list[Path]]:
    roles = _roles(cell, stack)
    recorders = [role for role in roles if _records(role)]
    place = context.scratch.place_for(samples.needed_bytes(cell.samples_asked) * len(recorders))
    here, there = link.addresses if link else (transport.LOOPBACK, transport.LOOPBACK)
    profile = _profile(cell, context, len(roles), here, there)
    limit_s = _limit_s(cell, context.limits)
    talkers = _talkers(cell, stack, context, limit_s)
    declared = Declared(cell, context.scratch.folder, context.folder, link)
    probes = _commands(cell, stack, roles, place, context, limit_s, link)
    if link:
        profile_there = str(_profile(cell, context, len(roles), there, here))
        for one in probes:
            if _host(cell, one.role) == namespace.THERE:
                one.command = link.inside(one.command)
                one.environment = {transport.PROFILE: profile_there}
    started, clock, stolen = datetime.now(timezone.utc), time.monotonic(), steal_seconds()
    before, disturbed = present(), Disturbances()
    notes_left = 2  # once it records, everything is mapped: no need to look into it any more

    def tick(pids: list[int]) -> None:
        nonlocal notes_left
        declared.begin()
        recorded = max(recording.progress(one.samples) for one in probes if one.samples)
        if notes_left:  # each time: it may be killed as soon as it has shared memory
            context.journal.note(pids)
            notes_left -= recorded > 0
        disturbed.look()
        progress(recorded)

    end, who = supervision.supervise(
        [*declared.programs, *talkers, *probes],
        transport.environment(profile, context.domain) | context.surroundings.get(cell.stack, {}),
        limit_s + context.limits.term_s,  # the probe's own limit comes first
        context.stop,
        context.limits,
        tick,
        declared.end,
    )
    measured = cell.model_copy(
        update={
            "started": started,
            "seconds": round(time.monotonic() - clock, 3),
            "steal_seconds": round(steal_seconds() - stolen, 3),
            "notes": [],
            "error": None,
            "conditions": None,
        }
    )
    shutil.rmtree(context.folder / LOADED, ignore_errors=True)
    context.journal.sweep()
    sweep_since(before)
    _judge(measured, probes, end, who)
    if end in (End.unready, End.died) and who and (missing := declared.missing(who)):
        measured.status, measured.error = Status.failed, missing
    disturbed.look()
    measured.notes += [Note(what=what, why=why) for what, why in disturbed.told]
    measured.notes += _fallen_silent(talkers, end)
    if context.scratch.run_folder in place.parents:
        why = "its file system may have made the recording thread wait"
        measured.notes.append(
            Note(what="recorded to the disk", why=why, fix="free space in /dev/shm")
        )
    recorded = [one.samples for one in probes if one.samples and one.samples.exists()]
    if not context.stop.at_once:  # in a hurry: left in the scratch folder for a resume
        capability = stack.capability(cell.kind, cell.transport)
        reports = capability is not None and capability.reports
        add_measured(measured, recorded, context.folder, reports=reports)
        declared.judge(measured)
    return measured, recorded


def _profile(cell: Cell, context: Context, roles: int, own: str, peer: str) -> Path:
    """Writes the profile of the processes that have this address."""
    file = context.scratch.folder / f"{cell.id}.{own}.xml"
    text = transport.profile(
        cell.transport, cell.payload_bytes, roles + 2 * cell.talkers + 1, own=own, peer=peer
    )
    file.write_text(text, encoding="utf-8")
    return file


def _roles(cell: Cell, stack: Stack) -> list[str]:
    capability = stack.capability(cell.kind, cell.transport)
    roles = capability.roles if capability else ["both"]
    return [role for role in roles for _ in range(cell.subscribers if role == "subscriber" else 1)]


def _records(role: str) -> bool:
    return role in {"both", "ping", "subscriber"}


def _limit_s(cell: Cell, limits: Limits) -> float:
    measuring = cell.samples_asked * cell.period_us / 1e6 + cell.start_delay_us / 1e6
    if cell.kind == "timer-oneshot":  # each starts when the one before it has fired, or never will
        measuring = 3 * (measuring + cell.samples_asked * ONESHOT_LATE_S)
        measuring += NEVER_FIRED_ROOM * cell.lost_after_us / 1e6
    return measuring + cell.lost_after_us / 1e6 + limits.start_s


def _commands(
    cell: Cell,
    stack: Stack,
    roles: list[str],
    place: Path,
    context: Context,
    limit_s: float,
    link: Link | None,
) -> list[Program]:
    options: dict[str, object] = {
        "transport": cell.transport,
        "payload-bytes": cell.payload_bytes,
        "period-ns": round(cell.period_us * 1000),
        "count": cell.samples_asked,
        "policy": cell.scheduling,
        "priority": cell.priority,
        "lost-after-ns": round(cell.lost_after_us * 1000),
        "time-limit-ns": round(limit_s * 1e9),
        "subscribers": cell.subscribers,
        "topic": _topic(cell, context.scratch.run_id, link),
        "reliability": cell.reliability,
        "depth": cell.depth,
        "start-delay-ns": round(cell.start_delay_us * 1000),
        "wait": cell.wait,
    }
    if cell.kind == "timer-oneshot":
        options["timeout-ns"] = options.pop("period-ns")
    if cell.cpu:
        options["cpu"] = ",".join(map(str, cell.cpu))
    probes = []
    for number, role in enumerate(roles):
        name = f"{cell.id}-s{number}" if cell.subscribers > 1 else cell.id
        recorded = place / f"{name}{recording.SUFFIX}" if _records(role) else None
        result = context.scratch.folder / f"{cell.id}.{number}.json"
        for old in (result, recorded):  # of an attempt before
            if old is not None:
                old.unlink(missing_ok=True)
        command = [str(stack.probe), cell.kind, "--role", role, "--result", str(result)]
        for option, value in options.items():
            command += [f"--{option}", str(value)]
        if recorded is not None:
            command += ["--samples", str(recorded)]
        stderr = context.scratch.folder / f"{cell.id}.{number}.stderr"
        probes.append(Program(role, command, result, stderr, recorded))
    return probes


def _talkers(cell: Cell, stack: Stack, context: Context, limit_s: float) -> list[Program]:
    """Pairs of nodes that talk to each other meanwhile; normal processes, recording nothing."""
    probes = []
    for pair in range(cell.talkers):
        for role in ("subscriber", "publisher"):
            name = f"{cell.id}.talker{pair}.{role}"
            result = context.scratch.folder / f"{name}.json"
            result.unlink(missing_ok=True)
            options: dict[str, object] = {
                "role": role,
                "result": result,
                "transport": cell.transport,
                "payload-bytes": cell.payload_bytes,
                "period-ns": round(cell.talker_period_us * 1000),
                "count": int(limit_s * 1e6 / cell.talker_period_us) + 1,
                "time-limit-ns": round((limit_s + context.limits.term_s) * 1e9),
                "topic": f"{_topic(cell, context.scratch.run_id)}_talker{pair}",
            }
            command = [str(stack.probe), "pubsub"]
            for option, value in options.items():
                command += [f"--{option}", str(value)]
            stderr = context.scratch.folder / f"{name}.stderr"
            probes.append(Program(f"talker's {role}", command, result, stderr, background=True))
    return probes


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
            notes.append(Note(what="a pair of talkers did not talk to the end", why=why))
    return notes


def _host(cell: Cell, role: str) -> str:
    first, _, second = cell.host.partition(",")
    return first if role in {"both", "ping", "publisher"} else second or first


def _topic(cell: Cell, run_id: str, link: Link | None = None) -> str:
    """A name that no other run and no other cell has; for raw UDP, an address with a free port."""
    if cell.stack == "raw" and cell.transport == "udp":
        if link and _host(cell, "pong") == namespace.THERE:
            return f"{link.addresses[1]}:{RAW_PORT}"  # nobody else is there
        address = link.addresses[0] if link else transport.LOOPBACK
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind((address, 0))
            return f"{address}:{free.getsockname()[1]}"
    return f"takt/run_{run_id}/cell_{cell.order}"


def _judge(cell: Cell, probes: list[Program], end: End, who: Program | None) -> None:
    """Sets the status of a cell and its error from how the processes ended and what they say."""
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
            why=who.last_words() or "it hung; it was ended",
            fix="its samples up to then are kept; lengthen the duration, or mend the stack",
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
