# SPDX-License-Identifier: Apache-2.0
"""Ye 2023: where each threshold lies, on which kernel it is asked, and what a scale runs."""

from __future__ import annotations

from typing import Any

import pytest
from synthetic_sizes import (
    EVERY_STACK,
    POINTERS,
    Installed,
    SyntheticSizes,
    as_published,
    but,
    of_label,
    of_stack,
    planned,
    share_of,
    under,
)
from synthetic_suites import World

from takt.measure.experiment.faults import Machine
from takt.measure.experiment.file import read_experiment
from takt.measure.experiment.plan import plan
from takt.measure.results.model import Cell
from takt.reproduce.judgement import judge
from takt.reproduce.model import Answer
from takt.reproduce.published import experiment_file, read_published
from takt.reproduce.ye2023 import ALL, between, beyond_scale, criteria
from takt.reproduce.ye2023.extent import LEAST, a_day, placed, scaled
from takt.reproduce.ye2023.findings import CHECKS
from takt.reproduce.ye2023.kernels import WAKEUPS
from takt.reproduce.ye2023.quantities import KIB, LARGE, MIB, SMALL, Checked

PUBLISHED = read_published("ye2023")
NATIVE, REALTIME = "PREEMPT_DYNAMIC", "PREEMPT_RT"
OF_NATIVE = {"wakeup-native-too-late", "jitter-native", "sizes-64b-late"}
OF_RCLCPP = {"pointer-unique-same", "pointer-others-copied"}
ASKED: dict[tuple[str, str], Checked] = {
    (name, stack): check
    for stack, checks in (*CHECKS.items(), ("cyclictest", WAKEUPS), (ALL, between.CHECKS))
    for name, check in checks.items()
}


def judged(name: str, stack: str, world: World, scale: float = 1.0) -> Answer:
    kernel = NATIVE if name in OF_NATIVE else REALTIME
    evidence = SyntheticSizes.of_world(world, scale, stack, kernel)
    values = PUBLISHED.findings[name].values
    return judge(ASKED[name, stack], values, evidence, most_draws=200)


def by_size(**of: float) -> Any:
    """Of sizes, whose names are written ``s64`` in KB here (``s0`` is 64 B); of others 100."""
    levels = {64 if name == "s0" else int(name[1:]) * KIB: value for name, value in of.items()}
    return lambda cell: levels.get(cell.payload_bytes, 100.0)


def rates(slow: float) -> Any:
    """A number of the slowest frequency; of others 100."""
    return lambda cell: slow if cell.period_us >= 40_000 else 100.0


def sizes_of(stack: str, number: float, at: tuple[int, ...]) -> Any:
    """A number of some sizes of a stack; of others 100."""
    return lambda cell: number if cell.stack == stack and cell.payload_bytes in at else 100.0


def frequent(share: float) -> Any:
    """A share of a thousand million wake-ups."""
    return lambda cell: (round(share * 10**9), 10**9)


