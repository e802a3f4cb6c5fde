# SPDX-License-Identifier: Apache-2.0
"""Probes on DDS: they understand each other, and say what their surroundings lack."""

from __future__ import annotations

import json

import pytest
from probe_process import Probes
from test_measuring import COUNT, check

DDS = ("rcl", "rclcpp", "cyclonedds", "rustdds")
# As Cyclone DDS in these tests: the loopback, and others found by their addresses.
FAST_DDS = """<?xml version="1.0" encoding="UTF-8"?>
<dds xmlns="http://www.eprosima.com"><profiles>
 <transport_descriptors><transport_descriptor>
  <transport_id>udp</transport_id><type>UDPv4</type>
  <interfaceWhiteList><address>127.0.0.1</address></interfaceWhiteList>
 </transport_descriptor></transport_descriptors>
 <participant profile_name="test" is_default_profile="true"><rtps>
  <useBuiltinTransports>false</useBuiltinTransports>
  <userTransports><transport_id>udp</transport_id></userTransports>
  <builtin><initialPeersList><locator><udpv4><address>127.0.0.1</address></udpv4></locator>
  </initialPeersList></builtin>
 </rtps></participant>
</profiles></dds>
"""
PAIRS = [(one, other) for one in DDS for other in DDS if one != other]


@pytest.mark.parametrize(
    "reliability", ["reliable", pytest.param("best_effort", marks=pytest.mark.thorough)]
)
@pytest.mark.parametrize(("active", "passive"), PAIRS)
@pytest.mark.parametrize(
    ("kind", "roles"), [("pingpong", ("pong", "ping")), ("pubsub", ("subscriber", "publisher"))]
)
def test_two_vendors_understand_each_other(
    probes: Probes, kind: str, roles: tuple[str, str], active: str, passive: str, reliability: str
) -> None:
    profile = probes.place / "fastdds.xml"
    profile.write_text(FAST_DDS)
    probes.environment["FASTDDS_DEFAULT_PROFILES_FILE"] = str(profile)
    probes.environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "SYSTEM_DEFAULT"  # the profile's
    # Deep enough that a busy machine, which delays a subscriber, cannot make it lose messages.
    arguments = (
        "--transport", "udp", "--payload-bytes", 5000, "--count", COUNT, "--depth", COUNT,
        "--reliability", reliability,
    )  # fmt: skip
    recorder = roles[1] if kind == "pingpong" else roles[0]
    started = {
        role: probes.start(stack, kind, "--role", role, *arguments, record=role == recorder)
        for stack, role in ((passive, roles[0]), (active, roles[1]))
    }
    check(started[roles[1]], roles[1])
    check(started[roles[0]], roles[0])
    document = started[recorder].document()
    assert document["received"] > 0
    if reliability == "reliable":
        assert (document["received"], document["lost"]) == (COUNT, 0)


def test_what_shares_a_wire_says_so(probes: Probes) -> None:
    for stack in DDS:
        answer = json.loads(probes.ask(stack, "--capabilities").stdout)
        wires = {one["transport"]: one["wire"] for one in answer["capabilities"]}
        assert wires.pop("udp") == "rtps"
        assert set(wires.values()) <= {None}


@pytest.mark.parametrize("stack", ["cyclonedds", "rustdds"])
@pytest.mark.parametrize("domain", ["none", "-1", "233", "7 "])
def test_a_domain_that_is_none_is_said(probes: Probes, domain: str, stack: str) -> None:
    probes.environment["ROS_DOMAIN_ID"] = domain
    running = probes.start(stack, "pingpong", "--role", "pong", record=False)
    assert running.end() == 1
    error = running.document()["error"]
    assert domain in error["why"]
    assert "232" in error["fix"]


def test_an_interface_that_is_not_there_is_said(probes: Probes) -> None:
    probes.environment["CYCLONEDDS_URI"] = (
        '<General><Interfaces><NetworkInterface name="absent0"/></Interfaces></General>'
    )
    running = probes.start("cyclonedds", "pingpong", "--transport", "process", record=False)
    assert running.end() == 1
    assert "CYCLONEDDS_URI" in running.document()["error"]["fix"]
    assert "absent0" in running.stderr


def test_an_address_that_is_none_is_said(probes: Probes) -> None:
    probes.environment["TAKT_RUSTDDS_ADDRESS"] = "localhost"
    running = probes.start("rustdds", "pingpong", "--role", "pong", record=False)
    assert running.end() == 1
    error = running.document()["error"]
    assert "localhost" in error["why"]
    assert "TAKT_RUSTDDS_ADDRESS" in error["fix"]


@pytest.mark.parametrize("stack", ["cyclonedds", "rustdds"])
def test_who_stays_alone_says_what_is_missing(probes: Probes, stack: str) -> None:
    running = probes.start(stack, "pingpong", "--role", "ping", "--topic", "takt/nobody")
    assert running.end() == 1
    error = running.document()["error"]
    assert "takt/nobody" in error["what"]
    assert "no pong" in error["why"]
