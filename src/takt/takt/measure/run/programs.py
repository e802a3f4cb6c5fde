# SPDX-License-Identifier: Apache-2.0
"""The programs of a cell: its probes, each on its host, and the nodes that talk meanwhile."""

from __future__ import annotations

import socket
from pathlib import Path

from takt.measure.results.model import Cell
from takt.measure.run.context import Context
from takt.processes import namespace, recording, transport
from takt.processes.namespace import Link
from takt.processes.stacks import Stack, of_role
from takt.processes.supervision import Program

RAW_PORT = 7400


def probes(
    cell: Cell, stack: Stack, place: Path, context: Context, limit_s: float, link: Link | None
) -> tuple[dict[str, str], list[Program]]:
    """Those that measure, and the middleware's profiles of those that are here."""
    here = there = transport.LOOPBACK
    if link and not cell.simulated:
        here, there = link.addresses
    profiles = _profiles(cell, stack, context, here, there)
    topic = _topic(cell, context.scratch.run_id, link)
    made = _commands(cell, stack, place, context, limit_s, topic)
    if link and cell.simulated:
        for one in made:
            one.command += ["--interface", link.interface]
    elif link:
        profiles_there = _profiles(cell, stack, context, there, here)
        for one in made:
            if _host(cell, one.role) == namespace.THERE:
                one.command = link.inside(one.command)
                one.environment = profiles_there
    return profiles, made


def _commands(
    cell: Cell, stack: Stack, place: Path, context: Context, limit_s: float, topic: str
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
        "topic": topic,
        "reliability": cell.reliability,
        "depth": cell.depth,
        "start-delay-ns": round(cell.start_delay_us * 1000),
        "wait": cell.wait,
    }
    if cell.kind == "timer-oneshot":
        options["timeout-ns"] = options.pop("period-ns")
    if cell.late != "at_once":
        options["late"] = cell.late
    if cell.cpu:
        options["cpu"] = ",".join(map(str, cell.cpu))
    if cell.kind == "ethercat":
        options["slaves"] = cell.slaves
        options |= {"interface": cell.interface} if cell.interface else {}
        options |= {"cpu": cell.cpu[0]} if cell.cpu else {}
    made = []
    for number, role in enumerate(roles(cell, stack)):
        name = f"{cell.id}-s{number}" if cell.subscribers > 1 else cell.id
        recorded = place / f"{name}{recording.SUFFIX}" if records(role) else None
        result = context.scratch.folder / f"{cell.id}.{number}.json"
        for old in (result, recorded):  # of an attempt before
            if old is not None:
                old.unlink(missing_ok=True)
        command = [str(stack.probe_of(role)), cell.kind, "--role", role, "--result", str(result)]
        for option, value in options.items():
            command += [f"--{option}", str(value)]
        if recorded is not None:
            command += ["--samples", str(recorded)]
        stderr = context.scratch.folder / f"{cell.id}.{number}.stderr"
        made.append(Program(role, command, result, stderr, recorded))
    return made


def talkers(cell: Cell, stack: Stack, context: Context, limit_s: float) -> list[Program]:
    """Pairs of nodes that talk to each other meanwhile; normal processes, recording nothing."""
    made = []
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
            command = [str(stack.probe_of(role)), "pubsub"]
            for option, value in options.items():
                command += [f"--{option}", str(value)]
            stderr = context.scratch.folder / f"{name}.stderr"
            made.append(Program(f"talker's {role}", command, result, stderr, background=True))
    return made


def roles(cell: Cell, stack: Stack) -> list[str]:
    """One for each process of the cell, in the order in which they start."""
    capability = stack.capability(cell.kind, cell.transport)
    each = capability.roles if capability else ["both"]
    return [role for role in each for _ in range(cell.subscribers if role == "subscriber" else 1)]


def records(role: str) -> bool:
    """Whether it writes a sample file."""
    return role in {"both", "ping", "subscriber"}


def _profiles(cell: Cell, stack: Stack, context: Context, own: str, peer: str) -> dict[str, str]:
    """Those of the processes that have this address, by the names of their variables."""
    file = context.scratch.folder / f"{cell.id}.{own}.xml"
    participants = len(roles(cell, stack)) + 2 * cell.talkers + 1
    payload = cell.payload_bytes
    text = transport.profile(cell.transport, payload, participants, own=own, peer=peer)
    file.write_text(text, encoding="utf-8")
    cyclone = transport.cyclone(payload, participants, own=own, peer=peer)
    services = context.scratch.folder / f"iceoryx{cell.order}"  # short: it is in names of sockets
    return {
        transport.PROFILE: str(file),
        transport.CYCLONE: cyclone,
        transport.RUST: own,
        transport.ICEORYX: str(services),
    }


def _host(cell: Cell, role: str) -> str:
    return of_role(cell.host.split(","), role)


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