# On either side of each threshold: (finding, stack, holds, does not hold).
SIDES: list[tuple[str, str, World, World]] = [
    # 200 + 3342 / 1.5 = 2428.
    ("wakeup-native-too-late", "cyclictest",
     but(highest=of_label("wakeup", 2550)), but(highest=of_label("wakeup", 2300))),
    # 6 of 268 million are 2.2e-8.
    ("wakeup-rt-highest", "cyclictest", but(beyond=frequent(1.5e-8)), but(beyond=frequent(3.5e-8))),
    ("wakeup-rt-average", "cyclictest",
     but(p50=of_label("wakeup", 3.8)), but(p50=of_label("wakeup", 4.2))),
    ("sizes-large-ros2", ALL,
     but(p50=sizes_of("rcl", 95, LARGE)), but(p50=sizes_of("rcl", 105, LARGE))),
    ("sizes-lead-grows", ALL,
     but(p50=sizes_of("ros1", 110, (16 * MIB,))), but(p50=sizes_of("ros1", 110, (MIB,)))),
    ("sizes-lead-grows", ALL,
     but(p50=sizes_of("ros1", 110, (16 * MIB,))), but(p50=sizes_of("ros1", 90, (16 * MIB,)))),
    ("sizes-small-alike", ALL,
     but(p50=sizes_of("rcl", 145, SMALL)), but(p50=sizes_of("rcl", 156, SMALL))),
    ("sizes-small-alike", ALL,
     but(p50=sizes_of("ros1", 145, SMALL)), but(p50=sizes_of("ros1", 156, SMALL))),
    ("vendors-alike", ALL, but(p50=of_stack("rustdds", 145)), but(p50=of_stack("rustdds", 156))),
    ("vendors-alike", ALL, but(p50=of_stack("rcl", 145)), but(p50=of_stack("rcl", 156))),
    ("six-ros2-alike", "rcl", but(unfairness=lambda _: 1.45), but(unfairness=lambda _: 1.55)),
    ("six-ros1-unlike", "ros1", but(unfairness=lambda _: 1.75), but(unfairness=lambda _: 1.58)),
    ("six-ros2-fairer", ALL,
     but(fairness=of_stack("ros1", 0.93, 0.98)), but(fairness=of_stack("ros1", 0.98, 0.93))),
    ("six-ros2-by-size", "rcl",
     but(p50=by_size(s4096=156)), but(p50=by_size(s4096=145))),
    ("sizes-fluctuate", "rcl",
     but(spread=lambda cell: 15.8 if cell.payload_bytes >= MIB else 10),
     but(spread=lambda cell: 14.2 if cell.payload_bytes >= MIB else 10)),
    ("sizes-64b-late", "rcl", but(highest=of_label("sizes", 560)),
     but(highest=of_label("sizes", 505))),
    ("sizes-64b-late", "rcl", but(highest=of_label("sizes", 600), p50=by_size(s64=550)),
     but(highest=of_label("sizes", 600), p50=by_size(s64=650))),
    ("qos-small-alike", "rcl", but(p50=of_label("best-effort", 145)),
     but(p50=of_label("best-effort", 156))),
    ("qos-small-alike", "rcl", but(p50=of_label("best-effort", 70)),
     but(p50=of_label("best-effort", 63))),
    ("qos-large-best-effort", "rcl", but(p50=of_label("best-effort", 95)),
     but(p50=of_label("best-effort", 105))),
    ("process-small-alike", "rcl", but(p50=of_label("one-process", 145)),
     but(p50=of_label("one-process", 156))),
    ("process-small-alike", "rcl", but(p50=of_label("one-process", 70)),
     but(p50=of_label("one-process", 63))),
    ("process-large-faster", "rcl", but(p50=of_label("one-process", 63)),
     but(p50=of_label("one-process", 70))),
    *(
        finding
        for stack in ("rclcpp",)
        for finding in (
            ("pointer-unique-same", stack, but(same_address=lambda _: 0.95),
             but(same_address=lambda _: 0.85)),
            ("pointer-others-copied", stack, but(same_address=lambda _: 0.05),
             but(same_address=lambda cell: 0.15 if cell.transport == "shared_ptr" else 0)),
            ("pointer-others-copied", stack, but(same_address=lambda _: 0.0),
             but(same_address=lambda cell: 0.15 if cell.transport == "const_ref" else 0)),
        )
    ),
    ("frequencies-alike", "rcl", but(p50=rates(145)), but(p50=rates(156))),
    # 6 of 120 are 5 %.
    ("frequencies-150us", "rcl", but(beyond=share_of("frequencies", 0.03)),
     but(beyond=share_of("frequencies", 0.07))),
    ("jitter-native", "raw", but(jitter_highest=lambda _: 350), but(jitter_highest=lambda _: 318)),
    # 6 of 10,000.
    ("jitter-rt", "raw", but(jitter_beyond=share_of("jitter", 0.0004)),
     but(jitter_beyond=share_of("jitter", 0.0008))),
    ("jitter-rates-alike", "raw", but(jitter_size=rates(190)), but(jitter_size=rates(210))),
    ("jitter-within-10us", "raw", but(jitter_within=share_of("jitter", 0.52)),
     but(jitter_within=share_of("jitter", 0.48))),
    ("jitter-normal", "raw", but(jitter_distance=lambda _: 0.075),
     but(jitter_distance=lambda _: 0.085)),
    # 6 of 1,613,610 are 3.7e-6.
    *(
        (name, "ethercat", but(period_outside=share_of("ethercat", 2e-6)),
         but(period_outside=share_of("ethercat", 6e-6)))
        for name in ("ethercat-cycle", "ethercat-highest")
    ),
    ("ethercat-average", "ethercat", but(period_off=lambda _: 0.38),
     but(period_off=lambda _: 0.42)),
    *((
        (name, stack, but(p50=by_size(**here)), but(p50=by_size(**there)))
        for stack in ("rcl", "ros1")
        for name, here, there in (
            ("sizes-small-constant", {"s64": 145}, {"s64": 156}),
            ("sizes-grow", {"s16384": 156}, {"s16384": 145}),
        )
    )),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "stack", "here", "there"), SIDES, ids=[f"{i}-{one[0]}" for i, one in enumerate(SIDES)]
)
def test_each_side_of_the_threshold_is_distinguished(
    name: str, stack: str, here: World, there: World
) -> None:
    one, other = judged(name, stack, here), judged(name, stack, there)
    assert one.holds is True, one
    assert other.holds is False, other


