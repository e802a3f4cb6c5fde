# SPDX-License-Identifier: Apache-2.0
"""An analysis for people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from takt.pages.row_table import Columns, RowTable
from takt.pages.text import listed
from takt.schedule.analysis.model import (
    Analysis,
    CallbackBound,
    ChainBound,
    CoreBound,
    PlacedProcess,
    ScenarioBounds,
    Switches,
    Verdict,
)
from takt.schedule.application.executors import SEVERAL_THREADS
from takt.schedule.application.kernel_scheduling import scheduling_text
from takt.schedule.application.overhead_words import HOW, overhead_words

_NEVER = "never released in this scenario"  # of what a callback is bound by
_MOST = 1e6  # the largest factor that the analysis tries
WORDS: dict[Verdict, str] = {
    "meets": "[green]meets[/]",
    "not_proved": "[yellow]not proved[/]",
    "misses": "[bold red]misses[/]",
}


def show(console: Console, analysis: Analysis, document: Mapping[str, Any]) -> None:
    """Prints a table for each scenario, and what has to be known about it.

    ``document``: the flat application.
    """
    place = _Place(document)
    for scenario in analysis.scenarios:
        _show_scenario(console, analysis, scenario, place)
    if analysis.switches is not None:
        console.print(
            f"across switches: {_meets(analysis.switches.meets)}; "
            f"{'by ' if analysis.switches.meets else ''}{escape(analysis.switches.bound_by)}",
            soft_wrap=True,
        )
        console.print(escape(_around(analysis.switches)), soft_wrap=True)
    if analysis.overheads is None:
        console.print(
            f"overheads: not included (measure them: {HOW})",
            soft_wrap=True,
        )
    else:
        costs = {name.removesuffix("_us"): us * 1000 for name, us in analysis.overheads.items()}
        console.print(overhead_words(costs), soft_wrap=True)
    if never := _never_released(analysis):
        console.print(
            f"note: never released in any scenario: {escape(listed(never))}; no timer, external "
            "topic or service leads to them",
            soft_wrap=True,
        )
    notes = analysis.remarks[1 if analysis.overheads is None else 0 :]
    _show_remarks(console, [note for note in notes if note not in _assumed(analysis)])


def _around(switches: Switches) -> str:
    """What holds there of the figures, which are of one scenario each."""
    above = "the bounds above hold while no job of another scenario is left; "
    if not switches.meets:
        return f"{above}around switches nothing has a bound"
    if not switches.responses_us:
        return f"{above}around switches deadlines and limits of latencies are kept, no more"
    bounds = switches.responses_us | switches.latencies_us
    said = ", ".join(f"{name} {_time(us)}" for name, us in bounds.items())
    return f"{above}around switches {said}; no reaction, no age"


def _never_released(analysis: Analysis) -> list[str]:
    """Callbacks that meet each deadline because they never run, as those of a cycle of topics."""
    each = [
        {one.name for one in scenario.callbacks if one.bound_by == _NEVER}
        for scenario in analysis.scenarios
    ]
    return sorted(set.intersection(*each)) if each else []


def _assumed(analysis: Analysis) -> list[str]:
    """What the proof takes for granted about cores: a part of the verdict."""
    return [remark for remark in analysis.remarks if remark.startswith("assuming ")]


class _Place:
    """Where a callback runs, in words."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        processes = document.get("processes", [])
        self._shared: dict[str, list[int]] = {
            one["name"]: one["cpus"]
            for one in processes
            if one.get("executor") in SEVERAL_THREADS and one.get("cpus")
        }
        self._process = {one["name"]: one.get("process") for one in document["callbacks"]}

    def __call__(self, one: CallbackBound | CoreBound) -> str:
        """Its core, or the cores whose threads share its callbacks."""
        if isinstance(one, CoreBound):
            process = one.process
        else:  # or the subscription of a topic that the callback reads
            process = self._process.get(one.name) or self._process.get(one.name.rpartition(".")[0])
        cpus = self._shared.get(process or "", [])
        text = ", ".join(map(str, cpus)) if one.cpu in cpus else f"{one.cpu}"
        return text if one.host is None else f"{text} of {escape(one.host)}"


