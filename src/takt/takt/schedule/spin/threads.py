# SPDX-License-Identifier: Apache-2.0
"""Policy, priority and cores of threads by a timing file, and what they had before."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from takt.machine.scheduling import POLICIES, scheduling_of
from takt.processes.usage import family
from takt.schedule.spin.document import SetThread, ThreadSettings
from takt.schedule.spin.report import Report
from takt.schedule.timing.model import ThreadRule, TimingFile

_PROC = Path("/proc")
_NUMBERS = {"other": os.SCHED_OTHER, "fifo": os.SCHED_FIFO, "rr": os.SCHED_RR}


@dataclass(frozen=True)
class _Thread:
    process: int
    number: int
    name: str
    program: str
    started: str  # tells threads of one number apart


@dataclass
class _Before:
    policy: int
    priority: int
    cpus: set[int]


@dataclass
class Threads:
    """The threads of a command and of what it starts."""

    timing: TimingFile
    report: Report
    done: list[SetThread] = field(default_factory=list)
    matched: set[int] = field(default_factory=set)  # indices of the file's threads
    _before: dict[_Thread, _Before] = field(default_factory=dict)
    _wanted: dict[_Thread, ThreadSettings] = field(default_factory=dict)

    def look(self, root: int) -> None:
        """Sets what has come since the last time, and gives back what no longer spins nodes."""
        self.report.read()
        ended = {thread for _, thread in self.report.ended}
        self.report.ended.clear()
        for thread in _threads([root, *self.report.processes]):
            if thread.number in ended:
                self._give_back(thread)
            self._set(thread)

    def give_back(self) -> None:
        """All that still run."""
        for thread in list(self._before):
            self._give_back(thread)

    def _set(self, thread: _Thread) -> None:
        spins = self.report.running.get((thread.process, thread.number))
        rules = self._rules(thread, spins.nodes if spins else [])
        if not rules:
            return
        try:
            present = settings_of(thread.number)
            wanted = _settings(rules, self._before_of(thread, present))
            if self._wanted.get(thread) == wanted:
                return
            self._wanted[thread] = wanted
            refused = _apply(thread.number, wanted, present)
            granted = settings_of(thread.number)
        except ProcessLookupError:
            return
        self.done = [one for one in self.done if one.thread != thread.number]
        self.done.append(
            SetThread(
                process=thread.process,
                thread=thread.number,
                program=thread.program,
                name=thread.name,
                nodes=list(spins.nodes) if spins else [],
                requested=wanted,
                granted=granted,
                refused=refused,
            )
        )

    def _rules(self, thread: _Thread, nodes: Sequence[str]) -> list[ThreadRule]:
        """Of the nodes whose callbacks it runs first, then those of its name."""
        found = []
        if nodes:
            priorities = [
                one.priority
                for one in self.timing.callbacks
                if one.priority and (one.node is None or one.node in nodes)
            ]
            if priorities or self.timing.cpus:
                found.append(
                    ThreadRule(
                        name="*", priority=max(priorities, default=None), cpus=self.timing.cpus
                    )
                )
        for index, rule in enumerate(self.timing.threads):
            if fnmatchcase(thread.name, rule.name) and fnmatchcase(
                thread.program, rule.program or "*"
            ):
                self.matched.add(index)
                found.append(rule)
        return found

    def _before_of(self, thread: _Thread, present: ThreadSettings) -> ThreadSettings:
        before = self._before.get(thread)
        if before is None:
            number = thread.number
            self._before[thread] = _Before(
                os.sched_getscheduler(number),
                os.sched_getparam(number).sched_priority,
                os.sched_getaffinity(number),
            )
            return present
        return ThreadSettings(
            policy=POLICIES[before.policy & ~os.SCHED_RESET_ON_FORK],
            priority=before.priority,
            cpus=sorted(before.cpus),
        )

    def _give_back(self, thread: _Thread) -> None:
        before = self._before.pop(thread, None)
        self._wanted.pop(thread, None)
        if before is None or _started(thread.process, thread.number) != thread.started:
            return
        with contextlib.suppress(OSError):
            os.sched_setscheduler(thread.number, before.policy, os.sched_param(before.priority))
        with contextlib.suppress(OSError):
            os.sched_setaffinity(thread.number, before.cpus)


def settings_of(thread: int) -> ThreadSettings:
    """How it is scheduled now; raises ProcessLookupError where it has ended."""
    found = scheduling_of(thread)
    return ThreadSettings(policy=found.policy, priority=found.priority, cpus=sorted(found.cpus))


def _settings(rules: Sequence[ThreadRule], before: ThreadSettings) -> ThreadSettings:
    """What the rules say one after the other; what none of them says stays."""
    policy, priority, cpus = before.policy, before.priority, before.cpus
    for rule in rules:
        if rule.policy:
            policy = rule.policy
        elif rule.priority and policy not in {"fifo", "rr"}:
            policy = "fifo"
        if rule.priority:
            priority = rule.priority
        if rule.cpus:
            cpus = sorted(rule.cpus)
    if policy not in {"fifo", "rr"}:
        priority = 0
    return ThreadSettings(policy=policy, priority=priority, cpus=cpus)


def _apply(thread: int, wanted: ThreadSettings, present: ThreadSettings) -> str | None:
    """Returns why not, of what the kernel refused; raises ProcessLookupError where it has ended."""
    refused = []
    if wanted.cpus != present.cpus:
        try:
            os.sched_setaffinity(thread, wanted.cpus)
        except ProcessLookupError:
            raise
        except OSError as error:
            refused.append(f"cores {_numbers(wanted.cpus)}: {error.strerror}")
    if (wanted.policy, wanted.priority) != (present.policy, present.priority):
        # What it starts later has no such priority unless the file says so.
        policy = _NUMBERS[wanted.policy] | os.SCHED_RESET_ON_FORK
        try:
            os.sched_setscheduler(thread, policy, os.sched_param(wanted.priority))
        except ProcessLookupError:
            raise
        except OSError as error:
            refused.append(f"{wanted.policy} {wanted.priority}: {error.strerror}")
    return "; ".join(refused) or None


def _numbers(cpus: Sequence[int]) -> str:
    return " ".join(map(str, cpus))


def _threads(processes: Sequence[int]) -> Iterator[_Thread]:
    """Of these processes and all that they started."""
    for process in dict.fromkeys(family(processes)):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            program = _text(_PROC / str(process) / "comm")
            for task in (_PROC / str(process) / "task").iterdir():
                with contextlib.suppress(OSError):
                    number = int(task.name)
                    started = _started(process, number)
                    yield _Thread(process, number, _text(task / "comm"), program, started)


def _started(process: int, thread: int) -> str:
    """When, in ticks since boot; empty: it has ended."""
    try:
        line = (_PROC / str(process) / "task" / str(thread) / "stat").read_text(errors="replace")
    except OSError:
        return ""
    return line[line.rfind(")") :].split()[20]


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace").strip()
