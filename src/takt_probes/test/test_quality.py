# SPDX-License-Identifier: Apache-2.0
"""Durability and history reach the middleware: ends match by them, and lose nothing by them."""

from __future__ import annotations

import signal
import time

import pytest
from probe_process import PATIENT, ROOM, Probes, Running
from test_measuring import COUNT, check

DDS = ("rcl", "rclcpp", "cyclonedds", "rustdds")
ROLES = {"pingpong": ("pong", "ping"), "pubsub": ("subscriber", "publisher")}


def started(probes: Probes, stack: str, kind: str, *arguments: object) -> dict[str, Running]:
    passive, active = ROLES[kind]
    recorder = active if kind == "pingpong" else passive
    return {
        role: probes.start(
            stack, kind, "--role", role, "--transport", "udp", *arguments, record=role == recorder
        )
        for role in (passive, active)
    }


@pytest.mark.parametrize("history", ["keep_last", "keep_all"])
@pytest.mark.parametrize("durability", ["volatile", "transient_local"])
@pytest.mark.parametrize("kind", ROLES)
@pytest.mark.parametrize("stack", DDS)
def test_messages_of_every_quality_arrive(
    probes: Probes, stack: str, kind: str, durability: str, history: str
) -> None:
    quality = ("--durability", durability, "--history", history, *ROOM, *PATIENT)
    ends = started(probes, stack, kind, *quality, "--payload-bytes", 5000, "--count", COUNT)
    for role in reversed(ROLES[kind]):
        check(ends[role], role)
    recorder = ROLES[kind][1 if kind == "pingpong" else 0]
    document = ends[recorder].document()
    assert (document["received"], document["lost"]) == (COUNT, 0)


@pytest.mark.parametrize("stack", DDS)
def test_who_wants_what_is_kept_is_not_matched_with_who_keeps_nothing(
    probes: Probes, stack: str
) -> None:
    common = ("--transport", "udp", "--topic", "takt/apart")
    probes.start(
        stack, "pubsub", "--role", "subscriber", *common, "--durability", "transient_local"
    )
    writer = probes.start(
        stack, "pubsub", "--role", "publisher", *common, "--time-limit-ns", 4 * 10**9, record=False
    )
    assert writer.end() == 1
    assert writer.document()["sent"] == 0


@pytest.mark.parametrize(
    ("stack", "history", "whole"),
    # Of RustDDS now and then nothing more arrives after that, the closing message included.
    [
        (stack, history, history == "keep_all")
        for stack in DDS
        for history in ("keep_all", "keep_last")
        if stack != "rustdds"
    ],
)
def test_a_subscriber_that_sleeps_loses_nothing_where_all_is_kept(
    probes: Probes, stack: str, history: str, whole: bool
) -> None:
    """The loop's thread sleeps by a signal to the process; nobody takes what arrives."""
    depth = ("--depth", 1) if history == "keep_last" else ()
    words = ("--history", history, *depth, "--count", 600, "--period-ns", 2_000_000, *PATIENT)
    asleep = False
    while not asleep:  # a busy machine may have let the moment pass
        subscriber, publisher = started(probes, stack, "pubsub", *words).values()
        subscriber.wait_for_records(20)
        subscriber.process.send_signal(signal.SIGSTOP)
        asleep = subscriber.records() < 400
        before = publisher.slept()
        while asleep and publisher.slept() < before + 150:  # once a message
            assert publisher.process.poll() is None
            time.sleep(0.005)
        subscriber.process.send_signal(signal.SIGCONT)
        for end in (publisher, subscriber):
            assert end.end() == 0, end.stderr
    document = subscriber.document()
    assert (document["lost"] == 0) is whole, document


@pytest.mark.parametrize("stack", ["raw", "ros1", "iceoryx2", "zenoh"])
@pytest.mark.parametrize("quality", [("durability", "transient_local"), ("history", "keep_all")])
def test_stacks_without_a_choice_refuse_it(
    probes: Probes, stack: str, quality: tuple[str, str]
) -> None:
    option, value = quality
    done = probes.ask(stack, "pingpong", "--role", "both", f"--{option}", value)
    role = probes.ask(stack, "pingpong", "--role", "ping", f"--{option}", value)
    assert {done.returncode, role.returncode} == {2}
    assert f"--{option} {value}" in done.stderr + role.stderr