def _show_scenario(
    console: Console, analysis: Analysis, scenario: ScenarioBounds, place: _Place
) -> None:
    assumed = [escape(one) for one in _assumed(analysis)]
    several = len(assumed) > 1  # which would hide the verdict in its line
    console.print(
        f"[bold]{escape(analysis.application)}[/], scenario {escape(scenario.name)},"
        f" policy {scenario.policy}:"
        f" {', '.join([WORDS[scenario.verdict], *([] if several else assumed)])}",
        soft_wrap=True,
    )
    for one in assumed if several else []:
        console.print(f"  {one}", soft_wrap=True)
    console.print(_callbacks(scenario, place))
    methods: dict[str, list[str]] = {}  # by equation, which several of them may share
    for words, equation in map(_method, dict.fromkeys(one.bound_by for one in scenario.callbacks)):
        methods.setdefault(equation, []).append(words)
    for equation, words_of in methods.items():
        if equation:
            console.print(f"{equation}: {escape('; or '.join(words_of))}", soft_wrap=True)
    for core in scenario.cores:
        utilization = "without bound" if core.utilization is None else f"{core.utilization:.1%}"
        by = f" by {core.bound_by}" if core.bound_by else ""
        shared = scenario.policy in SEVERAL_THREADS  # whichever thread is free takes a callback
        on = place(core)
        where = "all cores together" if shared else f"{'cores' if ',' in on else 'core'} {on}"
        console.print(
            f"{where}: utilization {utilization}, {WORDS[core.verdict]}{by}",
            soft_wrap=True,
        )
    for chain in scenario.chains:
        limit = "" if chain.max_latency_us is None else f" of {_time(chain.max_latency_us)}"
        verdict = f", {_meets(chain.meets)}" if chain.max_latency_us is not None else ""
        console.print(
            f"chain {escape(chain.name)}: latency {_time(chain.latency_us)}{limit}{verdict},"
            f" reaction {_time(chain.reaction_us)}, data age {_time(chain.age_us)}{_lost(chain)};"
            f" by {chain.bound_by}",
            soft_wrap=True,
        )
    for age in scenario.ages:
        console.print(
            f"age of {escape(age.topic)} at {escape(age.callback)}: {_time(age.age_us)} of"
            f" {_time(age.max_age_us)}, {_meets(age.meets)}; by {age.bound_by}",
            soft_wrap=True,
        )
    _show_sensitivity(console, scenario)
    for what, proposal in (
        ("priorities", scenario.proposals.priorities),
        ("cores", scenario.proposals.cpus),
    ):
        if proposal:
            names = ", ".join(f"{escape(name)}: {value}" for name, value in proposal.items())
            console.print(f"every deadline would be met with these {what}: {names}", soft_wrap=True)
    if scenario.proposals.processes:
        names = "; ".join(
            f"{escape(name)}: {_proposed(one)}"
            for name, one in scenario.proposals.processes.items()
        )
        less = "as much would be guaranteed with smaller reservations"
        more = "more would be guaranteed with these processes"
        meets = scenario.verdict == "meets"
        console.print(f"{less if meets else more}: {names}", soft_wrap=True)
    _show_remarks(console, scenario.remarks)
    console.print()


def _proposed(one: PlacedProcess) -> str:
    """Where a process would be, and how the kernel would schedule it."""
    if one.reservation:
        how = f", {scheduling_text({'reservation': one.reservation.model_dump()})}"
    else:
        how = f", priority {one.priority}" if one.priority else ""
    return f"{one.policy}, core {one.cpu}{how}"


def _callbacks(scenario: ScenarioBounds, place: _Place) -> RowTable[CallbackBound]:
    several = len(scenario.cores) > 1
    prioritised = any(each.priority is not None for each in scenario.callbacks)
    waits = any(each.suspension_us for each in scenario.callbacks)
    core: Columns[CallbackBound] = {"core": place}
    priority: Columns[CallbackBound] = {"prio": lambda one: one.priority or "-"}
    locks = any(each.locks for each in scenario.callbacks)
    blocking: Columns[CallbackBound] = {
        "blocked": lambda one: _time(one.blocking_us or None),
        "by locks": lambda one: escape(", ".join(one.locks)) or "-",
    }
    waiting: Columns[CallbackBound] = {"waits": lambda one: _time(one.suspension_us or None)}
    return RowTable(
        heading="callback",
        rows=scenario.callbacks,
        name=lambda one: one.name,
        always={
            **(core if several else {}),
            **(priority if prioritised else {}),
            "period": lambda one: _time(one.period_us),
            "deadline": lambda one: _time(one.deadline_us),
            "wcet": lambda one: _time(one.wcet_us),
            **(waiting if waits else {}),
            **(blocking if locks else {}),
            "response": lambda one: _time(one.response_us),
            "": lambda one: Text.from_markup(WORDS[one.verdict]),
            "by": lambda one: _by(one.bound_by),
        },
        where_any={},
        words=frozenset({"", "by", "by locks"}),
    )


def _lost(chain: ChainBound) -> str:
    return f", at most {100 * chain.loss:.4g} % lost on links" if chain.loss else ""


def _by(bound_by: str) -> str:
    method, equation = _method(bound_by)
    return equation or method


def _method(bound_by: str) -> tuple[str, str]:
    """The method in words and its equation, which docs/reference/analysis.md has."""
    parts = [part.partition(", eq. ") for part in bound_by.split("; ")]
    numbers = ", ".join(number for _, _, number in parts if number)
    return "; ".join(words for words, _, _ in parts), f"eq. {numbers}" if numbers else ""


def factor_text(factor: float) -> str:
    """Rounded down: nothing above it is guaranteed."""
    return f"{math.floor(factor * 1000) / 1000:g}"


def _show_sensitivity(console: Console, scenario: ScenarioBounds) -> None:
    if scenario.sensitivity is None:
        return
    factor = scenario.sensitivity.factor
    if factor is None:
        console.print("sensitivity: not guaranteed even with far shorter execution times")
        return
    if factor >= _MOST:
        console.print(
            "sensitivity: guaranteed even with a million times the execution times", soft_wrap=True
        )
        return
    worst = min(
        ((each or 0, name) for name, each in scenario.sensitivity.callbacks.items()),
        default=None,
    )
    tightest = ""
    if worst and factor >= 1:
        tightest = (
            f"; the tightest single callback is {escape(worst[1])}, by {factor_text(worst[0])}"
        )
    console.print(
        f"sensitivity: guaranteed up to {factor_text(factor)} times the execution times{tightest}",
        soft_wrap=True,
    )


def _show_remarks(console: Console, remarks: Iterable[str]) -> None:
    for remark in remarks:
        console.print(f"note: {escape(remark)}", soft_wrap=True)


def _meets(meets: bool) -> str:
    return WORDS["meets" if meets else "not_proved"]


def _time(time_us: float | None) -> str:
    if time_us is None:
        return "-"
    if time_us >= 1e9:  # where ms would need an exponent
        return f"{time_us / 1e6:.6g} s"
    if time_us >= 1000:
        return f"{time_us / 1000:.6g} ms"
    return f"{time_us:.6g} µs"
