# SPDX-License-Identifier: Apache-2.0
"""Executes a robot on several hosts: a runner on each, one start, one trace.

The runners agree on the start by files (``Meeting``): each says when its processes know all readers
of their topics, and is given the moment in the time of its own clock.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from takt.documents.writing import flush
from takt.errors import Failure
from takt.network import addresses, stacks, transport
from takt.network.clocks import Between
from takt.processes.frame import Frame
from takt.processes.leftovers import Journal
from takt.processes.process import output
from takt.processes.scratch import Scratch
from takt.processes.supervision import End, Limits, Program, Stop
from takt.schedule.application.processes import places_of
from takt.schedule.execution import places as machines
from takt.schedule.execution import quotas
from takt.schedule.execution.places import Place, Places
from takt.schedule.execution.programs import OtherPrograms, append_attributes
from takt.schedule.execution.recording import UntilItsTime, discard, recording_of, refusal
from takt.schedule.trace import file as traces
from takt.schedule.trace.hosts import HostClock, first_cores

MERGE = "merge_hosts"
_START_S = 90.0  # a runner waits a minute for readers on other hosts, and says which are not there
_END_S = 20.0
_TERM_S = 20.0
_MARGIN_S = 5.0  # until the start that is agreed on: a busy worker hears of it late
_ASK_S = 0.2  # a worker is asked so often whether it is ready
_MERGE_S = 300.0

Flat = Mapping[str, Any]


@dataclass
class Outcome:
    """What an execution on several hosts left besides its trace."""

    stopped: bool
    frame: Frame
    clocks: list[HostClock]


@dataclass
class _Runner:
    """The runner of a host; paths are those of its machine."""

    place: Place
    program: Program
    meeting: str
    trace: Path  # here


def execute(
    application: Flat,
    program: str,
    places: Places,
    *,
    scratch: Scratch,
    domain: int,
    trace: Path,
    duration_s: float,
    seed: int,
    stop: Stop,
    progress: Callable[[float], None],
) -> Outcome:
    """Executes it with the runner of this name, and writes its trace.

    Raises TaktError where this cannot be executed there, Failure where it did not work out; what
    was recorded until then is kept, and named.
    """
    with machines.opened(places, scratch, domain) as hosts:
        machines.check_cpus(application, hosts)
        away = {one.host: places.machines[one.host] for one in hosts if one.side.remote}
        with quotas.applied(application, scratch.folder, away) as limited:
            one = _Apart(application, hosts, scratch.folder, domain, trace, duration_s, limited)
            return one.run(program, seed, stop, progress)


class _Apart:
    def __init__(
        self,
        application: Flat,
        hosts: Sequence[Place],
        folder: Path,
        domain: int,
        trace: Path,
        duration_s: float,
        limited: quotas.Quotas,
    ) -> None:
        self._application, self._hosts = application, hosts
        self._limited = limited
        self._folder, self._domain = folder, domain
        self._trace, self._recording = trace, recording_of(trace)
        self._duration_s = duration_s
        self._offsets: dict[str, Between] = {}

    def run(
        self, program: str, seed: int, stop: Stop, progress: Callable[[float], None]
    ) -> Outcome:
        before, began = machines.between(self._hosts), time.monotonic()
        self._offsets = before
        runners = [self._runner(one, program, seed, before[one.host]) for one in self._hosts]
        meeting = _Meeting(runners, before)
        until = UntilItsTime(stop, self._duration_s + _MARGIN_S + _END_S)
        journal = Journal(self._folder)
        frame = Frame(journal, until)
        cpus = self._cpus_here()
        others = OtherPrograms(cpus, program)

        def tick(pids: list[int], seconds: float) -> None:
            meeting.look(seconds)
            until.look(begun=meeting.agreed, now=seconds)
            if meeting.agreed:
                frame.until_met.close()
            else:
                journal.note(pids)
            others.look(pids)
            progress(seconds)

        frame.until_met.enter_context(addresses.kept())
        with contextlib.closing(others):
            end, who = frame.run(
                [one.program for one in runners],
                transport.environment({}, self._domain, logs=self._folder / "log"),
                self._duration_s + _START_S + _END_S,
                Limits(term_s=_TERM_S),
                tick,
                ended=others.end,
                cpus=cpus,
            )
            away = self._bring_home()
            self._merge(runners)
            if self._recording.exists():
                others.append(self._recording, self._cores_here())
        self._raise_failure(end, who, meeting, away)
        after = machines.between(self._hosts)
        clocks = [
            HostClock.measured(host, before[host], after[host], time.monotonic() - began)
            for host in list(before)[1:]
        ]
        append_attributes(self._recording, [one.attribute for one in clocks])
        self._limited.append(self._recording)
        flush(self._recording)
        self._recording.replace(self._trace)
        flush(self._trace.parent)
        return Outcome(end is End.stopped, frame, clocks)

    def _runner(self, place: Place, name: str, seed: int, to_first: Between) -> _Runner:
        side, host = place.side, place.host
        home = self._folder
        there = Path(side.remote.folder) if side.remote else home
        payload = max((one.get("bytes", 0) for one in self._application["topics"]), default=0)
        profile = transport.profile(
            "udp" if one_machine(self._hosts) else "both",
            payload,
            len(self._application["processes"]) + len(self._hosts),
            own=side.address,
            peer=[one.side.address for one in self._hosts],
        )
        files = {
            str(there / f"{host}.application.json"): json.dumps(
                self._application, separators=(",", ":")
            ),
            str(there / f"{host}.profile.xml"): profile,
        }
        description, profile_file = files
        trace, meeting = there / f"{host}.takttrace", str(there / f"{host}.meeting")
        options: dict[str, object] = {
            "approach": "takt",
            "duration-ns": round(self._duration_s * 1e9),
            "trace": trace,
            "seed": seed,
            "host": host,
            "meeting": meeting,
            "clock-offset-ns": to_first.add_ns,
        }
        command = [str(side.call(stacks.program, name)), description]
        command += [str(word) for key, value in options.items() for word in (f"--{key}", value)]
        command += self._limited.options(self._application, host)
        stderr = home / f"{host}.stderr"
        result = _Runner(
            place,
            Program(host, command, home / "unused", stderr),
            meeting,
            home / f"{host}.takttrace",
        )
        profiles = transport.fast_dds(profile_file)
        if side.remote:
            result.program.launch = partial(
                side.remote.launch,
                command,
                files=files,
                profiles=profiles,
                domain=self._domain,
                home={str(trace): result.trace, str(there / stderr.name): stderr},
                stderr=str(there / stderr.name),
                samples=None,
            )
            return result
        for file, text in files.items():
            Path(file).write_text(text, encoding="utf-8")
        result.program.environment = transport.environment(
            profiles, self._domain, logs=self._folder / "log"
        )
        if side.link:
            result.program.command = side.link.inside(command)
        return result

    def _cpus_here(self) -> list[int]:
        """The CPUs of this machine that the robot uses."""
        here = {one.host for one in self._hosts if one.side.remote is None}
        return sorted({cpu for host, cpu in places_of(self._application) if host in here})

    def _cores_here(self) -> dict[int, int]:
        """The numbers of these in the trace."""
        first = first_cores(traces.read(self._recording).names)
        here = {one.host for one in self._hosts if one.side.remote is None}
        return {
            cpu: cpu + first.get(host, 0)
            for host, cpu in places_of(self._application)
            if host in here
        }

    def _bring_home(self) -> list[str]:
        """What the workers have recorded; returns why something is missing."""
        missing = []
        for one in self._hosts:
            if one.side.remote is None:
                continue
            try:
                one.side.remote.bring_home()
            except Failure as error:
                missing.append(f"{error.what}: what it recorded is not here")
        return missing

    def _merge(self, runners: Sequence[_Runner]) -> None:
        """Makes one trace of those that there are; raises Failure, which names where they are."""
        offsets = self._offsets
        there = [one for one in runners if _has_begun(one.trace)]
        if not there:
            return
        command = [str(stacks.program(MERGE)), str(self._recording.resolve())]
        for one in there:
            host = one.place.host
            command += ["--host", host, str(one.trace), str(offsets[host].add_ns)]
        done = output(command, _MERGE_S)
        if done.returncode:
            discard(self._recording)
            words = done.stderr.strip() or f"{MERGE} ended with exit code {done.returncode}"
            raise Failure(f"cannot make one trace of those of the hosts: {words}")

    def _raise_failure(
        self, end: End, who: Program | None, meeting: _Meeting, away: Sequence[str]
    ) -> None:
        recorded = self._recording.exists()
        kept = {
            "where": str(self._recording) if recorded else None,
            "fix": "the recording so far is kept" if recorded else None,
        }
        if end is End.died and who:
            said = who.last_words() or who.how_it_ended
            text = "; ".join([f"host {who.role}: {said}", *away])
            if who.exit_code == 2:
                discard(self._recording)
                raise refusal(who)
            raise Failure(f"the execution failed on {text}", **kept)
        if end is End.timeout:
            late = ", ".join(meeting.missing) if not meeting.agreed else ""
            what = f": host {late} was not ready" if late else ""
            raise Failure(f"the execution exceeded its time limit and was terminated{what}", **kept)
        if not meeting.agreed:
            discard(self._recording)
            raise Failure("stopped before the start; no trace was written")
        if away:
            raise Failure("; ".join(away), **kept)
        if not recorded:
            raise Failure("no host has left a trace")
        if error := traces.read(self._recording).write_error:
            raise Failure(
                f"lost events of this execution: {os.strerror(error)}",
                where=str(self._recording),
                fix="free space on the hosts; the trace is incomplete",
            )


def _has_begun(trace: Path) -> bool:
    """Whether a process of the robot has written to it."""
    return trace.exists() and traces.description(traces.read(trace).names) is not None


class _Meeting:
    """Gives each runner the start when all are ready."""

    def __init__(self, runners: Sequence[_Runner], to_first: Mapping[str, Between]) -> None:
        self._waiting = {one.place.host: one for one in runners}
        self._runners, self._to_first = runners, to_first
        self._asked = -_ASK_S
        self.agreed = False

    @property
    def missing(self) -> list[str]:
        """The hosts that are not ready."""
        return list(self._waiting)

    def look(self, now: float) -> None:
        """To be called now and then, with the seconds since the start; a lost host is not ready."""
        if self.agreed or now - self._asked < _ASK_S:
            return
        self._asked = now
        with contextlib.suppress(Failure):
            for host, one in list(self._waiting.items()):
                if is_there(one.place, f"{one.meeting}.ready"):
                    del self._waiting[host]
            if not self._waiting:
                self._agree()

    def _agree(self) -> None:
        first = self._runners[0].place
        start = first.now_ns() + round(_MARGIN_S * 1e9)
        for one in self._runners:
            own = start - self._to_first[one.place.host].add_ns
            one.place.side.call(write_whole, one.meeting, str(own))
        self.agreed = True


def one_machine(hosts: Sequence[Place]) -> bool:
    """Whether any two share one /dev/shm: Fast DDS does not find each process there."""
    machines = [one.side.clock().identity for one in hosts]
    return len(set(machines)) < len(machines)


def is_there(place: Place, file: str) -> bool:
    """Whether a file is on the machine of a host."""
    found: bool = place.side.call(os.path.exists, file)
    return found


def write_whole(file: str, text: str) -> None:
    """Writes a file of which no reader sees a part."""
    new = Path(f"{file}.new")
    new.write_text(text, encoding="ascii")
    new.replace(file)
