# SPDX-License-Identifier: Apache-2.0
"""Starts app_runner for a strict time, in a ROS domain of its own, and keeps its trace."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from takt.documents.units import format_duration
from takt.documents.writing import failure, flush, is_full, no_space
from takt.errors import Failure, TaktError
from takt.network import addresses, stacks, transport
from takt.network.domain import own_domain
from takt.network.sweeper import SWEEPER
from takt.processes import scratch
from takt.processes.frame import Frame
from takt.processes.leftovers import Journal, sweep_dead_runs
from takt.processes.process import MORE_PROCESSES, NO_PROCESS
from takt.processes.signals import stopping
from takt.processes.supervision import End, Limits, Program, Stop
from takt.schedule.application.executors import STOCK_EXECUTORS
from takt.schedule.application.processes import cores_of, hosts_of, refuse_processes
from takt.schedule.application.under import fits
from takt.schedule.execution import apart, quotas
from takt.schedule.execution.model import APPROACHES, RCLCPP, SEPARATE, Execution
from takt.schedule.execution.places import Places, used_domains
from takt.schedule.execution.places import check as check_places
from takt.schedule.execution.programs import OtherPrograms
from takt.schedule.execution.recording import (
    RUNNER,
    UntilItsTime,
    discard,
    parts,
    recording_of,
    refusal,
)
from takt.schedule.model.from_trace import observed
from takt.schedule.trace import file as traces
from takt.schedule.trace import quotas as traced
from takt.schedule.trace.hosts import clocks_of

SUFFIX = ".takttrace"
RUNNER_RCLCPP = "app_runner_rclcpp"
# Discovery and first touch of the messages, by far the most of it with a process for each node.
# A node's process starts and closes without priority: slowly on a loaded machine.
_START_S, _START_S_PER_NODE = 30.0, 3.0
# Behind the duration, once the trace is there, so that all that remains is to run and to end.
_END_S, _END_S_PER_NODE = 10.0, 1.0
_NOTE_EVERY_S = 1.0
_NO_NODE = "cannot create a node"
_FREE_SHM = "free space in /dev/shm (df /dev/shm; ./takt clean)"
_TERM_S = 20.0  # the traces of many processes are merged after the stop

Flat = dict[str, Any]


def execute(
    application: Flat,
    approach: str,
    *,
    trace: Path,
    duration_s: float = 30.0,
    policy: str | None = None,
    seed: int = 1,
    places: Places | None = None,
    stop: Stop | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> Execution:
    """Executes an application in its flat form and writes its trace.

    The duration is strict: it begins with the first release. ``stop``, or Ctrl-C, ends it earlier,
    and the trace up to then is kept. ``progress`` is called with the seconds since the runner
    started. ``places`` are the machines of a robot of several hosts.
    Raises TaktError for an application or a machine on which this cannot be executed, Failure
    where it did not work out.
    """
    if approach not in APPROACHES:
        raise TaktError(f"unknown approach {approach!r}", fix="one of " + ", ".join(APPROACHES))
    _check_processes(application, approach, policy, places)
    if policy is not None:
        application = with_policy(application, policy)
    application = _with_executor(application, approach)
    if not application["callbacks"]:
        raise TaktError("the application has no callbacks")
    _check_ends(application, duration_s)
    if places is None:
        _check_cpus(application)
    program = _program(application, approach)
    stop = stop or Stop()
    folder = trace.parent
    sweep_dead_runs(SWEEPER)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = scratch.open_for(folder, resumable=False)
    except OSError as error:
        if is_full(error):
            error.filename = str(folder)
            raise failure(error, "free space there, or choose another folder: --out") from None
        raise Failure(f"cannot write the trace: {error.strerror}", where=str(folder)) from None
    try:
        avoid = used_domains(places) if places else set()
        with own_domain(avoid=avoid) as domain, stopping(stop):
            if places:
                outcome = apart.execute(
                    application,
                    program.name,
                    places,
                    scratch=lock,
                    domain=domain,
                    trace=trace,
                    duration_s=duration_s,
                    seed=seed,
                    stop=stop,
                    progress=progress,
                )
                return _execution(
                    application, approach, trace, duration_s, seed, outcome.frame, outcome.stopped
                )
            with quotas.applied(application, lock.folder) as limited:
                execution = _Executing(
                    lock.folder, Journal(lock.folder), domain, stop, progress, limited
                )
                return execution.run(program, application, approach, trace, duration_s, seed)
    finally:
        lock.release(keep=False)


def _check_ends(application: Flat, duration_s: float) -> None:
    """Refuses jobs of which none can end before the run is terminated."""
    limit = round((duration_s + _END_S) * 1e9)
    for callback in application["callbacks"]:
        execution = callback["execution"]
        shortest = min([execution.get("best", execution["worst"]), *execution.get("quantiles", [])])
        if shortest > limit:
            raise TaktError(
                f"each job of {callback['name']!r} computes for {format_duration(shortest)} or "
                f"longer, and the run is ended after {format_duration(limit)}",
                fix="shorten its wcet, or take a longer --duration; takt simulate needs neither",
            )


def _program(application: Flat, approach: str) -> Path:
    """The runner that has every executor of the execution; raises Failure without it."""
    executors = {approach, *(one.get("executor") for one in application.get("processes", []))}
    if executors.isdisjoint(RCLCPP):
        return stacks.program(RUNNER)
    return stacks.program(RUNNER_RCLCPP, stacks.HOW_TO_GET_RCLCPP)


def _check_processes(
    application: Flat, approach: str, policy: str | None, places: Places | None
) -> None:
    """A robot's processes have executors and policies of their own: nothing is chosen for them."""
    check_places(application, places)
    if approach != "takt":
        refuse_processes(application, None, f"--approach {approach}")
    if policy is not None:
        refuse_processes(application, None, "--policy")


