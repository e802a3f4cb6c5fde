# SPDX-License-Identifier: Apache-2.0
"""Probes on DDS: they understand each other, and say what their surroundings lack."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time

import pytest
from probe_process import NOBODY, PATIENCE_S, PATIENT, ROOM, Probes
from test_measuring import COUNT, check, free_port

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
    probes.use_fast_dds_profile(FAST_DDS)
    # A publisher of Fast DDS waits as long for the farewell of RustDDS's subscriber, in vain.
    patient = ("--lost-after-ns", 5 * 10**9) if passive == "rustdds" else PATIENT
    arguments = (
        "--transport", "udp", "--payload-bytes", 5000, "--count", COUNT, *ROOM,
        "--reliability", reliability, *(patient if reliability == "reliable" else ()),
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


@pytest.mark.parametrize("given", ["", "none", "0", "-1", "4MB", "99999999999"])
def test_a_receive_buffer_that_is_none_is_said(probes: Probes, given: str) -> None:
    probes.environment["TAKT_RUSTDDS_BUFFER"] = given
    running = probes.start("rustdds", "pingpong", "--role", "pong", record=False)
    assert running.end() == 1
    error = running.document()["error"]
    assert f"TAKT_RUSTDDS_BUFFER is '{given}'" in error["why"]
    assert "bytes" in error["fix"]


def test_the_sockets_of_rustdds_have_the_receive_buffer_that_was_asked(probes: Probes) -> None:
    asked = 50_000
    probes.environment["TAKT_RUSTDDS_BUFFER"] = str(asked)
    running = probes.start("rustdds", "pingpong", "--role", "pong", record=False)
    limit = time.monotonic() + PATIENCE_S
    # The kernel doubles it for its own book-keeping.
    while 2 * asked not in (found := receive_buffers(running.process.pid)):
        assert running.process.poll() is None, running.end()
        assert time.monotonic() < limit, f"its sockets have {found}"
        time.sleep(0.005)


def receive_buffers(pid: int) -> list[int]:
    """Of the UDP sockets of a process, as the kernel has them."""
    table = subprocess.run(
        ["ss", "--udp", "--all", "--numeric", "--processes", "--memory", "--oneline"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    own = [line for line in table.stdout.splitlines() if f"pid={pid}," in line]
    return [int(size) for line in own for size in re.findall(r"skmem:\(r\d+,rb(\d+),", line)]


@pytest.mark.parametrize("stack", ["cyclonedds", "rustdds"])
def test_a_role_without_a_peer_says_what_is_missing(probes: Probes, stack: str) -> None:
    running = probes.start(stack, "pingpong", "--role", "ping", "--topic", "takt/nobody")
    assert running.end() == 1
    error = running.document()["error"]
    assert "takt/nobody" in error["what"]
    assert "no pong" in error["why"]


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("stack", DDS)
def test_each_thread_of_a_dds_has_the_priority_that_was_asked(probes: Probes, stack: str) -> None:
    probes.use_fast_dds_profile(FAST_DDS)
    arguments = (
        "--transport", "udp", "--count", 50, "--policy", "fifo", "--priority", 12,
        "--dds-priority", "10-15",
    )  # fmt: skip
    started = [
        probes.start(stack, "pingpong", "--role", role, *arguments, record=role == "ping")
        for role in ("pong", "ping")
    ]
    for one in reversed(started):
        assert one.end() == 0, one.stderr
        document = one.document()
        assert (
            document["requested"]["dds_priority"] == document["granted"]["dds_priority"] == "10-15"
        )
        assert [note for note in document["notes"] if "DDS" in note["what"]] == []
        threads = document["granted"]["dds_threads"]
        assert {one["priority"] for one in threads} == {10, 15}
        assert all(one["policy"] == "fifo" for one in threads)
        assert all(one["priority"] == one["requested_priority"] for one in threads)
        of_all = {one["tid"]: one["priority"] for one in document["granted"]["threads"]}
        assert all(of_all[one["tid"]] == one["priority"] for one in threads)


@pytest.mark.parametrize("stack", [*DDS, "raw"])
def test_packets_of_every_stack_get_the_class_that_was_asked(probes: Probes, stack: str) -> None:
    probes.use_fast_dds_profile(FAST_DDS)
    arguments = ["--transport", "udp", "--count", 50, "--dscp", 46]
    if stack == "raw":
        arguments += ["--topic", free_port()]
    started = [
        probes.start(stack, "pingpong", "--role", role, *arguments, record=role == "ping")
        for role in ("pong", "ping")
    ]
    for one in reversed(started):
        assert one.end() == 0, one.stderr
        document = one.document()
        assert document["requested"]["dscp"] == document["granted"]["dscp"] == 46
        assert document["granted"]["marked_sockets"] > 0
        assert [note for note in document["notes"] if "DSCP" in note["what"]] == []


@pytest.mark.usefixtures("as_root")
def test_threads_of_a_dds_that_did_not_get_their_priority_are_named(probes: Probes) -> None:
    probes.give_place_to(NOBODY)
    arguments = (
        "--transport", "udp", "--count", 20, "--policy", "fifo", "--priority", 12,
        "--dds-priority", "10-15",
    )  # fmt: skip
    nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    started = [
        probes.start(
            "cyclonedds", "pingpong", "--role", role, *arguments, record=role == "ping", **nobody
        )
        for role in ("pong", "ping")
    ]
    for one in reversed(started):
        assert one.end() == 0, one.stderr
        document = one.document()
        notes = {note["what"]: note for note in document["notes"]}
        reported = notes["DDS threads at fifo 10-15"]
        assert "EPERM" in reported["why"] or "not permitted" in reported["why"]
        assert "tev other 0 instead of 10" in reported["why"]
        assert "recv other 0 instead of 15" in reported["why"]
        assert "tev other 0" in document["granted"]["dds_priority"]


@pytest.mark.parametrize("policy", [("other", 0), ("fifo", 12)])
def test_memory_of_rcl_and_of_messages_is_a_pools(probes: Probes, policy: tuple[str, int]) -> None:
    payload = 10_000
    running = probes.start(
        "rcl", "pingpong", "--transport", "process", "--count", 200, "--payload-bytes", payload,
        "--policy", policy[0], "--priority", policy[1], "--allocator", "tlsf",
    )  # fmt: skip
    assert running.end() == 0, running.stderr
    document = running.document()
    granted = document["granted"]
    assert document["requested"]["allocator"] == granted["allocator"] == "tlsf"
    pool = granted["pool"]
    assert 4 * payload < pool["peak_bytes"] < pool["bytes"] / 2
    assert pool["refused"] == 0
    assert granted["major_faults"] == 0
    # On Jazzy some thirty pages are touched for the first time while it measures.
    if granted["memory_locked"] and os.environ.get("TAKT_ROS") != "jazzy":
        assert granted["minor_faults"] == 0


def test_without_being_asked_there_is_no_pool(probes: Probes) -> None:
    running = probes.start("rcl", "pingpong", "--transport", "process", "--count", 20)
    assert running.end() == 0, running.stderr
    document = running.document()
    assert "pool" not in document["granted"]
    assert "allocator" not in document["requested"]


@pytest.mark.parametrize("stack", ["raw", "cyclonedds"])
def test_what_has_no_such_memory_refuses_it(probes: Probes, stack: str) -> None:
    arguments = ("--transport", "udp", "--role", "ping", "--allocator", "tlsf")
    done = probes.ask(stack, "pingpong", *arguments)
    assert done.returncode == 2
    assert "--allocator tlsf" in done.stderr
