# SPDX-License-Identifier: Apache-2.0
"""The programs of a cell: its probes, each on its host, and the nodes that talk meanwhile."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from takt.measure.results.model import Cell
from takt.measure.results.point import SUPPLY
from takt.measure.run import samples
from takt.measure.run.context import Context
from takt.network import ros_system, shaping, transport
from takt.network.dds_threads import DdsThreads
from takt.network.hosts import Hosts
from takt.network.stacks import Stack
from takt.network.workers import Remote
from takt.processes import recording
from takt.processes.supervision import Program

GAPS = "-supply"  # ends the name of the recording of gaps


def probes(
    cell: Cell, stack: Stack, place: Path, context: Context, limit_s: float, hosts: Hosts
) -> tuple[dict[str, str], list[Program]]:
    """Those that measure, and the middleware's profiles of those that are here."""
    options = _options(cell, limit_s, _topic(cell, context.scratch.run_id, hosts), hosts)
    profiles: dict[str, str] = {}
    commands = []
    for number, role in enumerate(roles(cell, stack)):
        side, folder = hosts.of(role), context.scratch.folder
        name = f"{cell.id}-s{number}" if cell.subscribers > 1 else cell.id
        program = Program(
            role,
            [],
            result=folder / f"{cell.id}.{number}.json",
            stderr=folder / f"{cell.id}.{number}.stderr",
            samples=place / f"{name}{recording.SUFFIX}" if records(role) else None,
        )
        program.more_samples = [
            place / f"{name}-t{thread}{recording.SUFFIX}" for thread in range(1, cell.threads)
        ]
        if cell.kind == SUPPLY:
            program.more_samples = [place / f"{name}{GAPS}{recording.SUFFIX}"]
        # Of an attempt before.
        for old in (program.result, program.samples, program.stderr, *program.more_samples):
            if old is not None:
                old.unlink(missing_ok=True)
        if side.remote:
            _send(side.remote, program, cell, stack, options, context, hosts)
        else:
            peer, domain = hosts.other(role).address, context.domain_of(cell)
            own, files = profiles_of(cell, stack, folder, side.address, peer, domain)
            for file, text in files.items():
                Path(file).write_text(text, encoding="utf-8")
            command = [*stack.start(role), *_arguments(cell, program, options)]
            program.command = side.link.inside(command) if side.link else command
            if side.link:
                program.environment = own
            else:
                profiles = own
        commands.append(program)
    return profiles, commands


def _send(
    remote: Remote,
    program: Program,
    cell: Cell,
    stack: Stack,
    options: dict[str, object],
    context: Context,
    hosts: Hosts,
) -> None:
    """Makes a program one of another host; what it writes there has a place here."""
    folder, role = Path(remote.folder), program.role
    there = replace(
        program, result=folder / program.result.name, stderr=folder / program.stderr.name
    )
    home = {str(there.stderr): program.stderr, str(there.result): program.result}
    if program.samples:
        need = samples.needed_bytes(cell.samples_requested)
        there.samples = Path(remote.ask("place_for", need=need)) / program.samples.name
        home[str(there.samples)] = program.samples
    own, other = hosts.of(role).address, hosts.other(role).address
    profiles, files = profiles_of(cell, stack, folder, own, other, context.domain_of(cell))
    probe = remote.ask("program", stack=stack.name, role=role)
    program.command = [*probe, *_arguments(cell, there, options)]
    program.launch = partial(
        remote.launch,
        program.command,
        files=files,
        profiles=profiles,
        domain=context.domain_of(cell),
        home=home,
        stderr=str(there.stderr),
        samples=str(there.samples) if there.samples else None,
    )


