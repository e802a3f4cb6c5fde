# SPDX-License-Identifier: Apache-2.0
"""The stack rclcpp: each executor runs the callbacks of the same node."""

from __future__ import annotations

import json

import pytest
from probe_process import PATIENT, ROOM, Probes
from test_measuring import COUNT, check, check_document

EXECUTORS = ("single_threaded", "multi_threaded", "events", "events_cbg", "takt")


@pytest.fixture(params=EXECUTORS)
def executor(request: pytest.FixtureRequest, probes: Probes) -> str:
    """Skips where there is no rclcpp, or one without this executor."""
    answer = json.loads(probes.ask("rclcpp", "--capabilities").stdout)
    name = str(request.param)
    if name not in answer["capabilities"][0]["executors"]:
        pytest.skip(f"this rclcpp has no executor {name}")
    return name


@pytest.mark.parametrize("kind", ["pingpong", "pubsub"])
def test_messages_within_one_process_all_arrive(probes: Probes, executor: str, kind: str) -> None:
    arguments = ("--transport", "process", "--payload-bytes", 500, *ROOM, *PATIENT)
    running = probes.start("rclcpp", kind, *arguments, "--count", COUNT, "--executor", executor)
    check(running, "both")
    document = running.document()
    assert (document["received"], document["executor"]) == (COUNT, executor)


@pytest.mark.parametrize(
    ("kind", "roles"), [("pingpong", ("pong", "ping")), ("pubsub", ("subscriber", "publisher"))]
)
def test_messages_between_processes_all_arrive(
    probes: Probes, executor: str, kind: str, roles: tuple[str, str]
) -> None:
    arguments = (
        "--transport", "udp", "--count", COUNT, *ROOM, "--executor", executor, *PATIENT,
    )  # fmt: skip
    recorder = roles[1] if kind == "pingpong" else roles[0]
    started = {
        role: probes.start("rclcpp", kind, "--role", role, *arguments, record=role == recorder)
        for role in roles
    }
    for role in reversed(roles):
        check(started[role], role)
    assert started[recorder].document()["received"] == COUNT


@pytest.mark.parametrize("kind", ["timer-oneshot", "timer-cyclic"])
def test_timers_fire(probes: Probes, executor: str, kind: str) -> None:
    length = ("--timeout-ns" if kind == "timer-oneshot" else "--period-ns", 2_000_000)
    running = probes.start("rclcpp", kind, *length, "--count", 60, "--executor", executor)
    document = check_document(running, "both")
    assert document["sent"] == 60 == document["received"] + document["lost"]
    assert document["received"] > 0