def _with_executor(application: Flat, approach: str) -> Flat:
    """The application of the executor that runs it: the trace describes what was executed."""
    kept = {key: value for key, value in application.items() if key != "executor"}
    fitting = approach in STOCK_EXECUTORS and fits(approach, len(application.get("cpus", [0])))
    if not fitting or application.get("scenarios"):
        return kept
    kept.pop("policy", None)
    return {**kept, "executor": approach}


def with_policy(application: Flat, policy: str) -> Flat:
    """The application under another policy; its scenarios, too, where they name one."""
    changed = {**application, "policy": policy}
    if scenarios := application.get("scenarios"):
        changed["scenarios"] = [
            {key: value for key, value in one.items() if key != "policy"} for one in scenarios
        ]
    return changed


class _Executing:
    """One execution in its scratch folder."""

    def __init__(
        self,
        folder: Path,
        journal: Journal,
        domain: int,
        stop: Stop,
        progress: Callable[[float], None],
        limited: quotas.Quotas,
    ) -> None:
        self._folder = folder
        self._journal = journal
        self._domain = domain
        self._stop = stop
        self._progress = progress
        self._limited = limited

    def run(
        self,
        program: Path,
        application: Flat,
        approach: str,
        trace: Path,
        duration_s: float,
        seed: int,
    ) -> Execution:
        """Runs it; no process is left when this returns or raises."""
        cpus = cores_of(application)
        nodes = len({one.get("node") or one["name"] for one in application["callbacks"]})
        recording = recording_of(trace)
        description, profile = self._describe(application, nodes)
        options: dict[str, object] = {
            "approach": approach,
            "duration-ns": round(duration_s * 1e9),
            "trace": recording.resolve(),
            "seed": seed,
        }
        command = [str(program), str(description)]
        command += [str(word) for key, value in options.items() for word in (f"--{key}", value)]
        command += self._limited.options(application)
        runner = Program(RUNNER, command, self._folder / "unused", self._folder / "stderr")
        others = OtherPrograms(cpus, RUNNER)
        last_note = last_new = 0.0
        until = UntilItsTime(self._stop, duration_s + _END_S + nodes * _END_S_PER_NODE)
        frame = Frame(self._journal, until)

        def tick(pids: list[int], seconds: float) -> None:
            nonlocal last_note, last_new
            until.look(begun=recording.exists() or bool(parts(recording)), now=seconds)
            # Each time while there is news: it may be killed as soon as it has shared memory.
            settled = last_new and seconds - last_new > _NOTE_EVERY_S
            if seconds - last_note > (_NOTE_EVERY_S if settled else 0) and seconds < _START_S:
                last_note = seconds
                if self._journal.note(pids):
                    last_new = seconds
            if settled:  # all nodes are there
                frame.until_met.close()
            others.look(pids)
            self._progress(seconds)

        if approach in SEPARATE or application.get("processes"):
            frame.until_met.enter_context(addresses.kept())
        with contextlib.closing(others):
            end, _ = frame.run(
                [runner],
                transport.environment(
                    transport.fast_dds(profile), self._domain, logs=self._folder / "log"
                ),
                duration_s + _START_S + nodes * _START_S_PER_NODE,
                Limits(term_s=_TERM_S),
                tick,
                ended=others.end,
                cpus=cpus,
            )
        disturbances = [what for what, _ in frame.disturbances.reported]
        _raise_failure(end, runner, recording, disturbances)
        others.append(recording)
        self._limited.append(recording)
        flush(recording)
        recording.replace(trace)
        flush(trace.parent)
        return _execution(application, approach, trace, duration_s, seed, frame, end is End.stopped)

    def _describe(self, application: Flat, nodes: int) -> tuple[Path, Path]:
        """The files that the runner reads: the application, and the profile of the transport."""
        description = self._folder / "application.json"
        # Without spaces: the trace carries it.
        description.write_text(json.dumps(application, separators=(",", ":")), encoding="utf-8")
        profile = self._folder / "profile.xml"
        payload = max((one.get("bytes", 0) for one in application.get("topics", [])), default=0)
        profile.write_text(transport.profile("shm", payload, nodes + 1), encoding="utf-8")
        return description, profile