def _options(cell: Cell, limit_s: float, topic: str, hosts: Hosts) -> dict[str, object]:
    options: dict[str, object] = {
        "transport": cell.transport,
        "payload-bytes": cell.payload_bytes,
        "period-ns": cell.period_ns,
        "count": cell.samples_requested,
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
    if cell.executor:
        options["executor"] = cell.executor
    if cell.threads > 1:
        options |= {"threads": cell.threads, "distance-ns": round(cell.distance_us * 1000)}
    if cell.content != "bytes":
        options["content"] = cell.content
    if cell.durability != "volatile":
        options["durability"] = cell.durability
    if cell.history != "keep_last":
        options["history"] = cell.history
    if cell.queue == shaping.OWN:
        options["dscp"] = shaping.DSCP
    if cell.late != "at_once":
        options["late"] = cell.late
    options |= {"allocator": cell.allocator} if cell.allocator != "heap" else {}
    options |= {"dds-priority": cell.dds_priority} if cell.dds_priority else {}
    if cell.cpu:
        options["cpu"] = ",".join(map(str, cell.cpu))
    if cell.kind == "ethercat":
        options["slaves"] = cell.slaves
        options |= {"interface": cell.interface} if cell.interface else {}
        options |= {"cpu": cell.cpu[0]} if cell.cpu else {}
    if cell.simulated and hosts.link:
        options["interface"] = hosts.link.interface
    return options


def _arguments(cell: Cell, program: Program, options: dict[str, object]) -> list[str]:
    arguments = [cell.kind, "--role", program.role, "--result", str(program.result)]
    for option, value in options.items():
        arguments += [f"--{option}", str(value)]
    for file in (program.samples, *program.more_samples):
        option = "--gaps" if file in program.more_samples and cell.kind == SUPPLY else "--samples"
        arguments += [option, str(file)] if file is not None else []
    return arguments


def talkers(cell: Cell, stack: Stack, context: Context, limit_s: float) -> list[Program]:
    """Pairs of nodes that talk to each other meanwhile; normal processes, recording nothing."""
    commands = []
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
            command = [*stack.start(role), "pubsub"]
            for option, value in options.items():
                command += [f"--{option}", str(value)]
            stderr = context.scratch.folder / f"{name}.stderr"
            commands.append(Program(f"talker's {role}", command, result, stderr, background=True))
    return commands


def roles(cell: Cell, stack: Stack) -> list[str]:
    """One for each process of the cell, in the order in which they start."""
    capability = stack.capability(cell.kind, cell.transport)
    each = capability.roles if capability else ["both"]
    return [role for role in each for _ in range(cell.subscribers if role == "subscriber" else 1)]


def records(role: str) -> bool:
    """Whether it writes a sample file."""
    return role in {"both", "ping", "subscriber"}


def recorded_bytes(cell: Cell, stack: Stack) -> int:
    """What the recordings of a cell take while it is measured."""
    recorders = cell.threads * sum(map(records, roles(cell, stack)))
    needed = samples.needed_bytes(cell.samples_requested) * recorders
    if cell.kind == SUPPLY:
        needed += samples.gap_bytes(cell.samples_requested, round(cell.period_us * 1000))
    return needed


def heard_elsewhere(probes: list[Program], hosts: Hosts) -> list[Path]:
    """The recordings whose stamps of receiving are of another host than those of sending."""
    if not hosts.remotes:
        return []
    found = [one.samples for one in probes if one.role == "subscriber" and one.samples]
    return [path for path in found if path.exists()]


def profiles_of(
    cell: Cell, stack: Stack, folder: Path, own: str, peer: str, domain: int
) -> tuple[dict[str, str], dict[str, str]]:
    """Of the processes that have this address: variables by name, and the files they name."""
    file = str(folder / f"{cell.id}.{own}.xml")
    participants = len(roles(cell, stack)) + 2 * cell.talkers + 1
    if cell.within is not None:  # theirs come first: ours have higher ids
        participants += ros_system.participants(cell.within)
    payload = cell.payload_bytes
    threads = DdsThreads.of(cell.scheduling, cell.dds_priority)
    text = transport.profile(
        cell.transport, payload, participants, own=own, peer=peer, threads=threads
    )
    services = folder / f"iceoryx{cell.order}"  # short: it is in names of sockets
    variables = {
        **transport.fast_dds(file),
        transport.CYCLONE: transport.cyclone(
            payload, participants, own=own, peer=peer, threads=threads
        ),
        transport.RUST: own,
        transport.RUST_BUFFER: str(transport.receive_buffer(payload)),
        transport.ICEORYX: str(services),
        transport.ZENOH_OWN: own,
        transport.ZENOH_PEER: peer,
        **transport.zenoh(domain, own=own, peer=peer),
    }
    return variables, {file: text}


def _topic(cell: Cell, run_id: str, hosts: Hosts | None = None) -> str:
    """A name that no other run or cell has; for datagrams, an address with a free port."""
    if hosts and cell.stack == "raw" and cell.transport in ("udp", "xdp", shaping.TXTIME):
        return f"{hosts.passive.address}:{hosts.passive.free_port()}"
    return f"takt/run_{run_id}/cell_{cell.order}"
