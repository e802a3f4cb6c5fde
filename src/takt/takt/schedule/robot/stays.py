# SPDX-License-Identifier: Apache-2.0
"""What was measured while each scenario lasted, and what around its switches.

The bounds of a scenario hold while no job of another one is left. So a switch lasts, on each core
that follows it, until the core has ended all that was released before, and all that came meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import takt_core
from numpy.typing import NDArray

from takt.schedule.metrics.against import against
from takt.schedule.metrics.model import CallbackMetrics, ChainMetrics, Metrics, spread
from takt.schedule.trace import file as files
from takt.schedule.trace.file import Step, Table, Trace, Type, recorded

_Mask = NDArray[np.bool_]
_FIRST, _LAST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@dataclass(frozen=True)
class Measured:
    """The figures of one trace, by scenario."""

    scenarios: dict[str, Metrics]
    around: Metrics  # what a switch touches


@dataclass(frozen=True)
class _Stay:
    """From when until when all cores that follow scenarios stay in one; ns."""

    scenario: str
    begin: int
    end: int


def measured_stays(path: Path, application: Path, whole: Metrics) -> Measured:
    """Divides the metrics of a trace of this application."""
    trace = against(files.read(path), application)
    flat = files.description(trace.names)
    declared = None if flat is None else files.declared(flat, trace)
    sink = _Gathered(trace, declared)
    chains = [[trace.recorded(name) for name in one.callbacks] for one in sink.chains]
    files.replay(trace, [sink], chains=chains)
    return sink.result(whole)


class _Gathered:
    """The sink that keeps jobs, arrivals and switches."""

    def __init__(self, trace: Trace, declared: takt_core.Declared | None) -> None:
        self._names = trace.names
        self._first = declared.scenario if declared else ""
        self.chains = declared.chains if declared else []
        self._jobs: list[Table] = []
        self._arrivals: list[Table] = []
        self._switches: list[tuple[int, int, int]] = []  # time, core, scenario

    def take(self, step: Step) -> None:
        """Keeps."""
        rows = step.events["type"] == Type.scenario
        columns = (step.events[name][rows].tolist() for name in ("time", "core", "value"))
        self._switches += zip(*columns, strict=True)
        self._jobs.append(
            {name: step.jobs[name].copy() for name in ("task", "core", "release", "end", "missed")}
        )
        names = ("chain", "age", "reaction", "first", "release")
        self._arrivals.append({name: step.arrivals[name].copy() for name in names})

    def result(self, whole: Metrics) -> Measured:
        """To be called when the trace is replayed."""
        jobs, arrivals = _joined(self._jobs), _joined(self._arrivals)
        jobs = files.chosen(jobs, recorded(jobs["release"]) & recorded(jobs["end"]))
        stays = self._stays(jobs)
        ends = arrivals["release"] + arrivals["age"]
        reacts = recorded(arrivals["reaction"])
        since = np.where(reacts, ends - arrivals["reaction"], arrivals["release"])
        scenarios = {}
        inside = [np.zeros(len(column), bool) for column in (jobs["task"], ends, ends)]
        for name in dict.fromkeys(stay.scenario for stay in stays):
            own = [stay for stay in stays if stay.scenario == name]
            masks = [
                _within(own, jobs["release"], jobs["end"]),
                _within(own, arrivals["release"], ends),
                _within(own, since, ends),
            ]
            inside = [one | other for one, other in zip(inside, masks, strict=True)]
            scenarios[name] = self._part(whole, jobs, arrivals, masks)
        return Measured(scenarios, self._part(whole, jobs, arrivals, [~one for one in inside]))

    def _stays(self, jobs: Table) -> list[_Stay]:
        state = {core: self._first for _, core, _ in self._switches}
        stays, since = [], _FIRST
        for time, core, scenario in sorted(self._switches):
            if time > since and len(set(state.values())) == 1:
                stays.append(_Stay(state[core], since, time))
            state[core] = self._names.scenario(scenario)
            since = max(since, _busy_until(jobs, core, time))
        if len(set(state.values())) <= 1:
            stays.append(_Stay(next(iter(state.values()), self._first), since, _LAST))
        return stays

    def _part(self, whole: Metrics, jobs: Table, arrivals: Table, masks: list[_Mask]) -> Metrics:
        own, arrived, reacted = masks
        responses = jobs["end"] - jobs["release"]
        numbers = {name: number for number, name in self._names.tasks.items()}
        places = {chain.name: number for number, chain in enumerate(self.chains)}

        def callback(one: CallbackMetrics) -> CallbackMetrics:
            rows = own & (jobs["task"] == numbers[one.callback])
            misses = int(np.count_nonzero(jobs["missed"] & rows))
            figures = {"response_us": spread(responses[rows]), "misses": misses, "overdue": 0}
            return one.model_copy(update=figures)

        def chain(one: ChainMetrics) -> ChainMetrics:
            rows = arrived & (arrivals["chain"] == places[one.chain])
            latencies = arrivals["age"][rows & arrivals["first"]]
            reactions = rows & reacted & recorded(arrivals["reaction"])
            limit = one.max_latency_us
            late = 0 if limit is None else int(np.count_nonzero(latencies > limit * 1000))
            return one.model_copy(
                update={
                    "latency_us": spread(latencies),
                    "age_us": spread(arrivals["age"][rows]),
                    "reaction_us": spread(arrivals["reaction"][reactions]),
                    "violations": late,
                }
            )

        return whole.model_copy(
            update={
                "callbacks": [callback(one) for one in whole.callbacks],
                "chains": [chain(one) for one in whole.chains],
            }
        )


def _joined(tables: list[Table]) -> Table:
    return {name: np.concatenate([one[name] for one in tables]) for name in tables[0]}


def _busy_until(jobs: Table, core: int, time: int) -> int:
    """When the core has ended what was released before, and what came while it was busy with it."""
    own = files.chosen(jobs, (jobs["core"] == core) & (jobs["end"] > time))
    until = time
    for place in np.argsort(own["release"], kind="stable"):
        release, end = int(own["release"][place]), int(own["end"][place])
        if release >= until:
            break
        until = max(until, end)
    return until


def _within(stays: list[_Stay], begins: NDArray[np.int64], ends: NDArray[np.int64]) -> _Mask:
    found = np.zeros(len(begins), bool)
    for stay in stays:
        found |= (begins >= stay.begin) & (ends <= stay.end)
    return found
