# SPDX-License-Identifier: Apache-2.0
"""The environment and the profiles that keep the DDS of a cell to itself."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from synthetic_cells import cell_of, records_of

from takt.measure.run import programs
from takt.network import transport
from takt.network.stacks import Stack


def test_udp_has_no_shared_memory_to_fall_back_on() -> None:
    assert "SHM" not in transport.profile("udp", 500)
    assert "<useBuiltinTransports>false" in transport.profile("udp", 500)


def test_shm_has_no_udp_to_fall_back_on() -> None:
    assert "udp" not in transport.profile("shm", 500).lower()


@pytest.mark.parametrize("payload", [0, 500, 1_000_000, 16_000_000])
def test_the_segment_holds_several_messages(payload: int) -> None:
    text = transport.profile("shm", payload)
    segment = int(text.split("<segment_size>")[1].split("<")[0])
    assert segment >= max(4 << 20, 16 * payload)


@pytest.mark.parametrize("variable", ["AMENT_PREFIX_PATH", "TAKT_ROS_WHEELS"])
def test_fast_dds_2_gets_its_profile_by_the_name_that_it_knows(
    tmp_path: Path, variable: str
) -> None:
    """As in ROS 2 Jazzy; version 3 warns on its standard error of the former name."""
    prefix = tmp_path / "jazzy"
    (prefix / "lib").mkdir(parents=True)
    (prefix / "lib" / "libfastdds.so.3.2").touch()
    variables = {variable: str(prefix)}
    assert transport.fast_dds("/p.xml", variables) == {transport.PROFILE: "/p.xml"}
    (prefix / "lib" / "libfastrtps.so.2.14").touch()
    given = transport.fast_dds("/p.xml", variables)
    assert given == {transport.PROFILE: "/p.xml", "FASTRTPS_DEFAULT_PROFILES_FILE": "/p.xml"}
    assert "FASTRTPS_DEFAULT_PROFILES_FILE" in transport.environment(given, 42, {})


def test_the_environment_is_the_cells_own() -> None:
    base = {"HOME": "/home/x", "ROS_DISCOVERY_SERVER": "10.0.0.1", "ROS_DOMAIN_ID": "0"}
    environment = transport.environment({transport.PROFILE: "/p.xml"}, 42, base)
    assert environment["ROS_DOMAIN_ID"] == "42"
    assert environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "SYSTEM_DEFAULT"
    assert environment["HOME"] == "/home/x"
    assert transport.LOGS not in environment
    logged = transport.environment({}, 42, base, logs=Path("/dev/shm/takt-0-1/log"))
    assert logged[transport.LOGS] == "/dev/shm/takt-0-1/log"
    assert "ROS_DISCOVERY_SERVER" not in environment
    assert environment[transport.PROFILE] == "/p.xml"
    users = {"FASTRTPS_DEFAULT_PROFILES_FILE": "/of/the/user.xml"}
    assert "FASTRTPS_DEFAULT_PROFILES_FILE" not in transport.environment({}, 42, users)
    cyclone = {"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp", "CYCLONEDDS_URI": "file:///of/the/user"}
    other = transport.environment({transport.PROFILE: "/p.xml"}, 42, cyclone)
    assert other["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
    assert "CYCLONEDDS_URI" not in other
    third = transport.environment({transport.CYCLONE: transport.cyclone(500)}, 42, cyclone)
    assert third["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "SYSTEM_DEFAULT"


@pytest.mark.parametrize("payload", [0, 16_000_000])
def test_cyclone_has_one_interface_and_finds_nobody_by_multicast(payload: int) -> None:
    root = ElementTree.fromstring(  # noqa: S314 - of ours
        transport.cyclone(payload, 7, own="198.18.3.1", peer="198.18.3.2")
    )
    interfaces = [one.get("address") for one in root.iter("NetworkInterface")]
    assert interfaces == ["198.18.3.1"]
    assert [one.get("address") for one in root.iter("Peer")] == ["198.18.3.2"]
    assert root.findtext(".//AllowMulticast") == "false"
    assert int(root.findtext(".//MaxAutoParticipantIndex") or 0) >= 7 - 1
    buffer = root.find(".//SocketReceiveBufferSize")
    assert buffer is not None
    assert int((buffer.get("max") or "").removesuffix("B")) >= max(4 << 20, 2 * payload)


@pytest.mark.parametrize("payload", [0, 16_000_000])
def test_every_dds_asks_for_the_same_receive_buffer(payload: int, tmp_path: Path) -> None:
    asked = transport.receive_buffer(payload)
    assert f"<receiveBufferSize>{asked}<" in transport.profile("udp", payload)
    assert f'max="{asked}B"' in transport.cyclone(payload)
    cell = cell_of(
        tmp_path, [records_of([1.0], 1000)], stack="rustdds", kind="pubsub", transport="udp",
        payload_bytes=payload,
    )  # fmt: skip
    stack = Stack("rustdds", tmp_path, [])
    variables, _ = programs.profiles_of(cell, stack, tmp_path, "127.0.0.1", "127.0.0.1", 7)
    assert variables[transport.RUST_BUFFER] == str(asked)


def test_a_profile_looks_for_others_at_each_address_of_its_peers() -> None:
    found = transport.profile("udp", 500, own="10.0.0.1", peer=["10.0.0.1", "10.0.0.2"])
    assert found.count("<locator>") == 2
    assert "<address>10.0.0.2</address></udpv4></locator>" in found
    assert transport.profile("udp", 500).count("<locator>") == 1
    assert "<locator>" not in transport.profile("shm", 500)
