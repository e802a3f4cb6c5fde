# SPDX-License-Identifier: Apache-2.0
"""The comparison: each kernel is booted once, does all jobs, and leaves an ordinary run folder.

Where it is stopped, the finished kernels are kept, and the same command goes on with the others.
"""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TypeVar

import psutil

from takt import __version__
from takt.doctor.fingerprint import fingerprint
from takt.documents.writing import check_room, write_bytes, write_text
from takt.errors import Failure
from takt.lab import (
    application,
    cells,
    cyclictest,
    guest,
    initramfs,
    jobs,
    judged,
    left,
    second_host,
    trials,
    verdict,
)
from takt.lab.guest import Boot, Share
from takt.lab.kernels import Kernel
from takt.lab.model import DOCUMENT, KernelResult, Lab
from takt.lab.modes import WAYS, Mode
from takt.machine.preemption import preemption_model
from takt.machine.system import System
from takt.measure.experiment.model import Experiment, normalised
from takt.measure.results import store
from takt.measure.results.model import Cell, Run, Status
from takt.processes import scratch
from takt.processes.signals import stopping
from takt.processes.supervision import Stop
from takt.schedule.execution.execute import SUFFIX

FOUND = "kernel.json"  # of a finished kernel, in its run folder
Given = TypeVar("Given")
Found = TypeVar("Found")
PROGRAMS = {"cyclictest": "rt-tests", "hackbench": "rt-tests", "stress-ng": "stress-ng"}


@dataclass(frozen=True)
class Asked:
    """What is to be compared."""

    mode: Mode
    seconds: int  # of each measurement, in the guest's time
    ros: bool  # with ROS 2 over the host's file system
    limit_s: float  # of each guest, in the host's time
    seed: int = 1


def compare(
    kernels: Sequence[Kernel], asked: Asked, folder: Path, announce: Callable[[str], None]
) -> Lab:
    """Boots each kernel and measures; ``announce`` is called with what is done next.

    Where the same was stopped in this folder, finished kernels are not measured again.
    Raises Failure where a guest cannot be booted, panics or hangs, and where the folder is of
    something else; Ctrl-C ends it as a Failure. No process and nothing in memory is left then.
    """
    began, stop = time.monotonic(), Stop()
    folder.mkdir(parents=True, exist_ok=True)
    check_room(folder, "free space there, or choose another folder: --out")  # before hours of boots
    with scratch.temporary() as place, stopping(stop):
        try:
            results = all_of(
                kernels,
                lambda kernel: _one(kernel, asked, folder / kernel.name, place, stop, announce),
                at_once(asked.mode),
                stop,
            )
        except KeyboardInterrupt:
            done = sum((folder / one.name / FOUND).is_file() for one in kernels)
            fix = (
                f"to go on ({done} of {len(kernels)} kernels are measured): "
                f"the same command with --out {shlex.quote(str(folder))}"
            )
            raise Failure("the comparison was stopped", fix=fix) from None
    lab = Lab(
        mode=asked.mode,
        numbers=WAYS[asked.mode].numbers,
        load=jobs.LOAD,
        seed=asked.seed,
        seconds=round(time.monotonic() - began, 1),
        kernels=results,
        stock_over_rt_loaded_max=verdict.ratio(results),
        verdict=verdict.judge(results, asked.mode),
        results=str(folder),
    )
    write_text(folder / DOCUMENT, lab.model_dump_json(indent=1) + "\n")
    return lab


def at_once(mode: Mode) -> int:
    """How many guests may run at the same time, each with a CPU and memory of its own."""
    if not WAYS[mode].side_by_side:
        return 1
    room = int(psutil.virtual_memory().available) // (guest.MEMORY_MB << 20)
    return max(1, min(len(os.sched_getaffinity(0)), room))


def all_of(
    each: Sequence[Given],
    run: Callable[[Given], Found],
    together: int,
    stop: Stop,
) -> list[Found]:
    """The results in the order of what they are of; the first that fails ends the others."""
    with ThreadPoolExecutor(together) as pool:
        under_way = [pool.submit(run, one) for one in each]
        try:
            for one in as_completed(under_way):
                one.result()
        except BaseException:
            for one in under_way:
                one.cancel()
            stop.request()
            raise
        return [one.result() for one in under_way]


def measured_programs(names: Iterable[str] = PROGRAMS) -> list[Path]:
    """What measures and loads the guest; raises Failure where some of it is not installed."""
    found = {name: shutil.which(name) for name in names}
    if missing := [name for name, file in found.items() if file is None]:
        raise Failure(
            f"{', '.join(missing)} is not installed",
            fix="./takt setup lab",
        )
    return [Path(file) for file in found.values() if file]