def _execution(
    application: Flat,
    approach: str,
    trace: Path,
    duration_s: float,
    seed: int,
    frame: Frame,
    stopped: bool,
) -> Execution:
    names = traces.read(trace).names
    return Execution(
        application=str(application.get("name", "")),
        approach=approach,
        policy=_policy(application, approach),
        seed=seed,
        status="stopped" if stopped else "complete",
        duration_s=duration_s,
        seconds=frame.seconds,
        steal_seconds=frame.steal_seconds,
        not_granted=names.not_granted(),
        disturbances=[what for what, _ in frame.disturbances.reported],
        clocks=[one.sentence for one in clocks_of(names)],
        throttled=[traced.sentence(*one) for one in traced.measured(names).items()],
        links=_links(trace) if len(hosts_of(application)) > 1 else [],
        trace=trace,
    )


def _links(trace: Path) -> list[str]:
    """What each link has carried and lost; nothing where no callback ran."""
    with contextlib.suppress(TaktError):
        robot = observed(trace).robot
        return robot.crossed if robot else []
    return []


def _policy(application: Flat, approach: str) -> str:
    """What a trace says of it, too."""
    if application.get("processes"):
        return "robot"
    if approach not in traces.SCHEDULED:
        return approach
    return str(application.get("executor") or application.get("policy", "fp"))


def _shared_memory_is_full() -> bool:
    """Whether one more process of Fast DDS has no room in /dev/shm."""
    try:
        return shutil.disk_usage(scratch.MEMORY).free < transport.SMALLEST_SEGMENT
    except OSError:
        return True


def _raise_failure(end: End, runner: Program, trace: Path, disturbances: list[str]) -> None:
    words = runner.last_words().removeprefix(f"{RUNNER}: ")
    # Fast DDS does not say what it lacked; version 2, as in Jazzy, not even of what.
    lacks_memory = runner.said(_NO_NODE) and (runner.said("SHM") or _shared_memory_is_full())
    if end is End.timeout:
        known = "; disturbance: ".join(filter(None, [words, *disturbances]))
        fix = _FREE_SHM if lacks_memory else "fewer nodes start faster"
        raise Failure(
            "the execution exceeded its time limit and was terminated"
            + (f": {known}" if known else ""),
            where=str(trace) if trace.exists() else None,
            fix="the recording so far is complete" if trace.exists() else fix,
        )
    if end is End.died and runner.exit_code == 2:
        discard(trace)  # nothing was executed
        raise refusal(runner)
    if end is End.died:
        kept = [str(one) for one in (trace, *parts(trace)) if one.exists()]
        fixes = [f"the recording so far is in {len(kept)} files"] if kept else []
        if lacks_memory:
            fixes.insert(0, _FREE_SHM)
        if os.strerror(errno.EAGAIN) in words:
            fixes.insert(0, f"{NO_PROCESS}: {MORE_PROCESSES}")
        if os.strerror(errno.ENOSPC) in words:
            words += f"; {no_space(trace)}"
        raise Failure(
            f"the execution failed: {words or f'{RUNNER} ended with {runner.how_it_ended}'}",
            where=kept[0] if kept else None,
            fix="; ".join(fixes) or None,
        )
    if not trace.exists() and parts(trace):
        raise Failure(
            "its processes did not react to a stop request and were terminated",
            where=f"{trace}.part*",
            fix="their traces so far are kept",
        )
    if not trace.exists():
        raise Failure("stopped before the start; no trace was written")
    if error := traces.read(trace).write_error:
        failed = failure(OSError(error, os.strerror(error), str(trace)))
        raise Failure(
            f"lost events of this execution: {failed.what}",
            where=str(trace),
            fix="the trace is incomplete; free space, or choose another folder: --out",
        )


def _check_cpus(application: Flat) -> None:
    allowed = os.sched_getaffinity(0)
    asked = set(cores_of(application))
    if missing := sorted(asked - allowed):
        raise TaktError(
            f"the application needs the cores {', '.join(map(str, sorted(asked)))}; this "
            f"process may not use {', '.join(map(str, missing))}",
            where="processes" if application.get("processes") else "cpus",
            fix=f"use cores from {', '.join(map(str, sorted(allowed)))}",
        )
