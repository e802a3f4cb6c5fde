# SPDX-License-Identifier: Apache-2.0
"""Two guests of one kernel at once, the tests between them, and an ordinary run folder of these."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from takt import __version__
from takt.doctor.fingerprint import fingerprint
from takt.documents.reading import DOCUMENT_BYTES, read_bytes
from takt.documents.writing import check_room, write_bytes, write_text
from takt.errors import Failure
from takt.lab import cable, cells, compare, guest, host_jobs, hosts, initramfs, left
from takt.lab.cells import Planned
from takt.lab.guest import Boot, Share
from takt.lab.host_jobs import Host
from takt.lab.hosts import CONTROLLER, HOSTS
from takt.lab.hosts_cells import cell_of, result_of
from takt.lab.hosts_model import DOCUMENT, Hosts
from takt.lab.hosts_verdict import compared, headline, late_shares
from takt.lab.kernels import Kernel
from takt.lab.modes import WAYS, Mode
from takt.machine.preemption import preemption_model
from takt.machine.system import System
from takt.measure.conditions.load import STRESS_NG
from takt.measure.conditions.traffic import IPERF3
from takt.measure.experiment.model import normalised
from takt.measure.results import store
from takt.measure.results.model import Cell, Run, Status
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

    Where the same was stopped in this folder, what is measured is kept, and the rest measured now.
    Raises Failure where a guest cannot be booted, panics or hangs; Ctrl-C ends it as a Failure.
    """
    folder.mkdir(parents=True, exist_ok=True)
    check_room(folder, "free space there, or choose another folder: --out")
    earlier = store.read(folder) if (folder / scratch.DOCUMENT).exists() else None
    if not left.begin(folder, asked, kernel=kernel.release):
        return _read(folder / DOCUMENT)
    stop, started = Stop(), earlier.started if earlier else datetime.now(timezone.utc)
    with scratch.temporary() as place, stopping(stop):
        return _Measurement(kernel, asked, folder, place, started).by_both(stop, announce)


def _read(file: Path) -> Hosts:
    try:
        return Hosts.model_validate_json(read_bytes(file, most=DOCUMENT_BYTES))
    except (OSError, ValueError) as error:
        raise Failure(
            f"cannot read the results: {error}", where=str(file), fix="measure into another folder"
        ) from None


class _Measurement:
    """The tests in the results folder, of which some may be done."""

    def __init__(
        self, kernel: Kernel, asked: Asked, folder: Path, place: Path, started: datetime
    ) -> None:
        self._began, self._started = time.monotonic(), started
        self._kernel, self._asked, self._folder, self._place = kernel, asked, folder, place
        self._out = folder.resolve() / left.LEFT  # the guests know it by this path
        self._experiment, each = hosts.experiment(
            asked.samples, asked.mbps, asked.rounds, asked.stack, asked.transport
        )
        ends = cable.ends(place)
        self._tests, self._profiles = hosts.planned(each, ends, place)
        both = zip(HOSTS, ends, reversed(ends), strict=True)
        self._hosts = [Host(*one, self._out) for one in both]

    def by_both(self, stop: Stop, announce: Callable[[str], None]) -> Hosts:
        """Measures what is missing; whatever ends it early, the run has what is finished."""
        self._write()
        try:
            if todo := self._todo():
                announce(f"two guests with {self._kernel.release} start")
                self._boot(todo, stop, announce)
        except (KeyboardInterrupt, Failure) as error:
            done = len(self._tests) - len(self._todo())
            self._write()
            raise _stopped(error, done, len(self._tests), self._folder) from None
        return self._whole()

    def _todo(self) -> list[Planned]:
        return cells.undone(self._tests, *(self._out / name for name in HOSTS))

    def _boot(self, todo: Sequence[Planned], stop: Stop, announce: Callable[[str], None]) -> None:
        for met in self._out.iterdir():
            if met.is_file():
                met.unlink()  # guests that are gone have met there

        def boot(host: Host) -> None:
            asked = self._asked
            booted = _boot(
                self._kernel, asked, host, todo, self._profiles, self._folder, self._place
            )
            steps = announce if host.name == CONTROLLER else None
            guest.run(booted, asked.limit_s, stop, steps)

        compare.all_of(self._hosts, boot, len(self._hosts), stop)

    def _write(self) -> None:
        """The run as it is: what is not finished is still to be measured."""
        todo = {one.cell.id for one in self._todo()}
        done = [one.cell if one.cell.id in todo else self._cell(one) for one in self._tests]
        self._write_run(done, Status.partial)

    def _whole(self) -> Hosts:
        """What guests that did all of it leave."""
        asked, done = self._asked, [self._cell(one) for one in self._tests]
        found = [result_of(cell, self._out) for cell in done]
        failed = any(one.status is not Status.complete for one in done)
        self._write_run(done, Status.failed if failed else Status.complete)
        result = Hosts(
            mode=asked.mode,
            numbers=WAYS[asked.mode].numbers,
            kernel=self._said_kernel,
            deadline_us=done[0].deadline_us,
            traffic_mbps=asked.mbps,
            seed=asked.seed,
            seconds=round(time.monotonic() - self._began, 1),
            tests=found,
            late=late_shares(found),
            results=str(self._folder),
            compared=compared(found),
            headline=headline(found, asked.mode),
        )
        write_text(self._folder / DOCUMENT, result.model_dump_json(indent=1) + "\n")
        shutil.rmtree(self._out)
        return result

    def _cell(self, one: Planned) -> Cell:
        return cell_of(one, self._out, self._folder, self._asked.mode, self._said_kernel)

    @property
    def _machine(self) -> System:
        return compare.machine_of(self._kernel, self._out / CONTROLLER)

    @property
    def _said_kernel(self) -> str:
        return f"{self._kernel.release} {preemption_model(self._machine)[0]}"

    def _write_run(self, done: Sequence[Cell], status: Status) -> None:
        mode = self._asked.mode
        numbers = WAYS[mode].numbers
        run = Run(
            name=hosts.NAME,
            status=status,
            started=self._started,
            ended=datetime.now(timezone.utc),
            seed=self._asked.seed,
            experiment=normalised(self._experiment),
            machine={**fingerprint(self._machine), "mode": mode.value, "time": numbers},
            versions={"takt": __version__},
            cells=list(done),
        )
        store.write(run, self._folder)


def _stopped(error: BaseException, done: int, of: int, folder: Path) -> Failure:
    """What ended it early, and how to go on."""
    again = f"the same command with --out {shlex.quote(str(folder))}"
    fix = f"to go on ({done} of {of} tests are measured): {again}"
    if isinstance(error, Failure):
        return Failure(
            error.what, where=error.where, fix=f"{error.fix}; {fix}" if error.fix else fix
        )
    return Failure("the measurement was stopped", fix=fix)


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
