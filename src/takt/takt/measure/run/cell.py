# SPDX-License-Identifier: Apache-2.0
"""One cell: probes started, watched and ended; their recordings stored and summed up."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from pydantic import ValidationError

from takt.measure.results.model import Cell, Note, ProbeResult, Status
from takt.measure.run import load, samples
from takt.measure.run.measured import add_measured
from takt.processes import recording, supervision, transport
from takt.processes.disturbances import Disturbances
from takt.processes.leftovers import Journal, present, sweep_since
from takt.processes.scratch import Scratch
from takt.processes.stacks import Stack
from takt.processes.stolen import steal_seconds
from takt.processes.supervision import End, Limits, Program, Stop

ONESHOT_LATE_S = 1e-3  # more than one-shot timers are late on average, even on a busy machine
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

    Whatever the probes do ends up in the cell. Raises Failure or OSError where there is no space.
    """
    roles = _roles(cell, stack)
    recorders = [role for role in roles if _records(role)]
    place = context.scratch.place_for(samples.needed_bytes(cell.samples_asked) * len(recorders))
    profile = context.scratch.folder / f"{cell.id}.xml"
    participants = len(roles) + 2 * cell.talkers + 1
    text = transport.profile(cell.transport, cell.payload_bytes, participants)
    profile.write_text(text, encoding="utf-8")
    limit_s = _limit_s(cell, context.limits)
    talkers = _talkers(cell, stack, context, limit_s)
    around = talkers + load.processes(cell, context.scratch.folder)
    probes = around + _commands(cell, stack, roles, place, context, limit_s)
    started, clock, stolen = datetime.now(timezone.utc), time.monotonic(), steal_seconds()
    before, disturbed = present(), Disturbances()
    notes_left = 2  # once it records, everything is mapped: no need to look into it any more

    def tick(pids: list[int]) -> None:
        nonlocal notes_left
        recorded = max(recording.progress(one.samples) for one in probes if one.samples)
        if notes_left:  # each time: it may be killed as soon as it has shared memory
            context.journal.note(pids)
            notes_left -= recorded > 0
        disturbed.look()
        progress(recorded)

    end, who = supervision.supervise(
        probes,
        transport.environment(profile, context.domain) | context.surroundings.get(cell.stack, {}),
        limit_s + context.limits.term_s,  # the probe's own limit comes first
        context.stop,
        context.limits,
        tick,
    )
    measured = cell.model_copy(
        update={
            "started": started,
            "seconds": round(time.monotonic() - clock, 3),
            "steal_seconds": round(steal_seconds() - stolen, 3),
            "notes": [],
            "error": None,
        }
    )
    context.journal.sweep()
    sweep_since(before)
    _judge(measured, [one for one in probes if not one.background], end, who)
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
    return measured, recorded


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
    cell: Cell, stack: Stack, roles: list[str], place: Path, context: Context, limit_s: float
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
        "topic": _topic(cell, context.scratch.run_id),
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


def _topic(cell: Cell, run_id: str) -> str:
    """A name that no other run and no other cell has; for the raw UDP loopback, a free port."""
    if cell.stack == "raw" and cell.transport == "udp":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            return f"127.0.0.1:{free.getsockname()[1]}"
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