def test_every_finding_has_both_sides_and_every_published_one_is_checked() -> None:
    of_takt = {(name, "rcl") for name in OF_RCLCPP}
    assert {(name, stack) for name, stack, _, _ in SIDES} == set(ASKED) - of_takt
    assert {name for name, _ in ASKED} == set(PUBLISHED.findings) == set(criteria())


def test_every_statement_leads_to_a_finding_or_says_why_not() -> None:
    found = PUBLISHED.all_statements()
    assert len(found) > 60
    for one in found:
        assert bool(one.finding) != bool(one.why)
    for number in (1, 2, 3, 4):
        assert any(one.claim.startswith(f"Conclusion {number}:") for one in found)


def test_the_papers_own_length_decides_all_but_what_took_a_day() -> None:
    assert beyond_scale(under(REALTIME)) == ["wakeup-rt-highest"]
    assert set(beyond_scale(under(REALTIME, 0.01))) == {
        "wakeup-rt-highest", "jitter-rt", "ethercat-cycle", "ethercat-highest",
    }  # fmt: skip
    assert beyond_scale(under(NATIVE)) == beyond_scale(under(NATIVE, 0.01)) == []


def test_with_preempt_rt_wake_ups_are_as_long_as_the_papers_and_decide() -> None:
    experiment, source = read_experiment(experiment_file("ye2023"))
    there = Installed()
    fitted = placed(a_day(experiment), there)
    cells = plan(fitted, source, there, Machine(frozenset({0, 1}), 64 << 30), 1).cells
    waking = [one for one in cells if one.label == "wakeup"]
    hours = sum(one.samples_requested * one.period_us / 3.6e9 for one in waking)
    assert hours == pytest.approx(25.7, abs=0.01)
    run = planned(1.0).model_copy(update={"cells": cells, "machine": {"preemption": REALTIME}})
    assert beyond_scale(run) == []


@pytest.mark.parametrize(
    ("names", "stack", "kernel", "why"),
    [
        (OF_NATIVE, "", REALTIME, "it is about the native kernel; this one is PREEMPT_RT"),
        ({"wakeup-rt-highest", "wakeup-rt-average", "jitter-rt", "jitter-rates-alike",
          "jitter-within-10us", "jitter-normal", "frequencies-alike", "frequencies-150us",
          "ethercat-cycle", "ethercat-average", "ethercat-highest"}, "", NATIVE,
         "it is about PREEMPT_RT; this kernel is PREEMPT_DYNAMIC"),
        (OF_RCLCPP, "rcl", REALTIME, "it is about rclcpp; this is Takt's own library"),
    ],
)  # fmt: skip
def test_what_is_about_another_kernel_or_library_is_not_asked(
    names: set[str], stack: str, kernel: str, why: str
) -> None:
    for (name, of), check in ASKED.items():
        if name in names and stack in ("", of):
            evidence = SyntheticSizes.of_world(as_published, 1.0, of, kernel)
            found = judge(check, PUBLISHED.findings[name].values, evidence)
            assert (found.holds, found.not_asked, found.needs) == (None, why, "")


def test_what_never_happened_in_few_samples_is_undecided_and_says_how_many_it_takes() -> None:
    never = judged("jitter-rt", "raw", as_published, 0.01)
    assert never.holds is None
    assert "samples: " in never.needs, never.needs


@pytest.mark.parametrize("name", sorted(between.CHECKS))
def test_one_stack_alone_is_compared_with_nothing(name: str) -> None:
    run = planned(0.01)
    one_stack = run.model_copy(update={"cells": [one for one in run.cells if one.stack == "rcl"]})
    world = SyntheticSizes.of_world(as_published, 0.01, ALL)
    world.measured = type(world.measured)(one_stack, world.measured.folder, planned=True)
    found = judge(ASKED[name, ALL], PUBLISHED.findings[name].values, world)
    assert found.holds is None
    assert "setup ros1" in found.needs or "measured: Fast DDS" in found.needs


def points(run_scale: float, names: tuple[str, ...] = EVERY_STACK) -> dict[str, list[Cell]]:
    labels: dict[str, list[Cell]] = {}
    for cell in planned(run_scale, names).cells:
        labels.setdefault(cell.label, []).append(cell)
    return labels


