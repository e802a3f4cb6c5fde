# SPDX-License-Identifier: Apache-2.0
"""Timers of every stack: what is recorded agrees with the contract; how late they are is data."""

from __future__ import annotations

import json

import numpy as np
import pytest
from probe_process import Probes
from test_measuring import check_document

COUNT = 60
PERIOD_NS = 2_000_000

# Those whose report is on the clock of the samples, or that report nothing.
MONOTONIC = [
    ("raw", "nanosleep"),
    ("raw", "timerfd"),
    ("raw", "futex"),
    ("rcl", "rcl_timer"),
    ("rclcpp", "rclcpp_timer"),
    ("ros1", "steady_timer"),
]
ON_THE_WALL = [("ros1", "ros_timer"), ("ros1", "wall_timer")]


def reports(probes: Probes, stack: str, kind: str, transport: str) -> bool:
    answer = json.loads(probes.ask(stack, "--capabilities").stdout)
    (one,) = (
        one
        for one in answer["capabilities"]
        if (one["kind"], one["transport"]) == (kind, transport)
    )
    assert isinstance(one["reports"], bool)
    return one["reports"]


@pytest.mark.parametrize(("stack", "transport"), [*MONOTONIC, *ON_THE_WALL])
@pytest.mark.parametrize("timeout_ns", [2_000_000, 300_000])
def test_a_oneshot_timer_starts_anew_when_it_has_fired(
    probes: Probes, stack: str, transport: str, timeout_ns: int
) -> None:
    running = probes.start(
        stack, "timer-oneshot", "--transport", transport, "--timeout-ns", timeout_ns,
        "--count", COUNT,
    )  # fmt: skip
    document = check_document(running, "both")
    records = running.recorded().records
    assert records["sequence"].tolist() == list(range(COUNT))
    assert document["sent"] == COUNT == document["received"] + document["lost"]
    fired = records[records["received"] != 0]
    assert len(fired) == document["received"] > 0
    starts = records["intended"] - timeout_ns
    ends = np.where(records["received"] != 0, records["received"], records["intended"])
    assert (starts[1:] >= ends[:-1]).all(), "a start before the timer before it has fired"
    if not reports(probes, stack, "timer-oneshot", transport):
        assert (records["sent"] == records["intended"]).all()
    else:
        assert (fired["sent"] != fired["intended"]).any()
    if (stack, transport) in MONOTONIC:
        # The start is read before the call, the end after the report: never less than reported.
        assert (fired["received"] >= fired["sent"]).all()


@pytest.mark.parametrize(("stack", "transport"), [*MONOTONIC, *ON_THE_WALL, ("rcl", "executor")])
def test_a_cyclic_timer_keeps_the_grid_of_its_expiries(
    probes: Probes, stack: str, transport: str
) -> None:
    running = probes.start(
        stack, "timer-cyclic", "--transport", transport, "--period-ns", PERIOD_NS,
        "--count", COUNT,
    )  # fmt: skip
    document = check_document(running, "both")
    records = running.recorded().records
    assert records["sequence"].tolist() == list(range(COUNT))
    assert (np.diff(records["intended"]) == PERIOD_NS).all()
    fired = records[records["received"] != 0]
    assert len(fired) == document["received"] > 0
    assert document["sent"] == COUNT == document["received"] + document["lost"]
    assert (np.diff(fired["received"]) > 0).all()
    late = fired["received"] - fired["intended"]
    assert document["overruns"] == int((late >= PERIOD_NS).sum())
    if not reports(probes, stack, "timer-cyclic", transport):
        assert (records["sent"] == records["intended"]).all()
        assert (late >= 0).all(), "fired before its programmed expiry"


@pytest.mark.parametrize(
    ("stack", "transport"),
    [("raw", "timerfd"), ("rcl", "rcl_timer"), ("ros1", "ros_timer"), ("ros1", "steady_timer")],
)
def test_busy_waiting_takes_the_cpu_that_idle_waiting_leaves(
    probes: Probes, stack: str, transport: str
) -> None:
    cpu_time = {}
    for wait in ("idle", "busy"):
        running = probes.start(
            stack, "timer-oneshot", "--transport", transport, "--wait", wait,
            "--timeout-ns", 5_000_000, "--count", COUNT,
        )  # fmt: skip
        document = check_document(running, "both")
        assert document["received"] + document["lost"] == COUNT
        cpu_time[wait] = document["granted"]["cpu_time_ns"]
    assert cpu_time["busy"] > 2 * cpu_time["idle"]


def test_the_executor_has_no_round_robin(probes: Probes) -> None:
    done = probes.ask(
        "rcl", "timer-cyclic", "--transport", "executor", "--policy", "rr", "--priority", 5
    )
    assert done.returncode == 2
    assert "fifo" in done.stderr


@pytest.mark.parametrize(
    ("stack", "transport"),
    [("raw", "timerfd"), ("rcl", "rcl_timer"), ("ros1", "ros_timer"), ("ros1", "steady_timer")],
)
@pytest.mark.parametrize("kind", ["timer-oneshot", "timer-cyclic"])
def test_after_the_first_sample_memory_is_there(
    probes: Probes, as_root: None, stack: str, transport: str, kind: str
) -> None:
    running = probes.start(
        stack, kind, "--transport", transport, "--policy", "rr", "--priority", 40,
        "--count", COUNT,
    )  # fmt: skip
    granted = check_document(running, "both")["granted"]
    assert granted["memory_locked"]
    # The stack of a middleware's thread alone is 2048 pages; the kernel may move one now and then.
    assert granted["minor_faults"] + granted["major_faults"] < 20
