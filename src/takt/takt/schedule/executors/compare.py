# SPDX-License-Identifier: Apache-2.0
"""Analyses and simulates an application under each executor and policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any, Literal

from takt.errors import TaktError
from takt.schedule.analysis.ask import analyse
from takt.schedule.analysis.model import Analysis, CallbackBound, ChainBound
from takt.schedule.application.executors import POLICIES, STOCK_EXECUTORS
from takt.schedule.application.under import first_scenario, under
from takt.schedule.executors.measured import with_measured
from takt.schedule.executors.model import Candidate, Comparison, Figures
from takt.schedule.executors.robots import TAKT, Change, Executors, changes, described, named
from takt.schedule.simulation.model import CallbackResult, ChainResult, Times
from takt.schedule.simulation.simulate import simulate

Execution = Literal["worst", "drawn"]
Flat = dict[str, Any]


def compare(
    flat: Flat,
    where: str,
    *,
    duration: int | Literal["hyperperiod"] | None = None,
    execution: Execution = "drawn",
    seed: int = 1,
    limit: float | None = None,
    measure_s: float | None = None,
    progress: Callable[[str, float], object] = lambda _name, _share: None,
) -> Comparison:
    """The application in its flat form under each candidate, its own first.

    ``duration``: as in simulate(). ``limit``: after so many seconds no further candidate begins.
    ``measure_s``: each is executed for so many seconds, too, several times.
    ``progress`` receives the candidate and the share that is done.
    Raises TaktError where none of them can run it.
    """
    candidates: list[Candidate] = []
    durations: list[float] = []
    fixes: list[str | None] = []  # of what was refused
    all_of_them = list(_candidates(flat))
    began = monotonic()
    for place, one in enumerate(all_of_them):
        progress(named(one), place / len(all_of_them))
        try:
            if place and limit is not None and monotonic() - began >= limit:
                raise TaktError("not compared before the time was up")
            candidate, ms = _judged(one.flat, where, duration, execution, seed)
        except TaktError as error:
            candidate = _refused(error.what)
            fixes.append(error.fix)
        else:
            durations.append(ms)
        choice = {"process": one.process, "executor": one.executor, "policy": one.policy}
        candidates.append(candidate.model_copy(update=choice))
    if not durations:
        what = f"no executor can run it: {candidates[0].refused}"
        raise TaktError(what, where=where, fix=fixes[0])
    comparison = Comparison(
        application=str(flat["name"]),
        described=described(flat) if flat.get("processes") else candidates[0].name,
        scenario=first_scenario(flat),
        duration_ms=durations[0],
        execution=execution,
        candidates=candidates,
    )
    if measure_s is None:
        return comparison
    documents = [one.flat for one in all_of_them]
    return with_measured(comparison, documents, measure_s, progress)


def _candidates(flat: Flat) -> Iterator[Change]:
    if flat.get("processes"):
        every: Executors = [(TAKT, policy) for policy in POLICIES]
        every += [(one, None) for one in STOCK_EXECUTORS]
        yield from changes(flat, every)
        return
    for executor, policy in _of_one_process(flat):
        yield Change(None, executor, policy, under(flat, executor, policy))


def _of_one_process(flat: Flat) -> Iterator[tuple[str, str | None]]:
    executor = str(flat.get("executor", TAKT))
    own = (executor, str(flat.get("policy", "fp")) if executor == TAKT else None)
    yield own
    for policy in POLICIES:
        if (TAKT, policy) != own:
            yield TAKT, policy
    for stock in STOCK_EXECUTORS:
        if (stock, None) != own:
            yield stock, None


def _judged(
    document: Flat,
    where: str,
    duration: int | Literal["hyperperiod"] | None,
    execution: Execution,
    seed: int,
) -> tuple[Candidate, float]:
    bounds = analyse(document, where, proposals=False)
    played = simulate(document, where=where, duration=duration, seed=seed, execution=execution)
    own = {one["name"] for one in document["callbacks"]}
    callbacks: dict[str, Figures] = {}
    chains: dict[str, Figures] = {}
    of_callback = {one.callback: one for one in played.callbacks}
    of_chain = {one.chain: one for one in played.chains}
    for scenario in bounds.scenarios:
        for callback in scenario.callbacks:
            if callback.name in own:
                found = _callback(callback, of_callback[callback.name])
                callbacks[found.name] = _worse(callbacks.get(found.name), found)
        for chain in scenario.chains:
            found = _chain(chain, of_chain[chain.name])
            chains[found.name] = _worse(chains.get(found.name), found)
    candidate = Candidate(
        executor="",
        policy=None,
        refused=None,
        verdict=bounds.verdict,
        factor=_factor(bounds),
        callbacks=list(callbacks.values()),
        chains=list(chains.values()),
        besides=_besides(bounds),
    )
    return candidate, played.duration_ms


def _besides(bounds: Analysis) -> list[str]:
    """What may keep the verdict from ``meets`` although callbacks and chains keep their limits."""
    found = [
        f"the age of {age.topic} at {age.callback}, in scenario {scenario.name}"
        for scenario in bounds.scenarios
        for age in scenario.ages
        if not age.meets
    ]
    if bounds.switches is not None and not bounds.switches.meets:
        found.append(f"the limits across switches: {bounds.switches.bound_by}")
    return found


def _factor(bounds: Analysis) -> float | None:
    """With which all scenarios are guaranteed; None: none, or it is not known of one."""
    each = [one.sensitivity for one in bounds.scenarios]
    found = [one.factor for one in each if one is not None and one.factor is not None]
    return min(found) if len(found) == len(each) else None


def _refused(why: str) -> Candidate:
    return Candidate(
        executor="", policy=None, refused=why, verdict="not_proved", callbacks=[], chains=[]
    )


def _callback(bound: CallbackBound, played: CallbackResult) -> Figures:
    return Figures(
        name=bound.name,
        limit_us=bound.deadline_us,
        bound_us=bound.response_us,
        verdict=bound.verdict,
        above=played.misses,
        **_times(played.response),
    )


def _chain(bound: ChainBound, played: ChainResult) -> Figures:
    return Figures(
        name=bound.name,
        limit_us=bound.max_latency_us,
        bound_us=bound.latency_us,
        verdict="meets" if bound.meets or bound.max_latency_us is None else "not_proved",
        above=played.violations,
        **_times(played.latency),
    )


def _times(times: Times | None) -> dict[str, float | None]:
    return {f"{key}_us": getattr(times, f"{key}_us", None) for key in ("p50", "p99", "max")}


def _worse(one: Figures | None, other: Figures) -> Figures:
    """Of two scenarios; no bound is the worst."""
    if one is None or other.bound_us is None:
        return other
    return one if one.bound_us is None or one.bound_us >= other.bound_us else other