def test_at_scale_1_runs_are_as_long_as_the_papers() -> None:
    whole = points(1.0)
    messages = ("sizes", "strings", "best-effort", "reliable", "one-process", "pointers", "loans",
                "six", "frequencies")  # fmt: skip
    for name in messages:
        assert {one.samples_requested for one in whole[name]} == {121}
    assert {one.samples_requested for one in whole["jitter"]} == {10_000}
    assert {round(one.samples_requested * one.period_us / 1e6) for one in whole["wakeup"]} <= {
        242,
        243,
    }
    assert {one.stack for one in whole["wakeup"]} == {"cyclictest"}
    assert {tuple(period for period, _ in one.series) for one in whole["wakeup"]} == {
        (1000, 1500, 2000, 2500, 3000)
    }
    assert {one.samples_requested for one in whole["ethercat"]} == {1_613_610}
    assert {(one.slaves, one.period_us) for one in whole["ethercat"]} == {(16, 1000)}
    assert {one.subscribers for one in whole["six"]} == {6}
    assert {one.load for name in ("jitter", "wakeup") for one in whole[name]} == {"fft"}
    assert {(one.reliability, one.depth) for one in whole["best-effort"]} == {("best_effort", 1)}
    assert {(one.reliability, one.depth) for one in whole["sizes"]} == {("reliable", 100)}
    assert {(one.reliability, one.durability, one.history) for one in whole["reliable"]} == {
        ("reliable", "transient_local", "keep_all")
    }
    assert {one.transport for one in whole["one-process"]} == {"process"}
    assert {one.transport for one in whole["pointers"]} == set(POINTERS)
    assert {one.content for one in whole["strings"]} == {"string"}
    assert {one.stack for one in whole["strings"]} == {"rcl", "ros1"}


def test_a_smaller_scale_keeps_the_points_and_the_rounds() -> None:
    whole, small = points(1.0), points(0.0002)
    for name, cells in small.items():
        assert [one.key for one in cells] == [one.key for one in whole[name]]
        assert {one.samples_requested for one in cells} == {LEAST[cells[0].kind]}


def test_without_cyclictest_the_wake_ups_are_takts_own() -> None:
    there = tuple(one for one in EVERY_STACK if one != "cyclictest")
    found = points(0.01, there)["wakeup"]
    assert {one.stack for one in found} == {"raw"}
    assert {one.period_us for one in found} == {1000, 1500, 2000, 2500, 3000}


def test_without_room_for_slaves_there_is_no_master() -> None:
    experiment, _ = read_experiment(experiment_file("ye2023"))
    kinds = [{one.kind for one in placed(experiment, Installed(), room=room).measurements}
             for room in (True, False)]  # fmt: skip
    assert kinds[0] - kinds[1] == {"ethercat"}


def test_where_all_messages_are_kept_their_sizes_fit_into_memory() -> None:
    experiment, _ = read_experiment(experiment_file("ye2023"))
    room = 2 * 121 * 4 * MIB
    for memory, largest in ((None, 16 * MIB), (room, 4 * MIB), (room - 1, MIB)):
        spanned = placed(experiment, Installed(), memory=memory).measurements
        sizes = {one.label: one.payload for one in spanned}
        assert max(sizes["reliable"] or []) == largest
        assert max(sizes["best-effort"] or []) == 16 * MIB


def test_ways_that_a_build_leaves_out_are_not_asked_for() -> None:
    experiment, _ = read_experiment(experiment_file("ye2023"))
    there = Installed()
    whole = {one.label for one in placed(experiment, there).measurements}
    lacking = [one for one in there["rcl"].capabilities if one.transport not in {"loan", *POINTERS}]
    bytes_only = {"contents": ["bytes"], "histories": []}
    there._asked["rcl"] = type(there["rcl"])(
        "rcl", there["rcl"].probe, [one.model_copy(update=bytes_only) for one in lacking]
    )
    pointers = there["rclcpp"].capabilities[:1]
    there._asked["rclcpp"] = type(there["rclcpp"])("rclcpp", there["rclcpp"].probe, pointers)
    blocks = placed(experiment, there).measurements
    assert whole - {one.label for one in blocks} == {"loans", "reliable"}
    assert [one.stack for one in blocks if one.label == "strings"] == [["ros1"]]
    assert [one.transport for one in blocks if one.label == "pointers"] == [["unique_ptr"]]


def test_a_stack_is_asked_only_for_what_it_can() -> None:
    experiment, _ = read_experiment(experiment_file("ye2023"))
    fitted = placed(scaled(experiment, 0.01), Installed(most=64 * KIB))
    sizes = {one.stack[0]: one.payload for one in fitted.measurements if one.label == "sizes"}
    assert sizes["rustdds"] == list(SMALL)
    assert sizes["cyclonedds"] == [*SMALL, *LARGE]
    there = Installed(most=None)
    there._asked["rustdds"] = type(there["rustdds"])("rustdds", there["rustdds"].probe, [])
    names = {one.stack[0] for one in placed(scaled(experiment, 0.01), there).measurements}
    assert "rustdds" not in names
    assert "cyclonedds" in names
