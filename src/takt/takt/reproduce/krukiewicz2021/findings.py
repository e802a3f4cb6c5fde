# SPDX-License-Identifier: Apache-2.0
"""The thesis's findings as checks on this machine's executions.

"proposed" is the thesis's executor; Takt takes its place. A ratio counts as none below MATTERS:
single executions that stolen CPU time delayed are not what the thesis speaks of.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from takt.reproduce.krukiewicz2021.evidence import Evidence, Missing
from takt.reproduce.krukiewicz2021.points import (
    FRESHNESS_SIZES,
    HARMONIC,
    KB,
    MAX_AGE_MS,
    MB,
    MISSES_SIZES,
    NODES,
    OTHER,
    UTILIZATIONS,
    WITH_CONSTRAINT,
    Point,
)
from takt.reproduce.model import Answer, answer

MATTERS = 0.01
PERIODS = (10, 20)  # of the experiment on misses


def transport(size: int, times: float, evidence: Evidence) -> Answer:
    """Figure 2.7: medians from publish to callback."""
    dds, pointer = (
        evidence.age(Point("transport", approach, size=size, periods=(100,))).median
        for approach in ("baseline1", "takt")
    )
    return answer(
        f"by pointer at least {times:g} times as fast, by the medians",
        dds >= times * pointer,
        times_faster=dds / pointer,
        dds_us=dds,
        by_pointer_us=pointer,
    )


def overhead(table: str, growth: float, evidence: Evidence) -> Answer:
    """Tables 5.6 to 5.8."""
    baseline, takt = (evidence.overhead_mean(table, one) for one in ("baseline0", "takt"))
    return answer(
        f"Takt's mean overhead is at most {1 + growth:g} times that of baseline0",
        takt <= (1 + growth) * baseline,
        growth=takt / baseline - 1,
        baseline0_us=baseline,
        takt_us=takt,
    )


def none_at_half(evidence: Evidence) -> Answer:
    """Figures 5.3, 5.5 and 5.7 at 0.5."""
    found = {
        point.name: evidence.miss_ratio(point)
        for point in evidence.points
        if point.experiment == "misses" and point.approach == "takt" and point.utilization == 0.5
    }
    if not found:
        raise Missing("no application of Takt at 0.5 was executed")
    worst = max(found, key=found.__getitem__)
    return answer(
        f"below {MATTERS:.0%} in every application",
        found[worst] < MATTERS,
        applications=len(found),
        highest_ratio=found[worst],
        of=worst,
    )


def baseline1_misses(nodes: int, utilization: float, from_size: int, evidence: Evidence) -> Answer:
    """Figures 5.2, 5.4 and 5.6: small messages pass, large ones do not."""
    small: list[float] = []
    large: list[float] = []
    for size in MISSES_SIZES:
        point = Point("misses", "baseline1", nodes, utilization, size, PERIODS)
        if point in evidence.points:
            (large if size >= from_size else small).append(evidence.miss_ratio(point))
    if not large:
        raise Missing(f"no application of {nodes} nodes with large messages was executed")
    return answer(
        f"{MATTERS:.0%} or more of the deadlines with each of the large messages",
        min(large) >= MATTERS,
        least_with_large=min(large),
        most_with_large=max(large),
        most_with_smaller=max(small, default=None),
    )


def reduced(evidence: Evidence) -> Answer:
    """Chapter 6: all applications with messages at 0.75 that both approaches executed."""
    pairs = []
    for point in evidence.points:
        other = Point("misses", "baseline1", point.nodes, 0.75, point.size, PERIODS)
        chosen = point.experiment == "misses" and point.approach == "takt"
        if chosen and point.utilization == 0.75 and point.size and other in evidence.points:
            pairs.append((evidence.miss_ratio(other), evidence.miss_ratio(point)))
    if not pairs:
        raise Missing("no application at 0.75 was executed by both")
    before, after = (sum(side) / len(pairs) for side in zip(*pairs, strict=True))
    return answer(
        "Takt misses at most 3/26 of what baseline1 misses",
        after <= before * 3 / 26 or after < MATTERS,
        baseline1=before,
        takt=after,
        applications=len(pairs),
    )


def never_old(evidence: Evidence) -> Answer:
    """Section 5.4.3: all executions of Takt with declared inputs."""
    found = [p for p in evidence.points if p.experiment == "freshness" and p.approach == "takt"]
    if not found:
        raise Missing("no application of Takt was executed")
    old = {point.name: evidence.on_old_data(point) for point in found}
    return answer(
        "none, in any execution",
        not any(old.values()),
        on_old_data=sum(old.values()),
        applications=len(old),
    )


def harmonic_half(evidence: Evidence) -> Answer:
    """Figures 5.8 to 5.10: half of the nodes read, so half is all of them."""
    found = _shares(evidence, HARMONIC, lambda _: True)
    return answer(
        "more than a quarter on average: most of the nodes that read",
        sum(found) / len(found) > 0.25,
        mean_ratio=sum(found) / len(found),
        lowest=min(found),
        highest=max(found),
        applications=len(found),
    )


def full_only(evidence: Evidence) -> Answer:
    """Figure 5.8: 4 nodes, periods that are not harmonic."""
    below = _shares(evidence, OTHER, lambda p: p.nodes == 4 and p.utilization < 1)
    full = _shares(evidence, OTHER, lambda p: p.nodes == 4 and p.utilization == 1)
    return answer(
        f"below {MATTERS:.0%} at 0.5 and 0.75, above it at 1.0",
        max(below) < MATTERS < max(full),
        highest_below=max(below),
        highest_full=max(full),
    )


def share(nodes: int, utilization: float, size: int, evidence: Evidence) -> Answer:
    """A single printed value of figures 5.9 and 5.10."""
    point = Point("freshness", "baseline1", nodes, utilization, size, OTHER)
    found = evidence.old_data(point)
    return answer(f"{MATTERS:.0%} or more", found >= MATTERS, ratio=found)


def constraint_kept(evidence: Evidence) -> Answer:
    """Tables 5.12 to 5.14."""
    found = _ages(evidence, WITH_CONSTRAINT)
    oldest = max(age for age, _ in found.values())
    return answer(
        f"no use of data above {MAX_AGE_MS} ms",
        oldest <= MAX_AGE_MS,
        **{f"max_{nodes + 2}_ms": age for nodes, (age, _) in found.items()},
        violations=sum(evidence.violations(_age_point(n, WITH_CONSTRAINT)) for n in found),
        stolen_ms=sum(evidence.stolen_ms(_age_point(n, WITH_CONSTRAINT)) for n in found),
    )


def baseline1_exceeds(evidence: Evidence) -> Answer:
    """Tables 5.12 to 5.14."""
    found = _ages(evidence, "baseline1")
    return answer(
        f"data above {MAX_AGE_MS} ms with every number of nodes",
        min(age for age, _ in found.values()) > MAX_AGE_MS,
        **{f"max_{nodes + 2}_ms": age for nodes, (age, _) in found.items()},
    )


def grows(evidence: Evidence) -> Answer:
    """Tables 5.12 to 5.14."""
    found = _ages(evidence, "baseline1")
    means = [mean for _, mean in found.values()]
    if len(means) < 2:
        raise Missing("baseline1 was executed with one number of nodes only")
    return answer(
        "the mean rises from each number of nodes to the next",
        means == sorted(means) and means[0] < means[-1],
        **{f"mean_{nodes + 2}_ms": mean for nodes, (_, mean) in found.items()},
    )


def mean_lower(evidence: Evidence) -> Answer:
    """Table 5.14, or that of the largest application that was executed."""
    with_it, without = _ages(evidence, WITH_CONSTRAINT), _ages(evidence, "baseline1")
    both = sorted(with_it.keys() & without.keys())
    if not both:
        raise Missing("no number of nodes was executed by both")
    (_, mine), (_, baseline) = with_it[both[-1]], without[both[-1]]
    return answer(
        "lower than with baseline1",
        mine < baseline,
        reduction=1 - mine / baseline,
        nodes=both[-1] + 2,
        takt_ms=mine,
        baseline1_ms=baseline,
    )


CHECKS: dict[str, Callable[[Evidence], Answer]] = {
    "transport-faster-256k": partial(transport, 256 * KB, 6),
    "transport-faster-1m": partial(transport, MB, 10),
    "overhead-small": partial(overhead, "5.6", 0.15),
    "overhead-large": partial(overhead, "5.7", 0.54),
    "overhead-subscriptions": partial(overhead, "5.8", 1.14),
    "misses-none-at-half": none_at_half,
    "misses-baseline1-large-messages": partial(baseline1_misses, 4, 0.75, 2 * MB),
    "misses-baseline1-full": partial(baseline1_misses, 4, 1.0, 256 * KB),
    "misses-baseline1-20-nodes": partial(baseline1_misses, 20, 0.75, 512 * KB),
    "misses-baseline1-50-nodes": partial(baseline1_misses, 50, 0.5, 512 * KB),
    "misses-reduced": reduced,
    "freshness-never-old": never_old,
    "freshness-harmonic-half": harmonic_half,
    "freshness-baseline1-full-4": full_only,
    "freshness-baseline1-20-nodes": partial(share, 20, 0.5, 512 * KB),
    "freshness-baseline1-50-nodes": partial(share, 50, 1.0, 8 * MB),
    "age-constraint-kept": constraint_kept,
    "age-baseline1-exceeds": baseline1_exceeds,
    "age-grows-with-nodes": grows,
    "age-mean-lower": mean_lower,
}


def judged(check: Callable[[Evidence], Answer], evidence: Evidence) -> Answer:
    """The answer of a check; undecided where its points were not executed, and it says why."""
    try:
        return check(evidence)
    except Missing as missing:
        return answer("the applications were executed", None, missing=str(missing))


def _shares(
    evidence: Evidence, periods: tuple[int, ...], wanted: Callable[[Point], bool]
) -> list[float]:
    asked = [
        Point("freshness", "baseline1", nodes, utilization, size, periods)
        for nodes in NODES
        for utilization in UTILIZATIONS
        for size in FRESHNESS_SIZES
    ]
    found = [evidence.old_data(p) for p in asked if wanted(p) and p in evidence.points]
    if not found:
        raise Missing("no such application of baseline1 was executed")
    return found


def _age_point(nodes: int, approach: str) -> Point:
    return Point("age", approach, nodes, 0.75, 512 * KB, HARMONIC)


def _ages(evidence: Evidence, approach: str) -> dict[int, tuple[float, float]]:
    """By number of generated nodes: the oldest and the mean age, in ms."""
    asked = {nodes: _age_point(nodes, approach) for nodes in NODES}
    found = {n: evidence.age(p) for n, p in asked.items() if p in evidence.points}
    if not found:
        raise Missing("no application with the critical pair was executed")
    return {n: (round(age.max / 1000, 3), round(age.mean / 1000, 3)) for n, age in found.items()}
