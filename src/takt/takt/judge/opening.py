# SPDX-License-Identifier: Apache-2.0
"""Reads a trace with everything that its limits need."""

from __future__ import annotations

import json
from pathlib import Path

from takt.errors import together
from takt.judge.limits import ALL, Limits
from takt.judge.recorded import Recorded
from takt.judge.trial import Trial
from takt.judge.wrong import wrong
from takt.schedule.explain import explain
from takt.schedule.metrics import measure
from takt.schedule.metrics.against import against
from takt.schedule.ros2.topics import plain
from takt.schedule.trace import file as files


def open_trial(path: Path, limits: Limits, application: Path | None = None) -> Trial:
    """Reads a trace; raises TaktError for a file that is no trace, and for unknown names."""
    trace = against(files.read(path), application)
    flat = files.description(trace.names)
    declared = None if flat is None else files.declared(flat, trace)
    followed = [
        [trace.recorded(name) for name in chain.callbacks]
        for chain in (declared.chains if declared else [])
    ]
    recorded = Recorded(len(followed))
    files.replay(trace, [recorded], chains=followed)
    trial = Trial(
        limits=limits,
        confidence=limits.confidence / ALL,
        names=trace.names,
        declared=declared,
        recorded=recorded,
        metrics=measure(path, application=application),
        explanation=explain(path, application=application, limits=_responses(limits)),
        deadlines=_deadlines(flat),
        inactive=frozenset(
            one.name for one in (declared.callbacks if declared else []) if not one.active
        ),
    )
    _check_names(trial, path)
    return trial


def _responses(limits: Limits) -> dict[str, int]:
    """The limits on responses that stand in place of deadlines, in ns by callback."""
    return {
        name: one.response for name, one in limits.callbacks.items() if one.response is not None
    }


def _deadlines(flat: str | None) -> dict[str, int]:
    """As declared; a timer without one has its period."""
    callbacks = json.loads(flat)["callbacks"] if flat else []
    found = {one["name"]: one.get("deadline") or one.get("period") for one in callbacks}
    return {name: int(deadline) for name, deadline in found.items() if deadline}


def _check_names(trial: Trial, path: Path) -> None:
    """A limit for a name that does not exist would always be met."""
    limits = trial.limits
    callbacks = [("callbacks", name) for name in limits.callbacks]
    callbacks += [("reads", name) for name in limits.reads]
    read = [("reads", name, topic) for name, topics in limits.reads.items() for topic in topics]
    chains = {one.chain for one in trial.metrics.chains}
    topics = {plain(topic) for topic in trial.names.topics.values()}
    asked: list[tuple[str, list[tuple[str, ...]], set[str]]] = [
        ("callback", [*callbacks], trial.callbacks()),
        ("chain", [("chains", name) for name in limits.chains], chains),
        ("topic", [*read, *(("topics", name) for name in limits.topics)], topics),
    ]
    faults = [
        wrong(
            f"the limits name {noun} {place[-1]!r}, which the trace {path} does not have",
            limits.where(*place) or path,
            f"its {noun}s: {', '.join(sorted(there)) or 'none'}",
        )
        for noun, places, there in asked
        for place in places
        if place[-1] not in there
    ]
    for place in read:
        _, name, topic = place
        reads = _topics_of(trial, name)
        if reads is not None and topic in topics - reads:
            what = f"the limits name topic {topic!r} of {name}, which does not read it"
            fix = f"it reads: {', '.join(sorted(reads)) or 'nothing'}"
            faults.append(wrong(what, limits.where(*place) or path, fix))
    if faults:
        raise together(faults)


def _topics_of(trial: Trial, name: str) -> set[str] | None:
    """What a callback reads, as declared and as recorded; None: nothing says so."""
    found = {one.topic for one in trial.metrics.data_age if one.callback == name}
    callbacks = trial.declared.callbacks if trial.declared else []
    for one in callbacks:
        if one.name == name:
            return found | {plain(topic) for topic in one.reads}
    return found or None
