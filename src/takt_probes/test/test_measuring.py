# SPDX-License-Identifier: Apache-2.0
"""Every kind over every transport: complete results that agree with what was recorded."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from probe_process import PATIENT, ROOM, Probes, Running

KEYS = {
    "schema_version", "stack", "kind", "role", "transport", "executor", "status", "error", "sent",
    "received",
    "lost", "duplicated", "out_of_order", "late", "overruns", "dropped", "started_ns", "ended_ns",
    "requested", "granted", "notes", "versions",
}  # fmt: skip
OBTAINED = {
    "policy", "priority", "cpu", "memory_locked", "no_deep_idle", "timer_slack_ns",
    "rr_interval_ns", "minor_faults", "major_faults", "voluntary_switches",
    "involuntary_switches", "cpu_time_ns", "threads",
}  # fmt: skip
COUNT = 200
HELLO = struct.pack("<I", 2)  # in the head of a message of the raw stack


def free_port() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


def check_document(running: Running, role: str) -> dict[str, Any]:
    """Exit code and document of a complete measurement."""
    assert running.end() == 0, running.stderr
    document = running.document()
    assert set(document) - {"addresses"} == KEYS
    assert set(document["granted"]) == OBTAINED
    assert (document["status"], document["error"]) == ("complete", None)
    assert document["role"] == role
    assert 0 < document["started_ns"] < document["ended_ns"]
    names = [thread["name"] for thread in document["granted"]["threads"]]
    assert "takt.watchdog" in names
    return document


def check(running: Running, role: str) -> None:
    """A complete document and, for a role that records, a file that agrees with it."""
    document = check_document(running, role)
    if running.samples is None:
        return
    samples = running.recorded()
    records = samples.records
    assert samples.dropped == document["dropped"] == 0
    received = records[records["received"] != 0]
    assert len(received) == document["received"]
    assert document["sent"] == COUNT
    assert document["received"] + document["lost"] == COUNT
    assert (received["received"] >= received["sent"]).all()
    assert (received["sent"] >= received["intended"]).all()
    spacing = set((records["intended"] - 1_000_000 * records["sequence"].astype("i8")).tolist())
    assert len(spacing) == 1, "start times must lie on t0 + k * period"


@pytest.mark.parametrize(
    ("stack", "kind", "transport"),
    [
        ("raw", "wakeup", "nanosleep"),
        ("raw", "pingpong", "futex"),
        ("raw", "pingpong", "udp"),
        ("rcl", "pingpong", "process"),
        ("rcl", "pubsub", "process"),
        ("cyclonedds", "pingpong", "process"),
        ("cyclonedds", "pubsub", "process"),
    ],
)
def test_one_process_with_all_roles(probes: Probes, stack: str, kind: str, transport: str) -> None:
    payload = 0 if kind == "wakeup" else 500
    arguments = ("--transport", transport, "--count", COUNT, "--payload-bytes", payload)
    check(probes.start(stack, kind, *arguments), "both")


@pytest.mark.parametrize(
    ("stack", "transport"),
    [
        ("raw", "udp"),
        ("rcl", "shm"),
        ("rcl", "udp"),
        ("rcl_direct", "shm"),
        ("rcl_direct", "udp"),
        ("cyclonedds", "udp"),
        ("rustdds", "udp"),
        ("iceoryx2", "shm"),
        ("zenoh", "tcp"),
        ("ros1", "tcpros"),
        ("ros1", "tcpros_nodelay"),
        ("ros1", "udpros"),
    ],
)
def test_pong_and_ping_as_two_processes(probes: Probes, stack: str, transport: str) -> None:
    topic = free_port() if stack == "raw" else "takt/test"
    if transport == "udp":
        probes.environment["FASTDDS_BUILTIN_TRANSPORTS"] = "UDPv4"
    arguments = ("--transport", transport, "--topic", topic, "--payload-bytes", 500)
    pong = probes.start(stack, "pingpong", "--role", "pong", *arguments, record=False)
    ping = probes.start(stack, "pingpong", "--role", "ping", *arguments, "--count", COUNT)
    check(ping, "ping")
    check(pong, "pong")
    assert pong.document()["received"] == COUNT


def test_rcl_direct_measures_within_one_process_too(probes: Probes) -> None:
    arguments = ("--transport", "process", "--count", COUNT, "--payload-bytes", 500)
    check(probes.start("rcl_direct", "pingpong", *arguments), "both")


@pytest.mark.parametrize(
    ("stack", "transport"),
    [
        ("rcl", "shm"),
        ("cyclonedds", "udp"),
        ("rustdds", "udp"),
        ("iceoryx2", "shm"),
        ("zenoh", "tcp"),
        ("ros1", "tcpros"),
        ("ros1", "tcpros_nodelay"),
    ],
)
def test_a_publisher_waits_for_all_its_subscribers_and_each_gets_every_message(
    probes: Probes, stack: str, transport: str
) -> None:
    arguments = (
        "--transport", transport, "--topic", "takt/many", "--subscribers", 3, "--count", COUNT,
        *ROOM, "--payload-bytes", 200, *PATIENT,
    )  # fmt: skip
    first = [probes.start(stack, "pubsub", "--role", "subscriber", *arguments) for _ in range(2)]
    publisher = probes.start(stack, "pubsub", "--role", "publisher", *arguments, record=False)
    subscribers = [*first, probes.start(stack, "pubsub", "--role", "subscriber", *arguments)]
    check(publisher, "publisher")
    assert publisher.document()["sent"] == COUNT
    for subscriber in subscribers:
        check(subscriber, "subscriber")
        assert subscriber.document()["lost"] == 0
        assert subscriber.recorded().records["sequence"].tolist() == list(range(COUNT))


def test_a_pong_whose_first_answers_are_late_is_measured(probes: Probes) -> None:
    late = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as pong:
        pong.bind(("127.0.0.1", 0))
        pong.settimeout(0.1)
        topic = f"127.0.0.1:{pong.getsockname()[1]}"
        options = ("--transport", "udp", "--period-ns", 1_000_000, "--count", COUNT)
        ping = probes.start("raw", "pingpong", *options, "--role", "ping", "--topic", topic)
        while ping.process.poll() is None:
            try:
                message, sender = pong.recvfrom(65536)
            except TimeoutError:
                continue
            if message[4:8] == HELLO:
                late.append(message)
                # Over a long way all of them are under way before the first one is answered.
                if len(late) < 3:
                    continue
                pong.sendto(message, sender)
            elif late:
                pong.sendto(late.pop(), sender)
            pong.sendto(message, sender)
    check(ping, "ping")


@pytest.mark.parametrize("payload", [0, 1, 65475])
def test_a_datagram_carries_any_payload_up_to_the_stated_limit(
    probes: Probes, payload: int
) -> None:
    answer = json.loads(probes.ask("raw", "--capabilities").stdout)
    limits = {one["transport"]: one["max_payload_bytes"] for one in answer["capabilities"]}
    assert limits["udp"] == 65475
    arguments = ("--transport", "udp", "--payload-bytes", payload, "--count", COUNT)
    check(probes.start("raw", "pingpong", *arguments), "both")


@pytest.mark.parametrize(
    "stack",
    ["raw", "rcl", "rcl_direct", "rclcpp", "ros1", "cyclonedds", "rustdds", "iceoryx2", "zenoh"],
)
def test_capabilities_and_help_answer_without_measuring(probes: Probes, stack: str) -> None:
    answer = json.loads(probes.ask(stack, "--capabilities").stdout)
    assert answer["stack"] == stack
    for one in answer["capabilities"]:
        assert set(one) == {
            "kind", "transport", "roles", "fixed_payload_bytes", "max_payload_bytes", "waits",
            "reports", "executors", "contents", "durabilities", "histories", "wire", "allocators",
            "dds", "min_string_bytes", "without", "excluded", "apart",
        }  # fmt: skip
        assert one["roles"] in (["both"], ["pong", "ping"], ["subscriber", "publisher"])
    usage = probes.ask(stack, "--help")
    assert usage.returncode == 0
    assert f"Example:\n  probe_{stack} " in usage.stdout


def test_without_a_file_the_document_goes_to_standard_output(probes: Probes) -> None:
    done = probes.ask("raw", "wakeup", "--count", 3)
    assert json.loads(done.stdout)["received"] == 3


def test_a_pipe_named_as_result_is_written_to_and_not_replaced(
    probes: Probes, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    done = probes.ask("raw", "wakeup", "--count", 3, "--result", pipe)
    text = os.read(reader, 65536)
    os.close(reader)
    assert done.returncode == 0
    assert json.loads(text)["received"] == 3
    assert pipe.is_fifo()


def test_recording_neither_allocates_nor_faults(probes: Probes) -> None:
    command = [str(probes.folder / "bench_record"), "--batches", "200"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    assert answer["records"] == 200 * 500
    assert 0 < answer["min_ns"] <= answer["median_ns"] <= answer["p99_ns"] <= answer["max_ns"]
    assert (answer["allocations"], answer["minor_faults"], answer["major_faults"]) == (0, 0, 0)
