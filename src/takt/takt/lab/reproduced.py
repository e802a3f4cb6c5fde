# SPDX-License-Identifier: Apache-2.0
"""A paper's experiment in guests of several kernels, beside each other on one page.

The papers are plug-ins. One that can be measured there has ``guest_experiment`` (what a guest
measures), ``keep_of_guest`` (what its run answers by itself), ``beside_of_guests`` (all of them on
one page) and ``show_guests``.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from takt import plugins
from takt.documents.writing import check_room
from takt.errors import Failure, TaktError
from takt.lab import cells, guest, jobs, left
from takt.lab.compare import (
    Asked,
    Content,
    all_of,
    at_once,
    boot,
    machine_of,
    measured_programs,
    run_of,
)
from takt.lab.kernels import Kernel
from takt.lab.modes import WAYS, Mode
from takt.measure.experiment.faults import Machine
from takt.measure.experiment.plan import plan
from takt.measure.results import store
from takt.network import stacks
from takt.processes import scratch
from takt.processes.signals import stopping
from takt.processes.supervision import Stop

PROGRAMS = ("stress-ng",)
MEMORY_BYTES = 1 << 30  # of a guest, for samples


def check(paper: str, mode: Mode) -> Any:
    """The package of a paper; raises TaktError where a guest cannot measure it in this mode."""
    if not WAYS[mode].publishable:
        raise TaktError(
            WAYS[mode].numbers, where=f"--mode {mode.value}", fix="--mode icount, or kvm"
        )
    known = {name: one.load() for name, one in plugins.found(plugins.PAPERS).items()}
    able = {name: one for name, one in known.items() if hasattr(one, "guest_experiment")}
    if paper not in able:
        raise TaktError(
            f"{paper} cannot be measured in a guest", where="PAPER", fix=f"one of {', '.join(able)}"
        )
    return able[paper]


def reproduce(
    paper: str,
    kernels: Sequence[Kernel],
    asked: Asked,
    scale: float,
    folder: Path,
    announce: Callable[[str], None],
) -> Any:
    """Boots each kernel, measures there, and puts the runs on one page.

    Where the same was stopped in this folder, what is measured is kept, and the rest measured now.
    Raises Failure where a guest cannot be booted, panics or hangs; Ctrl-C ends it as a Failure.
    """
    module, stop = check(paper, asked.mode), Stop()
    folder.mkdir(parents=True, exist_ok=True)
    check_room(folder, "free space there, or choose another folder: --out")
    with scratch.temporary() as place, stopping(stop):
        try:
            all_of(
                kernels,
                lambda one: _one(paper, module, one, asked, scale, folder, place, stop, announce),
                at_once(asked.mode),
                stop,
            )
        except KeyboardInterrupt:
            fix = f"to go on: the same command with --out {shlex.quote(str(folder))}"
            raise Failure("the comparison was stopped", fix=fix) from None
    return module.beside_of_guests([folder / one.name for one in kernels], folder, announce)


def _one(
    paper: str,
    module: Any,
    kernel: Kernel,
    asked: Asked,
    scale: float,
    folder: Path,
    place: Path,
    stop: Stop,
    announce: Callable[[str], None],
) -> None:
    started = datetime.now(timezone.utc)
    exchange, own = place / kernel.name, folder / kernel.name
    out = own / left.LEFT
    if not left.begin(own, asked, paper=paper, scale=scale, kernel=kernel.release):
        return
    exchange.mkdir()
    found = stacks.find()
    experiment, source = module.guest_experiment(scale, found, ros=asked.ros)
    planned_cells = plan(
        experiment, source, found, Machine(frozenset({0}), MEMORY_BYTES), seed=asked.seed
    ).cells
    planned, texts = cells.planned(planned_cells, found, exchange)
    content = Content(
        [one.job for one in cells.undone(planned, out)],
        cells.shares() if asked.ros else [],
        [*measured_programs(PROGRAMS), *cells.early(planned)],
        texts,
        out,
        keep=True,
    )
    boot(kernel, asked, own, exchange, content, stop, announce)
    if jobs.NO_LOAD in guest.console_text(own / "console.log"):
        shutil.rmtree(out)  # nobody knows which of them it was beside
        raise Failure("the load ended before the measurement", where=str(own / "console.log"))
    machine = machine_of(kernel, out)
    numbers = WAYS[asked.mode].numbers
    done = [cells.measured(one, out, own, numbers, found) for one in planned]
    run = run_of(paper, experiment, asked, machine, done, started)
    store.write(run, own)
    module.keep_of_guest(run, own, scale, machine, numbers)
    shutil.rmtree(exchange)
    shutil.rmtree(out)
