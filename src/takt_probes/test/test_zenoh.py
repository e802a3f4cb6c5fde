# SPDX-License-Identifier: Apache-2.0
"""What is Zenoh's own: TCP at one address, a port of the topic; nobody else is found."""

from __future__ import annotations

import json
import time

import psutil
import pytest
from probe_process import PATIENCE_S, PATIENT, Probes, Running


def listening(running: Running) -> list[psutil._common.pconn]:
    """Its sockets, once there is one."""
    process = psutil.Process(running.process.pid)
    deadline = time.monotonic() + PATIENCE_S
    while not (found := process.net_connections()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def test_it_goes_from_host_to_host_over_tcp(probes: Probes) -> None:
    capabilities = json.loads(probes.ask("zenoh", "--capabilities").stdout)["capabilities"]
    known = {(one["kind"], one["transport"], one["wire"]) for one in capabilities}
    assert known == {("pingpong", "tcp", "zenoh"), ("pubsub", "tcp", "zenoh")}
    assert probes.ask("zenoh", "pingpong", "--role", "ping", "--transport", "udp").returncode == 2


def test_a_message_of_many_parts_arrives_whole(probes: Probes) -> None:
    arguments = ("--transport", "tcp", "--payload-bytes", 1_000_000, "--count", 20)
    slow = ("--period-ns", 20_000_000, *PATIENT)
    pong = probes.start("zenoh", "pingpong", "--role", "pong", *arguments, *slow, record=False)
    ping = probes.start("zenoh", "pingpong", "--role", "ping", *arguments, *slow)
    assert ping.end() == 0, ping.stderr
    assert pong.end() == 0, pong.stderr
    document = ping.document()
    assert (document["received"], document["lost"]) == (20, 0)


def test_a_reliability_is_refused_because_the_transport_decides(probes: Probes) -> None:
    done = probes.ask("zenoh", "pingpong", "--role", "ping", "--reliability", "best_effort")
    assert done.returncode == 2
    assert "transport decides" in done.stderr


def test_it_listens_at_its_address_and_nowhere_else(probes: Probes) -> None:
    probes.environment["TAKT_ZENOH_OWN"] = "127.0.0.2"
    running = probes.start("zenoh", "pubsub", "--role", "publisher", record=False)
    found = listening(running)
    assert [one.laddr.ip for one in found] == ["127.0.0.2"], found


def test_ends_that_know_another_address_do_not_meet(probes: Probes) -> None:
    limit = ("--time-limit-ns", 3 * 10**9)
    probes.environment["TAKT_ZENOH_PEER"] = "127.0.0.2"
    probes.start("zenoh", "pubsub", "--role", "subscriber", *limit)
    running = probes.start("zenoh", "pubsub", "--role", "publisher", *limit, record=False)
    assert running.end() == 1
    assert running.document()["sent"] == 0


@pytest.mark.parametrize("variable", ["TAKT_ZENOH_OWN", "TAKT_ZENOH_PEER"])
def test_an_address_that_is_none_is_said(probes: Probes, variable: str) -> None:
    probes.environment[variable] = "localhost"
    role = "ping" if variable == "TAKT_ZENOH_OWN" else "pong"
    running = probes.start("zenoh", "pingpong", "--role", role, record=False)
    assert running.end() == 1
    assert running.document()["error"]["why"] == f"{variable} is 'localhost'"


@pytest.mark.parametrize("domain", ["none", "233"])
def test_a_domain_that_is_none_is_said(probes: Probes, domain: str) -> None:
    probes.environment["ROS_DOMAIN_ID"] = domain
    running = probes.start("zenoh", "pingpong", "--role", "pong", record=False)
    assert running.end() == 1
    assert domain in running.document()["error"]["why"]


def test_a_second_active_end_of_a_topic_says_who_has_its_port(probes: Probes) -> None:
    first = probes.start("zenoh", "pubsub", "--role", "publisher", record=False)
    assert listening(first)
    second = probes.start("zenoh", "pubsub", "--role", "publisher", record=False)
    assert second.end() == 1
    error = second.document()["error"]
    assert "in use" in error["why"]
    assert ".rs:" not in error["why"]  # lines of its source
    assert "ss --tcp" in error["fix"]


@pytest.mark.parametrize(("topic", "why"), [("takt/*", "names several"), ("takt//x", "the topic")])
def test_a_topic_that_is_no_single_key_is_said(probes: Probes, topic: str, why: str) -> None:
    running = probes.start("zenoh", "pingpong", "--role", "pong", "--topic", topic, record=False)
    assert running.end() == 1
    assert why in running.document()["error"]["why"]


def test_a_role_without_a_peer_says_what_is_missing(probes: Probes) -> None:
    running = probes.start("zenoh", "pingpong", "--role", "ping", "--topic", "takt/nobody")
    assert running.end() == 1
    error = running.document()["error"]
    assert "takt/nobody" in error["what"]
    assert "no pong" in error["why"]
