# SPDX-License-Identifier: Apache-2.0
"""Holds a trace to limits: those of a file, and those that its application declares.

What did not happen is judged like what happened late: a callback without its jobs, a chain that
never completes and a reader without data fail, or stay undecided where the trace cannot tell.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from takt.judge import baseline, growth
from takt.judge.callbacks import callbacks
from takt.judge.disturbances import disturbances
from takt.judge.limits import ALL, Limits
from takt.judge.model import Judgement, Quantity, Verdict, overall
from takt.judge.paths import chains, reads
from takt.judge.pool import pooled
from takt.judge.recorded import Recorded
from takt.judge.series import side
from takt.judge.trial import Trial
from takt.judge.wrong import wrong
from takt.schedule.absence.model import Outcome
from takt.schedule.explain import explain
from takt.schedule.metrics import measure
from takt.schedule.trace import file as files
from takt.schedule.trace.against import against
from takt.schedule.trace.file import plain

ENDING = ".takttrace"


def judge(path: Path, limits: Limits, application: Path | None = None) -> Verdict:
    """Judges a trace, or the traces of a folder together; raises TaktError.

    ``application``: the file that declares deadlines, ages and chains, instead of the trace's own.
    """
    trials = [open_trial(one, limits, application) for one in traces(path)]
    return verdict(path, trials)


def traces(path: Path) -> list[Path]:
    """The trace itself, or those of a folder: repetitions of one application."""
    if not path.is_dir():
        return [path]
    if found := sorted(path.glob(f"*{ENDING}")):
        return found
    raise wrong(f"this folder has no trace (*{ENDING})", path, "takt execute --out writes one")


def open_trial(path: Path, limits: Limits, application: Path | None = None) -> Trial:
    """Reads a trace; raises TaktError for a file that is no trace, and for unknown names."""
    trace = against(files.read(path), application)
    flat = files.description(trace.names)
    declared = None if flat is None else files.declared(flat, trace.names)
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
        explanation=explain(path, application=application),
        deadlines=_deadlines(flat),
        inactive=frozenset(
            one.name for one in (declared.callbacks if declared else []) if not one.active
        ),
    )
    _check_names(trial, path)
    return trial


def verdict(path: Path, trials: Sequence[Trial]) -> Verdict:
    """The outcome of all limits on one or more repetitions."""
    limits, confidence = trials[0].limits, trials[0].confidence
    by_trial = [
        [_record(trial), *callbacks(trial), *chains(trial), *reads(trial)] for trial in trials
    ]
    judgements = pooled(by_trial, confidence)
    remarks = [line for trial in trials for line in trial.metrics.shortfalls]
    if (wanted := limits.not_worse_than) is not None:
        file = Path(wanted.baseline)
        before, after = baseline.read(file), side(trials)
        judgements += growth.judge(before, after, wanted.by / ALL, confidence, str(file))
        remarks += growth.differences(before, after)
    limited = any(one.quantity is not Quantity.record for one in judgements)
    if not limited:
        remarks.append("nothing has a limit: declare deadlines, or give a limits file")
    remarks += disturbances(trials)
    outcomes = [one.outcome for one in judgements]
    return Verdict(
        trace=str(path),
        outcome=overall(outcomes if limited else [*outcomes, Outcome.undecided]),
        repetitions=len(trials),
        confidence=confidence,
        judgements=judgements,
        remarks=list(dict.fromkeys(remarks)),
    )


def _deadlines(flat: str | None) -> dict[str, int]:
    """As declared; a timer without one has its period."""
    callbacks = json.loads(flat)["callbacks"] if flat else []
    found = {one["name"]: one.get("deadline") or one.get("period") for one in callbacks}
    return {name: int(deadline) for name, deadline in found.items() if deadline}


def _record(trial: Trial) -> Judgement:
    """A trace with lost events proves nothing that rests on their absence."""
    metrics = trial.metrics
    if metrics.lost:
        reason = f"{metrics.lost} events are lost"
    elif not metrics.closed_in_order:
        reason = "the trace was not closed: its process was killed, or still runs"
    else:
        reason = "no event is lost"
    whole = not metrics.lost and metrics.closed_in_order
    return Judgement(
        subject="trace",
        quantity=Quantity.record,
        limit_us=None,
        allowed=0,
        exceeded=metrics.lost,
        count=metrics.lost + metrics.executions,
        outcome=Outcome.meets if whole else Outcome.undecided,
        reason=reason,
    )


def _check_names(trial: Trial, path: Path) -> None:
    """A limit for a name that does not exist would always be met."""
    known = {one.callback for one in trial.metrics.callbacks} | set(trial.metrics.absent)
    limits = trial.limits
    asked = {
        "callback": (set(limits.callbacks) | set(limits.reads), known),
        "chain": (set(limits.chains), {one.chain for one in trial.metrics.chains}),
        "topic": (
            {topic for topics in limits.reads.values() for topic in topics},
            {plain(topic) for topic in trial.names.topics.values()},
        ),
    }
    for noun, (names, there) in asked.items():
        if unknown := sorted(names - there):
            raise wrong(
                f"the limits name {noun} {unknown[0]!r}, which the trace does not have",
                path,
                f"its {noun}s: {', '.join(sorted(there)) or 'none'}",
            )
