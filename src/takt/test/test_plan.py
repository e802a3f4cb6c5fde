# SPDX-License-Identifier: Apache-2.0
"""The plan: every point as often as asked, in an order that only the seed decides."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_plans import MACHINE, TRANSPORTS, Installed, planned

from takt.errors import TaktError
from takt.measure.experiment.file import Source, check
from takt.measure.experiment.plan import Plan, plan

PAYLOADS = ("0B", "500B", "32KB", "1MB")
RATES = ("1kHz", "500Hz", "3Hz")
SCHEDULING = ("other", "fifo 80", "rr 10")
CPUS = ("any", "0", "1", "0,1")


def axis(values: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(values), min_size=1, unique=True)


@settings(max_examples=30, deadline=None)
@given(
    axis(TRANSPORTS), axis(PAYLOADS), axis(RATES), axis(SCHEDULING), axis(CPUS),
    st.integers(1, 4), st.integers(0, 2**31),
)  # fmt: skip
def test_every_point_is_measured_exactly_as_often_as_asked(
    transport: list[str],
    payload: list[str],
    rate: list[str],
    scheduling: list[str],
    cpu: list[str],
    repetitions: int,
    seed: int,
) -> None:
    axes = {
        "transport": transport, "payload": payload, "rate": rate, "scheduling": scheduling,
        "cpu": cpu,
    }  # fmt: skip
    result = planned(seed, repetitions=repetitions, **axes)
    points = len(list(itertools.product(*axes.values())))
    times = Counter(cell.key for cell in result.cells)
    assert len(times) == points
    assert set(times.values()) == {repetitions}
    assert len({cell.id for cell in result.cells}) == len(result.cells)
    assert [cell.order for cell in result.cells] == list(range(len(result.cells)))
    # All points once, then all of them again: no point is ahead by more than one repetition.
    assert [cell.repetition for cell in result.cells] == [
        repetition for repetition in range(repetitions) for _ in range(points)
    ]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**31))
def test_the_same_seed_gives_the_same_order(seed: int) -> None:
    axes = {"payload": list(PAYLOADS), "rate": list(RATES)}
    first, second = planned(seed, **axes), planned(seed, **axes)
    assert [cell.id for cell in first.cells] == [cell.id for cell in second.cells]


def test_other_seeds_give_other_orders() -> None:
    axes = {"payload": list(PAYLOADS), "rate": list(RATES)}
    assert len({tuple(c.key for c in planned(seed, **axes).cells) for seed in range(20)}) > 15


def two_blocks(*labels: str | None) -> Plan:
    blocks = [
        {"kind": "pingpong", "stack": "rcl", "samples": count} | ({"label": label} if label else {})
        for label, count in zip(labels, (100, 5000), strict=True)
    ]
    asked = check({"name": "x", "repetitions": 1, "measurements": blocks}, Source())
    return plan(asked, Source(), Installed(), MACHINE, 0)


def test_blocks_with_labels_may_ask_for_the_same_point() -> None:
    found = {cell.label: cell for cell in two_blocks("2.B", "5.A").cells}
    assert found["2.B"].key == "rcl-pingpong-shm-500B-other-1kHz-2.B"
    assert (found["2.B"].samples_requested, found["5.A"].samples_requested) == (100, 5000)
    assert {cell.label for cell in two_blocks(None, "5.A").cells} == {"", "5.A"}


@pytest.mark.parametrize("labels", [(None, None), ("2.B", "2.B")])
def test_without_labels_of_their_own_they_may_not(labels: tuple[str | None, str | None]) -> None:
    with pytest.raises(TaktError, match="duplicate point"):
        two_blocks(*labels)


def test_a_key_reads_as_what_is_measured() -> None:
    result = planned(scheduling="fifo 80", cpu=1, repetitions=1)
    assert result.cells[0].key == "rcl-pingpong-shm-500B-fifo80-cpu1-1kHz"
    result = planned(
        kind="pubsub", subscribers=6, reliability="best_effort", depth=1, rate="3Hz", cpu="0,1"
    )
    assert result.cells[0].key == (
        "rcl-pubsub-shm-500B-other-cpu0+1-333333333ns-6subs-best_effort-depth1"
    )


def test_a_missing_stack_can_be_left_out() -> None:
    result = planned(stack=["ros1", "rcl", "ros1"], skip_missing=True)
    assert len(result.skipped) == 1
    assert {cell.stack for cell in result.cells} == {"rcl"}
    assert "ros1 is not installed" in result.skipped[0].why


@pytest.mark.parametrize("installed", ["rustdds", "rcl_cyclonedds", "rcl,rclcpp_cyclonedds"])
def test_a_stack_that_there_is_elsewhere_can_be_left_out(installed: str) -> None:
    result = planned(stack=[installed, "rcl"], skip_missing=True)
    assert {cell.stack for cell in result.cells} == {"rcl"}


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [("ros9", "ros1"), ("rcl_cyclondds", "rcl_cyclonedds"), ("rustdds,rclcp", "rclcpp")],
)
def test_a_misspelt_stack_is_refused_not_left_out(misspelt: str, meant: str) -> None:
    with pytest.raises(TaktError, match="is not installed") as error:
        planned(stack=[misspelt, "rcl"], skip_missing=True)
    assert f"did you mean {meant}?" in str(error.value)
    assert "skip" not in str(error.value)
