# SPDX-License-Identifier: Apache-2.0
"""From what was seen to the flat form of an application, with a note on where each number is from.

What an executor was told is written as it was told, unless the application was seen to do
otherwise; execution times are always those that were seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from takt.errors import TaktError
from takt.schedule.application.executors import STOCK_EXECUTORS
from takt.schedule.application.topics import MOST_MESSAGES
from takt.schedule.model import (
    calls,
    described_chains,
    described_cores,
    joins,
    policies,
    topics,
    writers,
)
from takt.schedule.model import chains as paths
from takt.schedule.model.document import ModelledCallback, ModelledChain, ModelledTopic, Notes
from takt.schedule.model.fit import Part, fit, fit_robot
from takt.schedule.model.observed import Observed, ObservedCallback, Times
from takt.schedule.model.tail import TailEstimate, estimate

MOST_SLEEPS = 254  # of a job, that a trace can tell; from there on it may be more


class Builder:
    """Of one application."""

    def __init__(self, observed: Observed, margin: float) -> None:
        """``margin``: what is added to the longest execution, as a share of it."""
        self._observed = observed
        self._margin = margin
        self.notes: Notes = {}
        self._idle: list[str] = []  # never ran, and nobody says how long they would
        self.callbacks: list[ModelledCallback] = []
        self.chains: list[ModelledChain] = []
        self.topics: list[ModelledTopic] = []  # those with several writers
        self._written = {topic for one in observed.callbacks for topic in topics.writes(one)}

    def flat(self, name: str, progress: Callable[[str], None] = lambda _: None) -> Part:
        """The flat form, as `takt.schedule.application.dump` writes it; fills the rest."""
        observed = self._observed
        self._written = {topic for one in observed.callbacks for topic in topics.writes(one)}
        document: Part = {"name": name}
        if observed.robot is None:
            document |= {"cpus": observed.cpus or [0], "policy": observed.policy or "dm"}
        kept = []
        for one in observed.callbacks:
            progress(one.name)
            policy = observed.robot.policy(one.recorded) if observed.robot else document["policy"]
            if part := self._callback(one, policy):
                kept.append((one, part))
        if self._idle:
            first = ", ".join(self._idle[:4]) + (", …" if len(self._idle) > 4 else "")
            text = f"{len(self._idle)} callbacks never ran and are excluded: {first}"
            self.notes.setdefault("", []).append(text)
        general = self.notes.setdefault("", [])
        if observed.robot:
            kept = fit_robot(document, observed.robot, kept, general)
        else:
            kept = fit(document, kept, general)
        left = {part["name"] for _, part in kept}
        self.callbacks = [one for one in self.callbacks if one.callback in left]
        if not kept:
            raise TaktError(
                "no callback ran in it",
                where=observed.source,
                fix="let the application run for some periods while it is traced",
            )
        document["callbacks"] = [part for _, part in kept]
        joins.mark(kept, observed.resumed, self.notes)
        document["topics"] = topics.described([one for one, _ in kept], observed, self.notes)
        self.topics = writers.of_topics([one for one, _ in kept], observed)
        for topic in self.topics:
            self.notes.setdefault(topic.topic, []).extend(writers.notes(topic))
        described_cores.keep(document, observed.cores, general)
        document["chains"] = self._chains([one for one, _ in kept])
        if observed.scenarios:
            document |= self._scenarios(left)
        return document

    def _callback(self, one: ObservedCallback, policy: str) -> Part | None:
        declared, notes = one.declared, list(one.notes)
        execution, described = self._execution(one, notes)
        if execution is None:
            self._idle.append(one.name)
            return None
        part: Part = {"name": one.name, "node": one.name.split(".")[0], "kind": one.kind}
        if one.kind != "timer":
            part["trigger"] = one.trigger
        if one.recorded != one.name:
            part["recorded"] = one.recorded
        period = self._period(one, policy, notes)
        if period is None and one.kind == "timer":
            text = f"{one.name} was released less than twice: without a period it is excluded"
            self.notes.setdefault("", []).append(text)
            return None
        if period is not None:
            part["period"] = period
        kept = ("offset", "budget", "overrun", "active", "publishes")
        part |= {key: declared[key] for key in kept if key in declared}
        deadline = declared.get("deadline", 0) if declared else one.deadline
        if deadline:
            part["deadline"] = deadline
        priority, why = policies.priority(policy, one.declared.get("priority"), one.priorities)
        notes += why
        if priority:
            part["priority"] = priority
        part["execution"] = execution
        part |= calls.segments(one, self._margin)
        self._waiting(part, one, notes)
        self._jitter(part, one, notes)
        if declared.get("group"):
            part["group"] = declared["group"]
        notes += _of_locks(declared)
        if len(self._cores_of(one)) > 1 and (cpu := _core(one, notes)) is not None:
            part["cpu"] = cpu
        part["reads"] = self._reads(one, notes)
        part["writes"] = self._writes(one, notes)
        if several := topics.several_messages(one):
            part["messages"] = several
        if one.skipped:
            notes.append(f"releases skipped while the previous job ran: {one.skipped}")
        self.notes[one.name] = notes
        described.notes = notes
        described.period_us = None if period is None else period / 1000
        self.callbacks.append(described)
        return part

    def _cores_of(self, one: ObservedCallback) -> list[int]:
        """Among which it has its own; of several hosts the trace numbers cores anew."""
        robot = self._observed.robot
        if robot is None:
            return self._observed.cpus
        return [] if robot.hosts else robot.cores(one.recorded)

    def _execution(
        self, one: ObservedCallback, notes: list[str]
    ) -> tuple[Part | None, ModelledCallback]:
        jobs = len(one.execution)
        described = ModelledCallback(
            callback=one.name, recorded=one.recorded, kind=one.kind, jobs=jobs
        )
        declared = one.declared.get("expected_execution", 0)
        if not jobs:
            if not declared:
                return None, described
            notes.append("wcet: as declared; none of its jobs ended during the trace")
            described.wcet_us = declared / 1000
            return {"best": declared, "worst": declared, "wcet": declared}, described
        # Clocks of threads may be coarse: no job takes no time.
        best, worst = max(1, int(one.execution.min())), max(1, int(one.execution.max()))
        mean, deviation = float(one.execution.mean()), float(one.execution.std())
        wcet = math.ceil(worst * (1 + self._margin))
        margin = f" and {self._margin:.0%} more" if self._margin else ""
        notes.append(
            f"wcet: the longest{margin} of {jobs} observed jobs ({one.execution_is}), not "
            f"a worst case; declared: {_time(declared) if declared else 'none'}"
        )
        described.best_us, described.mean_us = best / 1000, mean / 1000
        described.longest_us, described.wcet_us = worst / 1000, wcet / 1000
        tail = estimate(one.execution)
        if isinstance(tail, TailEstimate):
            described.tail = tail
            notes.append(
                f"tail: one job in {tail.once_in_jobs} above {_time_us(tail.level_us)} (95 %:"
                f" {_time_us(tail.low_us)} to {_time_us(tail.high_us)}), estimated from the"
                f" {tail.peaks} longest of {jobs} jobs"
            )
        else:
            described.no_tail = tail
            notes.append(f"tail: no estimate; {tail}")
        quantiles = [worst] if best == worst else [best, worst]
        part: Part = {"best": best, "worst": worst, "quantiles": quantiles, "wcet": wcet}
        if best < worst and round(deviation) >= 1:
            part |= {"mean": min(worst, max(best, round(mean))), "deviation": round(deviation)}
        return part, described

    def _period(self, one: ObservedCallback, policy: str, notes: list[str]) -> int | None:
        """What the executor was told, or the shortest that was seen where that is less."""
        declared: int | None = one.declared.get("period") or None
        apart, steps = _distances(one, self._observed.resumed)
        if not len(apart):
            notes.append(f"period: {'as declared; ' if declared else ''}fewer than two releases")
            return declared
        least, mean = float((apart / steps).min()), apart.sum() / steps.sum()
        distance = (
            f"{len(apart) + 1} releases, distance at least {_time(least)}, mean {_time(mean)}"
        )
        if one.kind != "timer":
            notes.append(f"released by messages: {distance}")
            if one.kind == "service":  # of which it is only the rank
                return declared
            if declared and declared > least and one.trigger not in self._written:
                known = one.trigger in self._observed.outside
                if not known or not policies.ranks_by_period(policy):
                    return None
                notes.append(f"period: as declared, from which {policy} makes its priority")
            return declared
        period = declared or round(float(np.median(apart / steps)))
        if least < period - 1:
            said = "declared" if declared else "the median"
            notes.append(f"period: the shortest observed, not {_time(period)} ({said}); {distance}")
            return int(least)
        notes.append(f"period: {'declared' if declared else 'observed'}; {distance}")
        return period

    def _waiting(self, part: Part, one: ObservedCallback, notes: list[str]) -> None:
        if one.declared.get("waits"):
            notes.append(
                "group: not recorded for callbacks that wait; if it is an rclcpp callback "
                "in a shared mutually exclusive group, its members block each other, and "
                "no bound includes this blocking: give it a separate group"
            )
        if one.declared.get("waits") and not len(one.waiting):
            notes.append("suspension: declared, but none of its jobs was observed")
        elif one.declared.get("waits"):
            part["suspension"] = max(1, int(one.waiting.max()))
            notes.append(
                f"suspension: the longest of {len(one.waiting)} jobs, response minus "
                "execution; includes preemption by others"
            )
            if 0 < one.sleeps < MOST_SLEEPS:
                part["suspensions"] = one.sleeps
                notes.append(
                    f"suspensions: one job slept up to {one.sleeps} times; observed, no worst case"
                )

    def _jitter(self, part: Part, one: ObservedCallback, notes: list[str]) -> None:
        declared, longest = one.declared.get("jitter", 0), int(one.noticing.max(initial=0))
        if longest > declared:
            part["jitter"] = longest
            notes.append(
                f"jitter: from a release to its start, the longest of {len(one.noticing)} on an"
                " idle core"
            )
        elif declared:
            part["jitter"] = declared

    def _reads(self, one: ObservedCallback, notes: list[str]) -> list[Part]:
        limits = topics.age_limits(one)
        unused = [topic for topic in limits if topic not in one.reads]
        if unused and one.reads:
            notes.append(f"reads {', '.join(unused)}: declared, but not used by any job")
        return [{"topic": topic, "max_age": limits.get(topic, 0)} for topic in topics.reads(one)]

    def _writes(self, one: ObservedCallback, notes: list[str]) -> list[str]:
        jobs, seldom = len(one.execution), []
        for topic in topics.writes(one):
            count = one.writes.get(topic, 0)
            if count < jobs:
                seldom.append(f"{topic} in {count} of {jobs} jobs")
        if seldom and one.writes:
            notes.append(f"writes {', '.join(seldom)}")
        for topic, (least, most) in one.messages.items():
            if most > MOST_MESSAGES:
                notes.append(
                    f"one job publishes {most} messages on {topic}; the file declares "
                    f"{MOST_MESSAGES}, the most that it may"
                )
            elif most > 1:
                several = f"{least} to {most}" if least < most else str(most)
                notes.append(
                    f"one job publishes {several} messages on {topic}; observed, no worst case"
                )
        return topics.writes(one)

    def _chains(self, kept: list[ObservedCallback]) -> list[Part]:
        for one in kept:  # what is told counts as what is seen
            one.writes = {topic: one.writes.get(topic, 0) for topic in topics.writes(one)}
            one.reads = {r["topic"]: 0 for r in self._reads(one, [])}
        drivers = self._observed.robot.drivers if self._observed.robot else {}
        followers = paths.followers_of(kept, drivers)
        recorded = {one.recorded: one.name for one in kept} | {name: name for name in drivers}
        described = described_chains.kept(self._observed.chains, recorded, followers)
        found, more = paths.chains(followers)
        if more:
            self.notes.setdefault("", []).append(
                f"chains: only the first {len(found)} paths were examined; there are more"
            )
        known = [one["callbacks"] for one in described]
        others = [path for path in found if path not in known]
        named = paths.names(others, {one["name"] for one in described})
        parts = described + [{"name": name, "callbacks": path} for name, path in named.items()]
        self.chains = [
            ModelledChain(
                chain=one["name"],
                callbacks=one["callbacks"],
                described=one in described,
                max_latency_us=one["max_latency"] / 1000 if "max_latency" in one else None,
            )
            for one in parts
        ]
        return parts

    def _scenarios(self, kept: set[str]) -> Part:
        observed = self._observed
        names = {one.recorded: one.name for one in observed.callbacks if one.name in kept}
        scenarios = []
        for name, policy in observed.scenarios.items():
            changes = [
                {key: value for key, value in change.items() if key != "scenario"}
                | {"task": names[change["task"]]}
                for change in observed.changes
                if change.get("scenario") == name and change["task"] in names
            ]
            self._longest(name, changes)
            own = {} if observed.robot else {"policy": policy}  # each process has its own
            scenarios.append({"name": name, **own, "tasks": changes})
        found: Part = {"scenarios": scenarios}
        if observed.default_scenario in observed.scenarios:
            found["default_scenario"] = observed.default_scenario
        found["switches"] = [{"at": at, "scenario": name} for at, name in observed.switches]
        return found

    def _longest(self, scenario: str, changes: list[Part]) -> None:
        """What was seen of execution times in a scenario, where they are not those of the first."""
        changed = {change["task"]: change for change in changes}
        first = {one.callback: (one.longest_us or 0) * 1000 for one in self.callbacks}
        for one in self._observed.callbacks:
            longest = one.longest.get(scenario, 0)
            if one.name not in first or scenario == self._observed.default_scenario or not longest:
                continue
            if (robot := self._observed.robot) and robot.policy(one.recorded) in STOCK_EXECUTORS:
                continue  # which have no scenarios
            change = changed.get(one.name)
            if change is None:
                if longest <= first[one.name]:
                    continue
                change = {"task": one.name}
                changes.append(change)
            change["expected_execution"] = math.ceil(longest * (1 + self._margin))


def _distances(one: ObservedCallback, resumed: Times) -> tuple[Times, Times]:
    """From a release to a later one, and by how many indices; early ones only begin a distance.

    None has a pause of the recording within it: what was released meanwhile is not known.
    """
    order = np.argsort(one.indices, kind="stable")
    releases, indices = one.releases[order], one.indices[order].astype(np.int64)
    apart, steps = releases[1:] - releases[:-1], indices[1:] - indices[:-1]
    regular = (steps > 0) & ~np.isin(indices[1:], one.early) & _together(releases, resumed)
    return apart[regular], steps[regular]


def _together(moments: Times, resumed: Times) -> NDArray[np.bool_]:
    """Which pairs of neighbours have no pause of the recording between them."""
    stretch = np.searchsorted(resumed, moments, side="right")
    found: NDArray[np.bool_] = stretch[1:] == stretch[:-1]
    return found


def _of_locks(declared: Part) -> list[str]:
    if not (locks := declared.get("locks")):
        return []
    text = f"it takes locks ({', '.join(locks)}), and a trace does not show when and for how long"
    return [f"{text}: declare locks and its critical_sections"]


def _core(one: ObservedCallback, notes: list[str]) -> int | None:
    if "cpu" in one.declared:
        cpu: int = one.declared["cpu"]
        return cpu
    if len(one.cores) > 1:
        notes.append(f"cpu: it started on {sorted(one.cores)}")
        return None
    return next(iter(one.cores), None)


def _time(ns: float) -> str:
    return _time_us(ns / 1000)


def _time_us(us: float) -> str:
    return f"{us / 1000:.6g} ms" if us >= 1000 else f"{us:.6g} µs"
