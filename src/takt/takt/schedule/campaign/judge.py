# SPDX-License-Identifier: Apache-2.0
"""What the analysis guarantees of an application beside what the simulation shows.

The core decides both. Each scenario is held to its own bounds, in runs that stay in it: what is
said of it is said of the time before a switch. A run with its switches is held to the limits alone,
and only where the whole application is said to keep them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from takt.documents.units import format_duration

Document = dict[str, Any]

RESPONSE, MISS, EXACT = "response", "miss", "exact"
LATENCY, REACTION, AGE = "latency", "reaction", "age"
DATA_AGE, SWITCH = "data age", "switch"
REACHED = ("fp", "rm", "dm")  # where exact says: by all jobs at their worst, released together


@dataclass(frozen=True)
class Play:
    """One simulation of an application."""

    document: Document  # the flat form, as it is simulated
    scenario: str | None  # the only one that is played; None: switches are played
    execution: str = "worst"
    seed: int = 1

    @property
    def options(self) -> str:
        """How ./takt simulate plays it."""
        return "" if self.execution == "worst" else f" --execution drawn --seed {self.seed}"


@dataclass(frozen=True)
class Violation:
    """Something was shown that is guaranteed not to happen."""

    kind: str
    of: str  # a callback or a chain
    bound: int  # ns, or how many
    simulated_value: int
    play: Play

    @property
    def text(self) -> str:
        """In one line."""
        simulated_value, bound = format_duration(self.simulated_value), format_duration(self.bound)
        several = self.play.document.get("scenarios") and self.play.scenario is not None
        scenario = f", scenario {self.play.scenario}" if several else ""
        if self.kind in {MISS, SWITCH}:
            said = f"{self.simulated_value} guaranteed limits violated"
        elif self.kind == EXACT:
            said = f"at most {simulated_value}, although its bound of {bound} is exact"
        else:
            said = f"{simulated_value} is above {bound}"
        return f"{self.kind} of {self.of}: {said}{scenario}"


def plays(document: Document, seed: int) -> Iterator[Play]:
    """All that are to be simulated: at the worst and, where jobs or releases vary, as drawn."""
    plays: list[tuple[Document, str | None]] = [(document, first_scenario(document))]
    if scenarios := [one["name"] for one in document.get("scenarios", [])]:
        plays = [(in_one_scenario(document, one), one) for one in scenarios]
        plays += [(document, None)] if document.get("switches") else []
    for execution in ("worst", "drawn") if varies(document) else ("worst",):
        for played, scenario in plays:
            yield Play(played, scenario, execution, seed)


def first_scenario(document: Document) -> str:
    """The one that it starts with."""
    scenarios = document.get("scenarios")
    name: str = document.get("default_scenario", scenarios[0]["name"] if scenarios else "default")
    return name


def in_one_scenario(document: Document, scenario: str) -> Document:
    """The application staying in one of its scenarios."""
    return document | {"default_scenario": scenario, "switches": []}


def varies(document: Document) -> bool:
    """Whether two plays can differ."""
    handover = document.get("handover", {"least": 0, "most": 0})
    bursts = any(one.get("external_burst", 1) > 1 for one in document.get("topics", ()))
    return (
        bursts
        or handover["least"] < handover["most"]
        or any(
            one.get("jitter")
            or one.get("suspension")
            or one.get("offset") == "unknown"
            or len(one["execution"].get("quantiles", ())) > 1
            or any(
                part.get("shortest", part["longest"]) < part["longest"]
                for part in one.get("critical_sections", ())
            )
            or any(isinstance(count, list) for count in one.get("messages", {}).values())
            for one in document["callbacks"]
        )
    )


def violations(report: Document, play: Play, simulated: Document) -> Iterator[Violation]:
    """What a play shows against a report of the analysis."""
    if play.scenario is None:
        if report["verdict"] == "meets":
            broken = simulated["misses"] + sum(one["violations"] for one in simulated["chains"])
            broken += sum(
                one["age_violations"] - one["without_data"] for one in simulated["callbacks"]
            )
            if broken:
                yield Violation(SWITCH, play.document["name"], 0, broken, play)
        return
    scenario = next(one for one in report["scenarios"] if one["name"] == play.scenario)
    simulated_value = {one["callback"]: one for one in simulated["callbacks"]}
    for callback in scenario["callbacks"]:
        yield from _callback(callback, simulated_value[callback["name"]], scenario["policy"], play)
    for bounds, chain in zip(scenario["chains"], simulated["chains"], strict=True):
        for kind in (LATENCY, REACTION, AGE):
            times = chain[kind]
            if times is not None:
                yield from _above(kind, bounds["name"], bounds[f"{kind}_us"], times["max_us"], play)
    for name, bound in _ages(play.document, scenario):
        times = simulated_value[name]["sample_age"]
        if times is not None:
            yield from _above(DATA_AGE, name, bound, times["max_us"], play)


def tightness(report: Document, play: Play, simulated: Document) -> float:
    """The longest simulated response as a share of its bound."""
    bounds = {
        callback["name"]: callback["response_us"]
        for scenario in report["scenarios"]
        if scenario["name"] == play.scenario
        for callback in scenario["callbacks"]
    }
    return max(
        (
            one["worst_response_ns"] / (1000 * bound)
            for one in simulated["callbacks"]
            if (bound := bounds.get(one["callback"]))
        ),
        default=0.0,
    )


def _callback(
    bounds: Document, simulated_value: Document, policy: str, play: Play
) -> Iterator[Violation]:
    name, worst = bounds["name"], simulated_value["worst_response_ns"]
    bound = _ns(bounds["response_us"])
    if bound is not None and worst > bound:
        yield Violation(RESPONSE, name, bound, worst, play)
    elif bounds["verdict"] == "meets" and simulated_value["misses"]:
        yield Violation(MISS, name, 0, simulated_value["misses"], play)
    together = play.execution == "worst" and policy in REACHED
    if bounds["exact"] and together and bound is not None and worst < bound:
        yield Violation(EXACT, name, bound, worst, play)


def _above(
    kind: str, of: str, bound_us: float | None, simulated_us: float, play: Play
) -> Iterable[Violation]:
    bound, simulated_value = _ns(bound_us), _ns(simulated_us)
    if bound is not None and simulated_value is not None and simulated_value > bound:
        yield Violation(kind, of, bound, simulated_value, play)


def _ages(document: Document, scenario: Document) -> Iterator[tuple[str, float]]:
    """Callbacks of which all inputs have a bound of their age: the simulator tells the oldest."""
    if not scenario["ages"]:
        return
    reads_more = {
        change["task"]
        for other in document.get("scenarios", [])
        for change in other.get("tasks", [])
        if change.get("reads")
    }
    for callback in document["callbacks"]:
        name = callback["name"]
        if "trigger" in callback or name in reads_more:
            continue
        known = {one["topic"]: one["age_us"] for one in scenario["ages"] if one["callback"] == name}
        topics = [read["topic"] for read in callback.get("reads", [])]
        bounds = [known.get(topic) for topic in topics]
        given = [bound for bound in bounds if bound is not None]
        if given and len(given) == len(bounds):
            yield name, max(given)


def _ns(us: float | None) -> int | None:
    return None if us is None else round(us * 1000)
