# SPDX-License-Identifier: Apache-2.0
"""Real-time processes on one core, their partners and the ROS master too: all end in bounded time.

ROS 1 once hung there in its shutdown: the node waited busily for its master, which never ran below
it. Here everything shares one core, and the master has no real-time priority.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from probe_process import Probes, Running
from test_measuring import free_port

CORE = min(os.sched_getaffinity(0))

SINGLE = [
    ("raw", "timer-cyclic", "timerfd", "idle"),
    ("raw", "timer-oneshot", "timerfd", "busy"),
    ("raw", "pingpong", "futex", "idle"),
    ("rcl", "timer-oneshot", "rcl_timer", "busy"),
    ("rcl", "timer-cyclic", "rcl_timer", "idle"),
    ("rcl", "timer-cyclic", "executor", "idle"),
    ("rcl", "pubsub", "process", "idle"),
    ("cyclonedds", "pubsub", "process", "idle"),
    ("ros1", "timer-oneshot", "ros_timer", "busy"),
    ("ros1", "timer-oneshot", "steady_timer", "idle"),
    ("ros1", "timer-cyclic", "ros_timer", "idle"),
]
PAIRS = [
    ("raw", "pingpong", "udp"),
    ("rcl", "pubsub", "shm"),
    ("cyclonedds", "pingpong", "udp"),
    ("rustdds", "pingpong", "udp"),
    ("iceoryx2", "pingpong", "shm"),
    ("iceoryx2", "pubsub", "shm"),
    ("zenoh", "pingpong", "tcp"),
    ("zenoh", "pubsub", "tcp"),
    ("ros1", "pubsub", "tcpros"),
    ("ros1", "pubsub", "udpros"),
]


@pytest.fixture(autouse=True)
def one_core(as_root: None) -> Iterator[None]:
    """What a test starts inherits the one core, the ROS master included."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {CORE})
    yield
    os.sched_setaffinity(0, before)


def start(probes: Probes, stack: str, kind: str, policy: str, *arguments: object) -> Running:
    return probes.start(
        stack, kind, *arguments, "--policy", policy, "--priority", 40, "--count", 100,
        "--period-ns", 2_000_000, record=False,
    )  # fmt: skip


def check(running: Running, policy: str) -> None:
    assert running.end() == 0, running.stderr
    document = running.document()
    assert document["status"] == "complete"
    assert document["granted"]["policy"] == policy
    assert all(thread["cpu"] == [CORE] for thread in document["granted"]["threads"])


@pytest.mark.parametrize(
    ("stack", "kind", "transport", "wait", "policy"),
    [
        (*single, policy)
        for single in SINGLE
        for policy in ("fifo", "rr")
        if (single[2], policy) != ("executor", "rr")  # which has no round robin
    ],
)
def test_one_process_ends(
    probes: Probes, stack: str, kind: str, transport: str, wait: str, policy: str
) -> None:
    arguments = ("--transport", transport, "--wait", wait)
    check(start(probes, stack, kind, policy, *arguments), policy)


@pytest.mark.parametrize("policy", ["fifo", "rr"])
@pytest.mark.parametrize(("stack", "kind", "transport"), PAIRS)
def test_two_processes_end(
    probes: Probes, stack: str, kind: str, transport: str, policy: str
) -> None:
    topic = free_port() if stack == "raw" else "takt/one_core"
    roles = ("pong", "ping") if kind == "pingpong" else ("subscriber", "publisher")
    arguments = ("--transport", transport, "--topic", topic, "--payload-bytes", 200)
    started = [start(probes, stack, kind, policy, "--role", role, *arguments) for role in roles]
    for one in reversed(started):
        check(one, policy)
