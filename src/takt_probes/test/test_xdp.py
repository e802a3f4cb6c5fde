# SPDX-License-Identifier: Apache-2.0
"""Datagrams over AF_XDP: the same on the wire as those of UDP, between two hosts only."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from probe_process import PATIENCE_S, PATIENT, Probes

from takt.network import namespace
from takt.network.namespace import Link, Wants

COUNT, PORT = 100, 7411
AF_XDP = 44  # linux/socket.h
WAYS = ("xdp", "udp")


@pytest.fixture
def link(tmp_path: Path, probes: Probes) -> Iterator[Link]:
    if lack := namespace.lacking():
        pytest.skip(lack[0])
    try:
        socket.socket(AF_XDP, socket.SOCK_RAW).close()
    except OSError as error:
        pytest.skip(f"no AF_XDP here: {error}")
    domain = int(probes.environment["ROS_DOMAIN_ID"])
    with namespace.link(tmp_path, f"{domain:08x}", domain, Wants(100_000_000)) as connected:
        yield connected


def attached(interface: str) -> bool:
    """Whether a program of XDP is there."""
    shown = subprocess.run(["ip", "link", "show", interface], capture_output=True, text=True)
    return "xdp" in shown.stdout


@pytest.mark.parametrize("there", WAYS)
@pytest.mark.parametrize("here", WAYS)
def test_each_end_understands_the_other_way(
    probes: Probes, link: Link, monkeypatch: pytest.MonkeyPatch, here: str, there: str
) -> None:
    topic = ("--topic", f"{link.addresses[1]}:{PORT}")
    common = (*topic, "--payload-bytes", 100, "--count", COUNT, *PATIENT)
    command = Probes.command
    with monkeypatch.context() as inside:
        inside.setattr(Probes, "command", lambda *given: link.inside(command(*given)))
        pong = probes.start(
            "raw", "pingpong", "--role", "pong", "--transport", there, *common, record=False
        )
    ping = probes.start("raw", "pingpong", "--role", "ping", "--transport", here, *common)
    assert ping.end() == 0, ping.stderr
    assert pong.end() == 0, pong.stderr
    assert ping.document()["received"] == COUNT
    assert len(ping.recorded().records) == COUNT


def test_both_ends_on_one_host_are_refused(probes: Probes, link: Link) -> None:
    arguments = ("--role", "ping", "--transport", "xdp", "--topic", f"127.0.0.1:{PORT}")
    done = probes.ask("raw", "pingpong", *arguments)
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["why"] == "both ends are on this host"


def free_topic(host: str) -> str:
    """An address there; a DDS of somebody else may have any fixed port of this host."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind((host, 0))
        return f"{host}:{free.getsockname()[1]}"


def test_an_interface_has_one_program(probes: Probes, link: Link) -> None:
    arguments = ("--role", "pong", "--transport", "xdp", "--topic")
    topic = free_topic(link.addresses[0])
    first = probes.start("raw", "pingpong", *arguments, topic, "--count", COUNT, record=False)
    limit = time.monotonic() + PATIENCE_S
    while not attached(link.interface):
        assert time.monotonic() < limit, "the first one attached no program"
        assert first.process.poll() is None, first.result.read_text()
        time.sleep(0.02)
    done = probes.ask("raw", "pingpong", *arguments, free_topic(link.addresses[0]))
    assert done.returncode == 1
    assert "end the other program of XDP" in done.stderr
    first.process.terminate()
    assert first.end() == 0, first.stderr
    assert not attached(link.interface)
