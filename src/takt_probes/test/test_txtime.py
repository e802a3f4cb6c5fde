# SPDX-License-Identifier: Apache-2.0
"""Datagrams with the times at which they are to leave: the same on the wire as those of UDP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from probe_process import PATIENT, Probes

from takt.network import namespace
from takt.network.namespace import Link, Wants

COUNT, PORT = 50, 7412
PERIOD_NS = 10_000_000


@pytest.fixture(params=[False, True])
def link(tmp_path: Path, probes: Probes, request: pytest.FixtureRequest) -> Iterator[Link]:
    """Without and with a queue that knows times."""
    timed: bool = request.param
    if lack := namespace.lacking() or (namespace.lacking_times() if timed else None):
        pytest.skip(lack[0])
    domain = int(probes.environment["ROS_DOMAIN_ID"])
    wants = Wants(100_000_000, timed=timed)
    with namespace.link(tmp_path, f"{domain:08x}", domain, wants) as connected:
        yield connected


def test_messages_leave_at_their_times_or_the_probe_fails(
    probes: Probes, link: Link, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    topic = ("--topic", f"{link.addresses[1]}:{PORT}")
    common = (*topic, "--count", COUNT, *PATIENT)
    command = Probes.command
    with monkeypatch.context() as inside:
        inside.setattr(Probes, "command", lambda *given: link.inside(command(*given)))
        pong = probes.start(
            "raw", "pingpong", "--role", "pong", "--transport", "udp", *common, record=False
        )
    way = ("--role", "ping", "--transport", "txtime", "--period-ns", PERIOD_NS)
    ping = probes.start("raw", "pingpong", *way, *common)
    code = ping.end()
    assert pong.end() == 0, pong.stderr
    records = ping.recorded().records
    assert len(records) == COUNT
    timed = request.node.callspec.params["link"]
    assert code == (0 if timed else 1), ping.stderr
    if timed:
        assert (records["received"] >= records["sent"]).all()
    else:
        assert ping.document()["error"]["what"] == "the messages did not leave at their times"


def test_both_ends_in_one_process_are_refused(probes: Probes) -> None:
    done = probes.ask("raw", "pingpong", "--role", "both", "--transport", "txtime")
    assert done.returncode == 2


def test_it_needs_two_hosts(probes: Probes) -> None:
    answer = json.loads(probes.ask("raw", "--capabilities").stdout)
    found = next(one for one in answer["capabilities"] if one["transport"] == "txtime")
    assert found["apart"]
    assert found["wire"] == "raw"
    assert "queue" in found["without"]
