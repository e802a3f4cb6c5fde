# SPDX-License-Identifier: Apache-2.0
"""From a run to a verdict: a pure function, with rules that a person can check.

1. Judged are the cells that asked for real-time scheduling; all cells where none did.
2. Only counts decide, never a single maximum: the one judgement of all commands
   (:mod:`takt.measure.results.outcome`). A layer *keeps its deadline* when its responses meet it,
   *misses* it when they fail. In between, there are too few samples, and the level is unknown.
3. A layer is good when it keeps its deadline and, with a probability of :data:`MARGIN_TARGET`,
   a quarter of it (:data:`MARGIN`): the rest of the cycle belongs to the control law. It is fair
   when it keeps the deadline only.
4. Misses that a disturbance can explain do not convict the machine: instead of bad, unknown.
5. At most fair: losses, failed or unfinished repetitions, stacks that are not installed, real-time
   settings that were refused (the headline says so of a policy), and a kernel other than
   PREEMPT_RT (no short measurement shows what it does under load).
6. The worst layer decides, in the order good, fair, unknown, bad.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from takt.doctor.finding import Finding, Severity
from takt.measure.check.evidence import Layer, is_realtime, layers, way
from takt.measure.results import outcome, scheduling
from takt.measure.results.disturbed import sentence
from takt.measure.results.model import Cell, Run, Status, Verdict
from takt.measure.statistics.summary import LOOP_RATES_HZ
from takt.pages import text
from takt.statistics.judgement import CONFIDENCE, Outcome

Level = Literal["good", "fair", "unknown", "bad"]
RANKS: tuple[Level, ...] = ("good", "fair", "unknown", "bad")

MARGIN = 0.25
MARGIN_TARGET = 1e-2


@dataclass
class Judgement:
    """What the rules say of one layer."""

    layer: Layer
    level: Level
    keeps: bool  # its deadline, with the confidence
    rate_hz: int | None  # the fastest common loop whose period it keeps
    reasons: list[str] = field(default_factory=list)

    def at_most(self, level: Level, reason: str | None = None) -> None:
        """Lower the level to this one, if it is better."""
        self.level = worst(self.level, level)
        if reason:
            self.reasons.append(reason)


def worst(*levels: Level) -> Level:
    """Return the worst of the levels."""
    return RANKS[max(RANKS.index(level) for level in levels)]


def judge(run: Run) -> Verdict:
    """Judge a run by the rules above."""
    judgements = assess(run)
    if not judgements:
        return Verdict(
            level="unknown",
            outcome=Outcome.undecided,
            headline="Nothing was measured.",
            reasons=_failures(run),
        )
    level = worst(*(one.level for one in judgements))
    reasons = [reason for one in judgements for reason in one.reasons]
    if (kernel := _finding(run, "preemption")) and kernel.severity is not Severity.good:
        level = worst(level, "fair")
        known = "not" if kernel.severity is not Severity.unknown else "not known to be"
        reasons.append(
            f"The kernel is {known} PREEMPT_RT ({kernel.value}): its latency under load "
            "has no bound."
        )
    for stack in _missing_stacks(run):
        level = worst(level, "fair")
        reasons.append(f"The stack {stack} is not installed, so its layers were not measured.")
    if unfinished := sum(len(one.layer.unfinished) for one in judgements):
        of = sum(len(one.layer.cells) for one in judgements)
        reasons.append(f"{unfinished} of {of} measurements did not complete.")
    if (load := _finding(run, "load")) and load.severity is Severity.warning:
        reasons.append(f"Other programs were busy when the run began: {load.value}.")
    if disturbed := sentence(cell for one in judgements for cell in one.layer.cells):
        reasons.append(disturbed)
    reasons += _stolen(judgements) + _failures(run, besides=judgements) + _refused(judgements)
    return Verdict(
        level=level,
        outcome=outcome.of_run([cell for one in judgements for cell in one.layer.cells]),
        headline=_headline(level, judgements),
        reasons=reasons,
    )


def assess(run: Run) -> list[Judgement]:
    """Judge each layer that counts for the verdict."""
    realtime = [cell for cell in run.cells if is_realtime(cell)]
    return [judge_layer(layer) for layer in layers(realtime or run.cells)]


def judge_layer(layer: Layer) -> Judgement:
    """Apply rules 2 to 5 to one layer."""
    deadline = layer.first.deadline_us
    late = layer.late(deadline)
    decision = late.decide()
    keeps = decision.outcome is Outcome.meets
    found = Judgement(layer, "unknown", keeps, held_rate(layer))
    said = f"{layer.title}: {text.count(late.at_most)} of {text.count(late.count)} "
    said += f"responses came after {text.duration(deadline)}" + " or are missing" * bool(
        layer.absent
    )
    if layer.count == 0:
        found.reasons.append(f"{layer.title}: nothing was measured.")
    elif found.keeps:
        quarter = layer.late(deadline * MARGIN).decide(MARGIN_TARGET)
        found.level = "good" if quarter.outcome is Outcome.meets else "fair"
        found.reasons.append(f"{said}; {_bounded(decision.high)}.")
        if found.level == "fair":
            limit = text.duration(deadline * MARGIN)
            found.reasons.append(
                f"{layer.title}: up to {text.probability(quarter.high)} take more than "
                f"{limit}, a quarter of the deadline: little time remains for the control "
                "law."
            )
    elif decision.outcome is Outcome.fails:
        found.level = "bad"
        found.reasons.append(f"{said}: more than 1 in 1000, with {CONFIDENCE:.0%} confidence.")
    elif replace(late, excused=0).decide().outcome is Outcome.fails:
        found.reasons.append(f"{said}, but {_explained(layer)}.")
    else:
        found.reasons.append(f"{said}; too few samples to show fewer than 1 in 1000.")
    _limit(found)
    return found


def held_rate(layer: Layer) -> int | None:
    """The fastest common loop, up to the measured rate, whose period the layer keeps."""
    for rate in reversed(LOOP_RATES_HZ):
        period = 1e6 / rate
        asked = period >= layer.first.period_us * 0.999
        if asked and layer.late(period).decide().outcome is Outcome.meets:
            return rate
    return None


def _limit(found: Judgement) -> None:
    """Rule 5, as far as it concerns one layer."""
    layer = found.layer
    if layer.absent:
        of = f"{text.count(layer.absent)} of {text.count(layer.count)}"
        found.at_most("fair", f"{layer.title}: {of} are missing.")
    for cell in layer.failed:
        found.at_most("fair", _failure(cell))
    if layer.unfinished or layer.not_granted:  # said once for the whole run
        found.at_most("fair")


def _explained(layer: Layer) -> str:
    """What may have made the late ones."""
    disturbed = sum(cell.disturbed for cell in layer.cells)
    excused = text.count(layer.late(layer.first.deadline_us).excused)
    if disturbed:
        of = f"{disturbed} of {text.number_of(len(layer.cells), 'repetition')}"
        return f"other programs disturbed {of}, which explains up to {excused} of them"
    taken = text.duration(layer.steal_us)
    return f"the hypervisor stole {taken} meanwhile, which explains up to {excused} of them"


def _bounded(upper: float) -> str:
    return f"with {CONFIDENCE:.0%} confidence fewer than 1 in {text.count(int(1 / upper))} do"


def _finding(run: Run, name: str) -> Finding | None:
    return next((finding for finding in run.doctor if finding.id == name), None)


def _missing_stacks(run: Run) -> list[str]:
    """Stacks that the experiment names and that have no cell."""
    blocks = run.experiment.get("measurements") or []
    asked = {stack for block in blocks for stack in block.get("stack") or []}
    return sorted(asked - {cell.stack for cell in run.cells})


def _stolen(judgements: list[Judgement]) -> list[str]:
    total = sum(one.layer.steal_us for one in judgements)
    if not total:
        return []
    taken = text.duration(total)
    reason = (
        f"The hypervisor stole {taken} of CPU time during these measurements: it may have "
        "caused the longest latencies."
    )
    return [reason]


def _failure(cell: Cell) -> str:
    if not cell.error:
        return f"{cell.id} failed."
    fix = f" Fix: {text.full_stop(cell.error.fix)}" if cell.error.fix else ""
    return f"{cell.id} failed: {cell.error.what}.{fix}"


def _failures(run: Run, besides: list[Judgement] | None = None) -> list[str]:
    """Failed cells that no judgement has named."""
    named = {cell.id for one in besides or [] for cell in one.layer.cells}
    failed = (cell for cell in run.cells if cell.status is Status.failed)
    return [_failure(cell) for cell in failed if cell.id not in named]


def _refused(judgements: list[Judgement]) -> list[str]:
    """Each setting that was refused, once, with the layers that had to do without it."""
    layers_of: dict[str, list[str]] = {}
    fixes: dict[str, str] = {}
    for one in judgements:
        for note in one.layer.not_granted:
            layers_of.setdefault(note.what, []).append(one.layer.title)
            fixes.setdefault(note.what, f" Fix: {text.full_stop(note.fix)}" if note.fix else "")
    return [
        f"Not granted: {what.rstrip('.')} "
        f"({'everywhere' if len(names) == len(judgements) else ', '.join(names)}).{fixes[what]}"
        for what, names in layers_of.items()
    ]


def _headline(level: Level, judgements: list[Judgement]) -> str:
    """The answer, and of what it is one."""
    return _answer(level, judgements) + _without_policy(judgements)


def _without_policy(judgements: list[Judgement]) -> str:
    """What was measured instead where a policy was refused; empty where none was."""
    without = [one.layer for one in judgements if one.layer.refused]
    if not without:
        return ""
    asked = dict.fromkeys(_written(scheduling.requested(one.first)) for one in without)
    got = dict.fromkeys(
        _written(each) for one in without for each in scheduling.measured(one.first)
    )
    much = "all of this" if len(without) == len(judgements) else "part of this"
    refused = text.sentence(" and ".join(asked))
    return f" {refused} was not granted: {much} was measured under {' and '.join(got)}."


def _written(one: scheduling.Scheduling) -> str:
    return text.scheduling(one.policy, one.priority, [])


def _answer(level: Level, judgements: list[Judgement]) -> str:
    goal = _goal(judgements)
    if level == "good":
        return f"This machine meets {goal}, with time for the control law."
    if level == "fair":
        return f"This machine meets {goal}, with reservations."
    culprits = [one for one in judgements if one.level == level]
    if level == "unknown" and len(culprits) == len(judgements):
        return f"This run does not show whether this machine meets {goal}."
    *others, last = dict.fromkeys(way(one.layer.first) for one in culprits)
    names = f"{', '.join(others)} and {last}" if others else last
    if level == "unknown":
        missing = f"no answer for {names}"
        return f"This run does not show whether this machine meets {goal}: {missing}."
    rates = [one.rate_hz for one in judgements]
    held = min((rate for rate in rates if rate), default=0) if all(rates) else 0
    slower = f" It meets a {rate_text(held)} loop." if held else ""
    return f"This machine does not meet {goal}: {names}.{slower}"


def _goal(judgements: list[Judgement]) -> str:
    asked = {(one.layer.first.deadline_us, one.layer.first.period_us) for one in judgements}
    if len(asked) > 1:
        return "its deadlines"
    deadline, period = asked.pop()
    if deadline == period:
        return f"a {rate_text(1e6 / period)} loop"
    return f"a deadline of {text.duration(deadline)}"


def rate_text(hertz: float) -> str:
    """Write a rate: ``250 Hz``, ``1 kHz``."""
    return f"{hertz / 1000:g} kHz" if hertz >= 1000 else f"{hertz:g} Hz"
