# SPDX-License-Identifier: Apache-2.0
"""An explanation for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from takt.pages.row_table import of_cells
from takt.pages.text import number_of
from takt.schedule.application.overhead_words import overhead_words
from takt.schedule.explain.model import (
    ChainAgainst,
    ChainStep,
    Explanation,
    Late,
    LateChain,
    Program,
    ShareKind,
)
from takt.schedule.metrics.show import never_ended

SHOWN = 10  # late jobs on the terminal: those that were latest
CHAINS = 3  # instances of a chain on the terminal: those most above their bound
PROGRAMS = 3  # that are named in one line
_NOTABLE = 0.05  # of a chain: parts of its way that are named
_SMALL = 0.01  # of a response: what is told on the terminal at least


def show(console: Console, explanation: Explanation) -> None:
    """Prints causes by callback, and the jobs that were latest."""
    console.print(misses(explanation), markup=False)
    if line := above_bounds(explanation):
        console.print(line, markup=False, soft_wrap=True)
    for line in chain_lines(explanation):
        console.print(line, markup=False, soft_wrap=True)
    if explanation.programs:
        line = "other programs had the cores of these executions: "
        console.print(line + programs(explanation.programs), markup=False, soft_wrap=True)
    if not explanation.callbacks:
        return
    causes = list(explanation.by_cause)
    headings = ["callback", "misses", *(cause.value for cause in causes)]
    if explanation.bounds:
        headings += ["above bound", "longest, ms", "bound, ms"]
    rows: list[list[object]] = []
    for one in explanation.callbacks:
        row: list[object] = [one.callback, one.misses]
        row += [one.by_cause.get(cause, "") for cause in causes]
        if explanation.bounds:
            bound = "–" if one.bound_us is None else f"{one.bound_us / 1000:.3f}"
            row += [one.above, f"{one.response_us / 1000:.3f}", bound]
        rows.append(row)
    console.print(of_cells(headings, rows))
    latest = sorted(explanation.details, key=lateness, reverse=True)[:SHOWN]
    console.print(f"\nThe {len(latest)} latest:", markup=False)
    for late in latest:
        _show(console, late)


def misses(explanation: Explanation) -> str:
    """How many deadlines were missed."""
    line = f"{explanation.misses} of {explanation.executions} executions missed their deadline"
    if not explanation.executions:
        line = "no execution ended"
    are = "is" if explanation.partly == 1 else "are"
    partly = f"{explanation.partly} of them {are} partly explained" if explanation.partly else ""
    return "; ".join(filter(None, [line, partly, never_ended(explanation.overdue)]))


def above_bounds(explanation: Explanation) -> str:
    """How the responses stand to their bounds; empty where there are none."""
    bounds = explanation.bounds
    if bounds is None:
        return ""
    if not bounds.responses:
        return "no response to compare with a bound"
    what = "without overheads"
    if bounds.overheads:
        words = overhead_words({name: us * 1000 for name, us in bounds.overheads_us.items()})
        what = f"with {words}"
    line = f"{bounds.above} of {bounds.responses} responses are above their bound ({what})"
    if not bounds.above:
        return line
    reasons = [f"{count} {kind.value}" for kind, count in bounds.by_cause.items()]
    return f"{line}: {', '.join([*reasons, f'{bounds.unexplained} unexplained'])}"


def chain_lines(explanation: Explanation) -> list[str]:
    """How chains stand to their bounds: in one line where all hold, else those that do not."""
    measured = [one for one in explanation.chains if one.measured]
    if not measured:
        return []
    above = [one for one in measured if one.above]
    lines = [f"{len(measured) - len(above)} of {len(measured)} bounds of chains hold"]
    for one in above:
        lines.append(against_bound(one))
        lines += [f"  {way(late)}" for late in one.late[:CHAINS]]
    return lines


def against_bound(chain: ChainAgainst) -> str:
    """How a chain stands to one of its bounds."""
    bound = f"{chain.bound_us / 1000:.3f} ms"
    name = f"chain {chain.chain}, {chain.kind}"
    longest = f"longest {(chain.longest_us or 0) / 1000:.3f} ms"
    line = f"{name}: {chain.above} of {chain.measured} above the bound of {bound}, {longest}"
    reasons = [f"{count} {kind.value}" for kind, count in chain.by_cause.items()]
    return f"{line}: {', '.join([*reasons, f'{chain.unexplained} unexplained'])}"


def way(late: LateChain) -> str:
    """One instance of a chain: who lost the time, and the parts of its way."""
    took = f"{late.took_us / 1000:.3f} ms, {late.above_us / 1000:.3f} ms above"
    if not late.steps:
        return f"{took}: unexplained, its way is not in the trace"
    unknown = ", ".join(f"{us / 1000:.3f} ms {kind.value}" for kind, us in late.unknown_us.items())
    cause = "unexplained" if late.cause is None else late.cause.value
    by = f", {late.lost_us / 1000:.3f} ms by {late.lost_by}" if late.lost_by else ""
    known = f" (its bound does not know of {unknown})" if unknown else ""
    long = [one for one in late.steps if one.us >= _NOTABLE * late.took_us]
    parts = [f"{_step(one)} {one.us / 1000:.3f} ms" for one in long]
    if rest := late.took_us - sum(one.us for one in long):
        parts.append(f"others {rest / 1000:.3f} ms")
    return f"{took}: {cause}{by}{known}; its way: {' + '.join(parts)}"


def _step(step: ChainStep) -> str:
    if step.job is not None:
        return step.job
    return "join" if step.message is None else f"message {step.message}"


def programs(found: Sequence[Program]) -> str:
    """Who they were, and for how long each had a core."""
    named = [_program(one) for one in found[:PROGRAMS]]
    rest = found[PROGRAMS:]
    if rest:
        named.append(f"{number_of(len(rest), 'other')} {sum(one.us for one in rest) / 1000:.3f} ms")
    return ", ".join(named)


def _program(one: Program) -> str:
    process = "" if one.process < 0 else f" (process {one.process})"
    return f"{one.name}{process} {one.us / 1000:.3f} ms"


def lateness(late: Late) -> float:
    """By how much it is late, in µs: after its deadline or above its bound, whichever is more."""
    return max(late.late_us if late.missed else 0, late.above.above_us if late.above else 0)


def sentence(late: Late) -> str:
    """What happened, in one line."""
    name = f"{late.callback}[{late.job}]"
    if not late.missed:
        return f"{name} responded in {late.end_us / 1000:.3f} ms, {why_above(late)}"
    cause = label(late.cause, late.by)
    if late.cause is ShareKind.executed:
        cause = f"its own execution took {late.cause_us / 1000:.3f} ms"
        if late.deadline_us is not None and late.cause_us > late.deadline_us:
            cause += f", its deadline allows {late.deadline_us / 1000:.3f} ms"
    elif late.partly:
        cause = f"the largest cause, {cause}, takes {late.cause_us / 1000:.3f} ms"
    if late.partly:
        cause = f"partly explained; {cause}"
    ended = f"ended {late.late_us / 1000:.3f} ms late (response {late.end_us / 1000:.3f} ms)"
    return f"{name} {ended}: {cause}"


def why_above(late: Late) -> str:
    """What its bound does not know of; empty where it is not above it."""
    above = late.above
    if above is None:
        return ""
    unknown = ", ".join(f"{us / 1000:.3f} ms {kind.value}" for kind, us in above.unknown_us.items())
    since = ""
    if above.busy_since_us < 0:
        since = f" since {-above.busy_since_us / 1000:.3f} ms before its release"
    cause = "unexplained" if above.cause is None else above.cause.value
    jobs = f"in {above.jobs} jobs" if above.jobs > 1 else "in its job"
    bound = f"{above.above_us / 1000:.3f} ms above its bound of {above.bound_us / 1000:.3f} ms"
    known = f"its bound does not know of {unknown or 'anything that happened'}, {jobs}{since}"
    return f"{bound}: {cause} ({known})"


def label(kind: ShareKind, by: str | None) -> str:
    """A share's name."""
    if kind is ShareKind.throttled:
        return "throttled, its budget was used up"
    if by is None:
        return str(kind.value)
    between = {
        ShareKind.preempted: " by ",
        ShareKind.not_scheduled: ", nor was ",
        ShareKind.late: ", behind ",
        ShareKind.lock: ", held by ",
    }.get(kind, " ")
    return f"{kind.value}{between}{by}"


def _show(console: Console, late: Late) -> None:
    console.print(sentence(late), markup=False, soft_wrap=True)
    if late.missed and (text := why_above(late)):
        console.print(f"  {text}", markup=False, soft_wrap=True)
    for share in late.shares:
        if share.us < _SMALL * late.end_us:
            continue
        text = f"  {share.us / 1000:9.3f} ms  {label(share.kind, share.by)}: {share.evidence}"
        console.print(text, markup=False, soft_wrap=True)
    if late.programs:
        text = f"             programs  {programs(late.programs)}"
        console.print(text, markup=False, soft_wrap=True)
    for fault in late.inputs:
        console.print(f"                data  {fault}", markup=False, soft_wrap=True)
