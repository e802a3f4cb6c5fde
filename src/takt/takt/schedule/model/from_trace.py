# SPDX-License-Identifier: Apache-2.0
"""What a trace of Takt's executor or simulator tells about an application.

Of the description in it only chains, the processes of a robot, its topics and what runs under
rclcpp's executors count: Takt's executor declares its callbacks itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from takt.errors import TaktError
from takt.schedule.application.executors import IDLING, POLICIES, STOCK_EXECUTORS
from takt.schedule.metrics.series import Series
from takt.schedule.model import described_calls, described_chains, described_cores
from takt.schedule.model.declared import DeclaredChange, DeclaredTask, declarations
from takt.schedule.model.handovers import Handovers
from takt.schedule.model.jobs import Jobs, execution_of, in_order, on_idle_core
from takt.schedule.model.links import longest_way, note_links, ways
from takt.schedule.model.observed import NO_TIMES, Observed, ObservedCallback, Times, start_of
from takt.schedule.model.robot import Robot, described, note_handovers
from takt.schedule.ros2.topics import topic_name
from takt.schedule.trace import file as files
from takt.schedule.trace.file import (
    NO_DEADLINE,
    NONE,
    Step,
    Table,
    Trace,
    Type,
    by_number,
    recorded,
)
from takt.schedule.trace.hosts import clocks_of
from takt.schedule.trace.names import whole_name

ROBOT = "robot"  # in place of a policy: its processes have their own


def observed(path: Path, progress: Callable[[int], None] = lambda _: None) -> Observed:
    """Reads a trace once; raises TaktError for what is none, or tells of no callback."""
    trace = files.read(path)
    gathering = _Gathering(trace)
    files.replay(trace, [gathering], progress)
    return gathering.result()


class _Gathering:
    """The sink."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._names = trace.names
        self._tasks: dict[int, Jobs] = {number: Jobs() for number in sorted(trace.names.tasks)}
        self._outside: dict[int, Series] = defaultdict(Series)
        self._slices: dict[int, tuple[Series, Series]] = defaultdict(lambda: (Series(), Series()))
        self._scenarios: list[tuple[int, int]] = []
        self._span: tuple[int, int] | None = None
        self._handovers = Handovers()

    def take(self, step: Step) -> None:
        """Gathers."""
        events = step.events
        if len(events["time"]):
            first, last = int(events["time"][0]), int(events["time"][-1])
            self._span = (self._span[0] if self._span else first, last)
        self._take_events(events)
        self._handovers.take(events)
        self._take_jobs(step.jobs)
        for core, (begin, end) in by_number(
            step.slices["core"], step.slices["begin"], step.slices["end"]
        ):
            self._slices[core][0].extend(begin)
            self._slices[core][1].extend(end)

    def _take_events(self, events: Table) -> None:
        types, tasks = events["type"], events["task"]
        early = types == Type.early_release
        for task, (jobs,) in by_number(tasks[early], events["job"][early]):
            self._of(task).early.extend(jobs)
        skips = types == Type.skip
        for task, (counts,) in by_number(tasks[skips], events["value"][skips]):
            self._of(task).skipped += int(counts.sum())
        starts = types == Type.start
        for task, (cores, priorities) in by_number(
            tasks[starts], events["core"][starts], events["value"][starts]
        ):
            self._of(task).cores.update(cores[cores != NONE].tolist())
            self._of(task).priorities.update(np.unique(priorities).tolist())
        is_publish = types == Type.publish
        for task, (topics, jobs, times) in by_number(
            tasks[is_publish],
            events["topic"][is_publish],
            events["job"][is_publish],
            events["time"][is_publish],
        ):
            if task == NONE:
                for topic, (moments,) in by_number(topics, times):
                    self._outside[topic].extend(moments)
            else:
                of = self._of(task)
                for topic, (numbers, moments) in by_number(topics, jobs, times):
                    of.written[topic].take(numbers)
                    of.published_at[topic].extend(moments)
                    of.publishing[topic].extend(np.unique(numbers).astype(np.int64))
        used = types == Type.use
        for task, (topics, jobs) in by_number(
            tasks[used], events["topic"][used], events["job"][used]
        ):
            of = self._of(task)
            for topic, (numbers,) in by_number(topics, jobs):
                of.reads[topic] += len(np.unique(numbers))
                of.using[topic].extend(np.unique(numbers).astype(np.int64))
        follows = types == Type.scenario
        self._scenarios += zip(
            events["time"][follows].tolist(), events["value"][follows].tolist(), strict=True
        )

    def _take_jobs(self, jobs: Table) -> None:
        names = (
            *("job", "release", "start", "end", "deadline"),
            *("cpu_time", "running", "waited", "sleeps"),
        )
        columns = (jobs[name] for name in names)
        for task, values in by_number(jobs["task"], *columns):
            of = self._of(task)
            for name, column in zip(names, values, strict=True):
                getattr(of, name).extend(column)

    def _of(self, task: int) -> Jobs:
        return self._tasks.setdefault(task, Jobs())

    def result(self) -> Observed:
        """To be called when the trace is replayed."""
        trace, names = self._trace, self._names
        # Told again when a task comes again, or scenarios say something else: the last word counts.
        declared = declarations(names.values("task"), DeclaredTask)
        descriptions = {one["name"]: one for one in declared}
        found = declarations(names.values("change"), DeclaredChange)
        changes = {(one["scenario"], one["task"]): one for one in found}
        policies = {
            key.removeprefix("policy."): policy
            for key, _, policy in (one.partition("=") for one in names.attributes)
            if key.startswith("policy.")
        }
        scenario = next(iter(names.values("scenario")), None)
        policy = policies.get(scenario or "", next(iter(names.values("policy")), None))
        robot = described(files.description(names)) if policy == ROBOT else None
        descriptions = (robot.declared if robot else {}) | descriptions
        span = self._span or (0, 0)
        busy = {core: in_order(*both) for core, both in self._slices.items()}
        # A core that is idle on purpose says nothing about noticing.
        unsure = policy not in {*POLICIES, ROBOT} or policy in IDLING
        idle = robot.idling if robot else set()
        callbacks = [
            self._callback(
                number,
                of,
                descriptions,
                scenario,
                {} if unsure or self._names.task(number) in idle else busy,
            )
            for number, of in self._tasks.items()
            if len(of.job.all()) or self._names.task(number) in descriptions
        ]
        if not callbacks:
            raise TaktError(
                "the trace contains no callback",
                where=str(trace.path),
                fix="let the application run for some periods while it is traced",
            )
        robot = self._robot(robot, callbacks)
        description = files.description(names)
        described_calls.describe(callbacks, description)
        return Observed(
            source=f"{trace.path.name}, a trace of Takt's {trace.source}",
            duration=span[1] - span[0],
            callbacks=callbacks,
            policy=policy if policy in POLICIES else None,
            cpus=_cpus(names.values("cpus"), self._tasks.values()),
            changes=list(changes.values()),
            scenarios=policies if len(policies) > 1 else {},
            default_scenario=scenario,
            switches=self._switches(scenario, start_of(callbacks, span[0])),
            outside={
                topic_name(names.topic(topic)): moments.all()
                for topic, moments in self._outside.items()
            },
            robot=robot,
            cores=described_cores.cores(description),
            chains=described_chains.chains(description),
            sizes=robot.sizes if robot else {},
            depths=robot.depths if robot else {},
            notes=self._notes(None if robot else policy, bool(descriptions)),
        )

    def _robot(self, robot: Robot | None, callbacks: list[ObservedCallback]) -> Robot | None:
        """The processes, where the trace says which callbacks they have."""
        if robot is None:
            return None
        if self._trace.source == "simulator" and any(one.get("threads") for one in robot.processes):
            raise TaktError(
                "this is a simulation of a robot with threads, whose jobs are those of no node",
                where=str(self._trace.path),
                fix="take the app.yaml that was simulated; takt model takes traces of takt execute",
            )
        callbacks[:] = [one for one in callbacks if robot.is_of_node(one.recorded, one.execution)]
        if any(one.recorded not in robot.homes for one in callbacks):
            return None
        for one in callbacks:
            if robot.policy(one.recorded) in STOCK_EXECUTORS:  # they have an order of their own
                one.declared.pop("priority", None)
                one.declared.pop("overrun", None)
        names = {number: self._names.task(number) for number in self._tasks}
        homes = {number: robot.homes[name] for number, name in names.items() if name in robot.homes}
        triggers = {
            number: one.trigger
            for number, name in names.items()
            for one in callbacks
            if one.recorded == name and one.trigger is not None
        }
        topics = {number: topic_name(name) for number, name in self._names.topics.items()}
        between = list(self._handovers.between(homes, triggers, topics))
        if self._trace.source == "simulator":  # the handover is between the release and its notice
            released = {
                names[one.task]: longest_way(
                    robot,
                    robot.host(homes[one.task]),
                    [robot.host(homes[writer]) for writer in np.unique(one.writers).tolist()],
                )
                for one in between
            }
            for one in callbacks:
                if one.recorded in released:
                    declared = one.declared.get("jitter", 0) - released[one.recorded]
                    one.declared["jitter"] = max(0, declared)
                    one.noticing = np.empty(0, np.int64)
            return robot
        by_name = {one.recorded: one for one in callbacks}
        found = ways(
            robot,
            self._handovers,
            between,
            homes,
            self._tasks,
            {number: by_name[name] for number, name in names.items() if name in by_name},
            topics,
        )
        note_handovers(robot, np.concatenate([np.empty(0, np.int64), *found.within]))
        note_links(robot, found.across, clocks_of(self._names))
        return robot

    def _callback(
        self,
        number: int,
        of: Jobs,
        descriptions: dict[str, dict[str, Any]],
        scenario: str | None,
        busy: dict[int, tuple[Times, Times]],
    ) -> ObservedCallback:
        task = self._names.task(number)
        description = descriptions.get(task, {})
        release, start, end = of.release.all(), of.start.all(), of.end.all()
        ended = recorded(end)
        regular = recorded(release) & (release < self._first_switch(scenario))
        deadline = of.deadline.all()
        relative = (deadline - release)[regular & recorded(deadline) & (deadline != NO_DEADLINE)]
        execution, how = execution_of(of, ended)
        scenarios = self._scenario_at(release[ended], scenario)
        longest = {
            name: int(execution[scenarios == name].max()) for name in np.unique(scenarios).tolist()
        }
        in_first = execution[scenarios == (scenario or "")]
        whole = ended & recorded(start)
        waits = np.maximum(
            0, (end - start)[whole] - execution_of(of, whole)[0] - of.waited.all()[whole]
        )
        kind, trigger = self._trigger(description, of)
        found = ObservedCallback(
            name=whole_name(task),
            recorded=task,
            kind=kind,
            trigger=trigger,
            declared=description,
            releases=release[regular],
            indices=of.job.all()[regular],
            early=of.early.all(),
            execution=in_first if len(in_first) else execution,
            longest=longest,
            execution_is=how,
            waiting=waits if description.get("waits") else np.empty(0, np.int64),
            sleeps=int(of.sleeps.all()[whole].max(initial=0)),
            noticing=on_idle_core(of, regular & recorded(start), busy),
            deadline=int(relative.min()) if len(relative) else None,
            priorities=of.priorities,
            cores=of.cores,
            reads={topic_name(self._names.topic(one)): n for one, n in of.reads.items()},
            writes={topic_name(self._names.topic(one)): n.jobs for one, n in of.written.items()},
            messages={topic_name(self._names.topic(one)): n.range for one, n in of.written.items()},
            skipped=of.skipped,
        )
        self._publications(found, of)
        if not description and len(relative) and relative.min() != relative.max():
            found.notes.append(
                f"deadline: between {relative.min() / 1e6:.6g} and {relative.max() / 1e6:.6g} ms "
                "after the release; the file has the shortest"
            )
        return found

    def _publications(self, found: ObservedCallback, of: Jobs) -> None:
        """Of the jobs that had a message, in the order of their ends, which published."""
        used = [
            jobs.all() for topic, jobs in of.using.items() if self._topic(topic) == found.trigger
        ]
        job, end = of.job.all(), of.end.all()
        had = recorded(end) & np.isin(job, np.concatenate([NO_TIMES, *used]))
        order = np.argsort(end[had], kind="stable")
        found.ends = end[had][order]
        found.publishing = {
            self._topic(topic): moments.all() for topic, moments in of.published_at.items()
        }
        found.published = {
            self._topic(topic): np.isin(job[had][order], jobs.all())
            for topic, jobs in of.publishing.items()
        }

    def _topic(self, number: int) -> str:
        return topic_name(self._names.topic(number))

    def _trigger(
        self, description: dict[str, Any], of: Jobs
    ) -> tuple[Literal["timer", "message"], str | None]:
        if description:
            trigger = description.get("trigger")
            kind: Literal["timer", "message"] = (
                "timer" if description.get("kind") == "timer" else "message"
            )
            return kind, topic_name(trigger) if trigger else None
        return "timer", None  # who releases it no event tells; a note says so

    def _first_switch(self, scenario: str | None) -> int:
        """Until when the scenario held that the trace begins with."""
        changes = (t for t, number in self._scenarios if self._names.scenario(number) != scenario)
        return min(changes, default=np.iinfo(np.int64).max)

    def _scenario_at(self, times: Times, first: str | None) -> NDArray[np.str_]:
        """The scenario that held at each of these times."""
        switches = sorted(self._scenarios)
        names = [first or "", *(self._names.scenario(number) for _, number in switches)]
        places = np.searchsorted([time for time, _ in switches], times, side="right")
        return np.asarray(names, dtype=np.str_)[places]

    def _switches(self, scenario: str | None, start: int) -> list[tuple[int, str]]:
        found: list[tuple[int, str]] = []
        current = scenario
        for time, number in sorted(self._scenarios):
            name = self._names.scenario(number)
            if name != current:
                found.append((max(0, time - start), name))
                current = name
        return found

    def _notes(self, policy: str | None, described: bool) -> list[str]:
        trace, notes = self._trace, []
        if policy is not None and policy not in POLICIES:
            notes.append(f"policy: {policy}, unknown to takt analyse")
        if not described:
            notes.append(
                "triggers, groups and declared reads: not recorded in this old trace; "
                "every callback is assumed to be a timer"
            )
        followed = any(of.written or of.reads for of in self._tasks.values())
        if trace.names.topics and not followed:
            notes.append(
                "written and used messages: not recorded by any callback "
                "(takt/trace/current.hpp); writes and reads are as declared"
            )
        if trace.lost:
            notes.append(f"{trace.lost} events were lost: counts are too low, periods may be wrong")
        if not trace.closed_in_order:
            notes.append("the trace is not whole: its end is missing")
        not_granted = trace.names.not_granted()
        if not_granted:
            notes.append(
                "real-time settings were not granted during this trace: " + "; ".join(not_granted)
            )
        return notes


def _cpus(declared_cpus: list[str], tasks: Any) -> list[int]:
    if declared_cpus and all(part.isdigit() for part in declared_cpus[0].split(",")):
        return [int(part) for part in declared_cpus[0].split(",")]
    return sorted({core for of in tasks for core in of.cores})