def _one(
    kernel: Kernel,
    asked: Asked,
    folder: Path,
    place: Path,
    stop: Stop,
    announce: Callable[[str], None],
) -> KernelResult:
    """One kernel: a fresh exchange folder, one boot, and its run folder."""
    file = folder / FOUND
    if not left.begin(folder, asked, kernel=kernel.release):
        return _kept(file)
    file.unlink(missing_ok=True)
    started = datetime.now(timezone.utc)
    exchange = place / kernel.name
    out = exchange / "out"
    out.mkdir(parents=True)
    tried = asked.mode is Mode.functional and kernel.real_time
    disturbances = trials.DISTURBANCES if tried else {}
    experiment, plan, stacks = cells.experiment(
        asked.seconds, ros=asked.ros, disturbances=disturbances
    )
    planned, texts = cells.planned(plan.cells, stacks, exchange, disturbances)
    todo = [jobs.cyclictest(load, asked.seconds) for load in (jobs.IDLE, jobs.LOADED)]
    todo += [one.job for one in planned]
    if asked.ros:
        todo += [application.job(load, asked.seconds) for load in (jobs.IDLE, jobs.LOADED)]
        texts |= application.texts()
    shares: list[Share] = []
    if tried:
        todo.append(trials.asked())
    if asked.ros or tried:
        shares += cells.shares(others=trials.folders() if tried else ())
    programs = [*measured_programs(), *cells.early(planned)]
    content = Content(todo, shares, programs, texts, out)
    if cells.have_second_host(planned):
        network = measured_programs(second_host.PROGRAMS)
        programs += network
        begin = second_host.begin(network)
        content = replace(content, begin=begin, modules=second_host.MODULES)
    boot(kernel, asked, folder, exchange, content, stop, announce)
    machine = machine_of(kernel, out)
    done = [cells.measured(one, out, folder, WAYS[asked.mode].numbers, stacks) for one in planned]
    name = f"{cells.NAME}-{kernel.name}"
    store.write(run_of(name, experiment, asked, machine, done, started), folder)
    result = _result(kernel, asked, folder, out, done, machine)
    if tried:
        result.trials = trials.judged(out, done)
    write_text(file, result.model_dump_json(indent=1) + "\n")
    shutil.rmtree(exchange)
    shutil.rmtree(folder / left.LEFT)
    return result


def _kept(file: Path) -> KernelResult:
    """The result of a kernel that is finished; its folder may have been moved since."""
    try:
        result = KernelResult.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        fix = f"remove {shlex.quote(str(file.parent))}, and give the same command again"
        what = "the result of a finished kernel is damaged"
        raise Failure(what, where=str(file), fix=fix) from None
    return result.model_copy(update={"results": str(file.parent)})


@dataclass(frozen=True)
class Content:
    """What a guest has, and does."""

    todo: Sequence[jobs.Job]
    shares: Sequence[Share]  # besides the folder for what it leaves
    programs: Sequence[Path]
    texts: Mapping[str, str]
    out: Path  # a folder of the host, for what it leaves
    keep: bool = False  # after each job, not only at the end
    begin: str = ""  # lines of its shell, before the first job
    modules: Sequence[str] = ()  # of its kernel, besides those for folders of the host


def boot(
    kernel: Kernel,
    asked: Asked,
    folder: Path,
    exchange: Path,
    content: Content,
    stop: Stop,
    announce: Callable[[str], None],
) -> None:
    """One boot; its console is in ``folder``, and ``exchange`` a scratch folder of it."""
    out, image = content.out, exchange / "initramfs"
    shares = [Share("out", out, writable=True), *content.shares]
    init = jobs.init(content.todo, shares, out, keep=content.keep, begin=content.begin)
    wanted = (*initramfs.WANTED, *content.modules)
    archive = initramfs.build(kernel.modules, init, content.programs, content.texts, wanted)
    write_bytes(image, archive)
    console = folder / "console.log"
    announce(f"{kernel.name}: {kernel.release} starts")
    guest.run(
        Boot(kernel, asked.mode, image, console, shares, seed=asked.seed),
        asked.limit_s,
        stop,
        lambda step: announce(f"{kernel.name}: {step}"),
    )
    image.unlink()


def run_of(
    name: str,
    experiment: Experiment,
    asked: Asked,
    machine: System,
    done: Sequence[Cell],
    started: datetime,
) -> Run:
    """An ordinary run, of a machine that says what its times are."""
    states = {one.status for one in done}
    numbers = WAYS[asked.mode].numbers
    return Run(
        name=name,
        status=Status.failed if states - {Status.complete} else Status.complete,
        started=started,
        ended=datetime.now(timezone.utc),
        seed=asked.seed,
        experiment=normalised(experiment),
        machine={**fingerprint(machine), "mode": asked.mode.value, "time": numbers},
        versions={"takt": __version__},
        cells=list(done),
    )


def machine_of(kernel: Kernel, out: Path) -> System:
    """What the guest has told of itself, read as a machine."""
    root = out / "machine"
    config = kernel.image.with_name("config")
    if config.is_file():
        (root / "boot").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(config, root / "boot" / f"config-{kernel.release}")
    return System(root)


def _result(
    kernel: Kernel, asked: Asked, folder: Path, out: Path, done: Sequence[Cell], machine: System
) -> KernelResult:
    mode = asked.mode
    by_load = {
        load: cyclictest.read(out / f"cyclictest-{load}.json", load, mode)
        for load in (jobs.IDLE, jobs.LOADED)
    }
    latencies = [*by_load.values(), *judged.points(done, mode)]
    for load in by_load if asked.ros else ():
        latencies += application.measured(out, load, mode)
    faults: list[str] = []
    for trace in out.glob(f"*{SUFFIX}"):
        shutil.copyfile(trace, folder / trace.name)
    model, detail = preemption_model(machine)
    if kernel.real_time and model != "PREEMPT_RT":
        raise Failure(f"{kernel.release} reports {model or 'unknown'}, not PREEMPT_RT")
    if jobs.NO_LOAD in guest.console_text(folder / "console.log"):
        faults.append("the load ended before the measurement")
    return KernelResult(
        kernel=kernel.name,
        release=kernel.release,
        mode=asked.mode,
        preemption=f"{model} ({detail})" if detail else model,
        idle_max_us=by_load[jobs.IDLE].max_us or 0.0,
        loaded_max_us=by_load[jobs.LOADED].max_us or 0.0,
        outcome=verdict.of_kernel(latencies, faults),
        latencies=latencies,
        results=str(folder),
        faults=faults,
    )
