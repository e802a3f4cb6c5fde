# SPDX-License-Identifier: Apache-2.0
"""Messages that are a string arrive whole, between stacks, too; they need room for the head."""

from __future__ import annotations

import pytest
from probe_process import PATIENT, ROOM, Probes
from test_dds import FAST_DDS
from test_measuring import COUNT, check

ROLES = {"pingpong": ("pong", "ping"), "pubsub": ("subscriber", "publisher")}
WIRES = {"ros1": "tcpros"}
LEAST = 49


@pytest.mark.parametrize("payload", [LEAST, 5000])
@pytest.mark.parametrize("kind", ROLES)
@pytest.mark.parametrize(
    ("passive", "active"),
    [
        ("rcl", "rcl"), ("rclcpp", "rclcpp"), ("cyclonedds", "cyclonedds"), ("ros1", "ros1"),
        ("rcl", "cyclonedds"), ("cyclonedds", "rclcpp"),
    ],
)  # fmt: skip
def test_strings_arrive_whole(
    probes: Probes, passive: str, active: str, kind: str, payload: int
) -> None:
    probes.use_fast_dds_profile(FAST_DDS)
    arguments = (
        "--transport", WIRES.get(active, "udp"), "--content", "string", "--payload-bytes", payload,
        "--count", COUNT, *ROOM, *PATIENT,
    )  # fmt: skip
    first, second = ROLES[kind]
    recorder = second if kind == "pingpong" else first
    ends = {
        role: probes.start(stack, kind, "--role", role, *arguments, record=role == recorder)
        for stack, role in ((passive, first), (active, second))
    }
    check(ends[second], second)
    check(ends[first], first)
    document = ends[recorder].document()
    assert (document["received"], document["lost"]) == (COUNT, 0)


def test_udpros_carries_strings_whatever_the_length_of_its_headers(probes: Probes) -> None:
    arguments = ("--transport", "udpros", "--content", "string", "--payload-bytes", 500)
    for length in (1, 18, 35):
        more = ("--topic", "x" * length, "--count", COUNT, *ROOM)
        pong = probes.start("ros1", "pingpong", "--role", "pong", *arguments, *more, record=False)
        check(probes.start("ros1", "pingpong", "--role", "ping", *arguments, *more), "ping")
        check(pong, "pong")


@pytest.mark.parametrize("stack", ["rcl", "rclcpp", "cyclonedds", "ros1"])
def test_a_string_without_room_for_the_head_is_refused(probes: Probes, stack: str) -> None:
    words = ("--role", "ping", "--content", "string", "--payload-bytes", LEAST - 1)
    done = probes.ask(stack, "pingpong", *words)
    assert done.returncode == 2
    assert f"at least {LEAST}" in done.stderr


@pytest.mark.parametrize("stack", ["raw", "rustdds", "iceoryx2", "zenoh"])
def test_stacks_of_bytes_refuse_strings(probes: Probes, stack: str) -> None:
    roles = ["both", "ping"]
    done = [
        probes.ask(stack, "pingpong", "--role", role, "--content", "string", "--payload-bytes", 500)
        for role in roles
    ]
    assert {one.returncode for one in done} == {2}
    assert any("--content string" in one.stderr for one in done)
