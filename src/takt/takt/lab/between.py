# SPDX-License-Identifier: Apache-2.0
"""Two guests of one kernel at once, the tests between them, and an ordinary run folder of these."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from math import sqrt
from pathlib import Path
from typing import Any

from takt import __version__
from takt.doctor.fingerprint import fingerprint
from takt.documents.writing import check_room, write_bytes, write_text
from takt.errors import Failure
from takt.lab import cable, cells, compare, guest, host_jobs, hosts, initramfs, network_threads
from takt.lab.cells import Planned
from takt.lab.guest import Boot, Share
from takt.lab.host_jobs import Host
from takt.lab.hosts import COMPONENT, CONTROLLER
from takt.lab.hosts_model import DOCUMENT, Hosts, HostsTest
from takt.lab.hosts_verdict import compared, headline, late_shares
from takt.lab.kernels import Kernel
from takt.lab.modes import WAYS, Mode
from takt.machine.preemption import preemption_model
from takt.machine.system import System
from takt.measure.conditions.load import STRESS_NG
from takt.measure.conditions.traffic import IPERF3, LEAST
from takt.measure.experiment.model import normalised
from takt.measure.results import store
from takt.measure.results.model import Cell, Conditions, Note, Run, Status, TunedPlace
from takt.network import stacks
from takt.processes import scratch
from takt.processes.signals import stopping
from takt.processes.supervision import Stop

# What busybox lacks, too.
PROGRAMS = (STRESS_NG, IPERF3, "chrt", "nice")


@dataclass(frozen=True)
class Asked:
    """What is to be measured."""

    mode: Mode
    samples: int  # round trips of each test
    rounds: int
    mbps: int  # of traffic, each way
    limit_s: float  # in the host's time
    seed: int = 1
    stack: str = "raw"  # or rcl
    transport: str = "udp"  # or xdp


def measure(kernel: Kernel, asked: Asked, folder: Path, announce: Callable[[str], None]) -> Hosts:
    """Boots both guests and measures; no process and nothing in memory is left at the end.

    Raises Failure where a guest cannot be booted, panics or hangs; Ctrl-C ends it as a Failure.
    """
    folder.mkdir(parents=True, exist_ok=True)
    check_room(folder, "free space there, or choose another folder: --out")
    stop = Stop()
    with scratch.temporary() as place, stopping(stop):
        try:
            return _measure(kernel, asked, folder, place, stop, announce)
        except KeyboardInterrupt:
            raise Failure("the measurement was stopped") from None


def _measure(
    kernel: Kernel,
    asked: Asked,
    folder: Path,
    place: Path,
    stop: Stop,
    announce: Callable[[str], None],
) -> Hosts:
    began, started = time.monotonic(), datetime.now(timezone.utc)
    experiment, planned = hosts.experiment(
        asked.samples, asked.mbps, asked.rounds, asked.stack, asked.transport
    )
    out, ends = place / "out", cable.ends(place)
    out.mkdir()
    store.create(folder)
    tests, profiles = hosts.planned(planned, ends, place)
    names = (CONTROLLER, COMPONENT)
    both = [Host(*each, out) for each in zip(names, ends, reversed(ends), strict=True)]

    def boot(host: Host) -> None:
        booted = _boot(kernel, asked, host, tests, profiles, folder, place)
        steps = announce if host.name == CONTROLLER else None
        guest.run(booted, asked.limit_s, stop, steps)

    announce(f"two guests with {kernel.release} start")
    compare.all_of(both, boot, len(both), stop)
    machine = compare.machine_of(kernel, out / CONTROLLER)
    model, _ = preemption_model(machine)
    done = [cell_of(one, out, folder, asked.mode, f"{kernel.release} {model}") for one in tests]
    found = [_test(cell, out) for cell in done]
    _write_run(done, experiment, asked, folder, started, machine)
    result = Hosts(
        mode=asked.mode,
        numbers=WAYS[asked.mode].numbers,
        kernel=f"{kernel.release} {model}",
        deadline_us=done[0].deadline_us,
        traffic_mbps=asked.mbps,
        seed=asked.seed,
        seconds=round(time.monotonic() - began, 1),
        tests=found,
        late=late_shares(found),
        results=str(folder),
        compared=compared(found),
        headline=headline(found, asked.mode),
    )
    write_text(folder / DOCUMENT, result.model_dump_json(indent=1) + "\n")
    return result


def _boot(
    kernel: Kernel,
    asked: Asked,
    host: Host,
    tests: Sequence[Planned],
    profiles: Mapping[str, str],
    folder: Path,
    place: Path,
) -> Boot:
    shares = [Share("out", host.out, writable=True)]
    if any(one.job.from_host for one in tests):
        shares += cells.shares()
    init = host_jobs.init(host, tests, shares)
    programs = [*compare.measured_programs(PROGRAMS), *cells.early(tests)]
    wanted = (*initramfs.WANTED, cable.MODULE)
    image = place / f"{host.name}.initramfs"
    write_bytes(image, initramfs.build(kernel.modules, init, programs, profiles, wanted))
    console = folder / f"console-{host.name}.log"
    seed = asked.seed + host.end.number - 1  # two machines do not do the same by chance
    return Boot(kernel, asked.mode, image, console, shares, seed=seed, cable=host.end)


def cell_of(one: Planned, out: Path, folder: Path, mode: Mode, kernel: str) -> Cell:
    """The cell as any other one, with what both guests say of its conditions."""
    here = out / CONTROLLER
    pong = one.programs[0].result.name
    if (out / COMPONENT / pong).is_file():
        shutil.copyfile(out / COMPONENT / pong, here / pong)
    cell = cells.measured(one, here, folder, WAYS[mode].numbers, stacks.find())
    cell.notes.append(Note(what=f"both guests run {kernel}", why="one kernel, booted twice"))
    cell.conditions = Conditions()
    received = []
    for host in (CONTROLLER, COMPONENT):
        before, after = _counts(out, host, cell)
        received.append(network_threads.traffic_mbps(before, after, cell.sent, cell.payload_bytes))
        found = cell.conditions.of(host)
        found.tuned = [
            TunedPlace(setting=setting, where=thread, before=usual, now=now)
            for thread, (now, _, _) in after.threads.items()
            for setting, usual in [host_jobs.usual(thread)]
            if now != usual
        ]
        found.tuned_places = len(found.tuned)
    if cell.traffic_mbps:
        back, there = (round(one, 3) for one in received)
        cell.conditions.traffic_there_mbps, cell.conditions.traffic_back_mbps = there, back
        # Each guest counts by its own clock. How far these differ is in one way as a factor, in the
        # other one as its inverse.
        if cell.error is None and sqrt(there * back) < LEAST * cell.traffic_mbps:
            why = f"{there:.3g} Mbit/s reached the second host, {back:.3g} Mbit/s the first"
            why += "".join(f"; {host}: {_said(out / host)}" for host in (CONTROLLER, COMPONENT))
            what = f"the traffic did not reach {cell.traffic_mbps:g} Mbit/s"
            cell.status, cell.error = Status.failed, Note(what=what, why=why)
    return cell


def _said(out: Path) -> str:
    """The last words of iperf3."""
    return guest.console_text(out / host_jobs.TRAFFIC_LOG).strip()[-200:] or "no message"


def _counts(out: Path, host: str, cell: Cell) -> tuple[network_threads.Counts, ...]:
    return tuple(
        network_threads.read(out / host / f"{cell.id}.{when}.counts")
        for when in ("before", "after")
    )


def _test(cell: Cell, out: Path) -> HostsTest:
    conditions = cell.conditions or Conditions()
    threads = [
        thread
        for host in (CONTROLLER, COMPONENT)
        for thread in network_threads.between(host, *_counts(out, host, cell))
    ]
    found = cell.statistics
    return HostsTest(
        test=cell.label,
        cell=cell.id,
        sent=cell.sent,
        late=cell.lost + (found.exceedance.exceeded if found else 0),
        lost=cell.lost,
        p50_us=cell.p50_us,
        p99_us=cell.p99_us,
        max_us=cell.max_us,
        traffic_there_mbps=conditions.traffic_there_mbps,
        traffic_back_mbps=conditions.traffic_back_mbps,
        threads=threads,
        fault=f"{cell.error.what}: {cell.error.why}" if cell.error else None,
    )


def _write_run(
    done: Sequence[Cell],
    experiment: Any,
    asked: Asked,
    folder: Path,
    started: datetime,
    machine: System,
) -> None:
    numbers = WAYS[asked.mode].numbers
    run = Run(
        name=hosts.NAME,
        status=Status.complete
        if all(one.status is Status.complete for one in done)
        else Status.failed,
        started=started,
        ended=datetime.now(timezone.utc),
        seed=asked.seed,
        experiment=normalised(experiment),
        machine={**fingerprint(machine), "mode": asked.mode.value, "time": numbers},
        versions={"takt": __version__},
        cells=list(done),
    )
    store.write(run, folder)
