# SPDX-License-Identifier: Apache-2.0
"""ROS 1: what only it has, its master and UDP topics that may lose."""

from __future__ import annotations

import pytest
from probe_process import Probes
from test_measuring import COUNT, check, check_document


def test_without_a_master_the_probe_says_so_and_ends(probes: Probes) -> None:
    probes.command("ros1")
    probes.start_master()
    assert probes.master is not None
    probes.master.end()
    running = probes.start("ros1", "timer-cyclic", record=False)
    assert running.end() == 1
    error = running.document()["error"]
    assert probes.environment["ROS_MASTER_URI"] in error["what"]
    assert "rosmaster" in error["fix"]


def test_without_the_address_of_a_master_the_probe_names_the_variable(
    probes: Probes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ROS_MASTER_URI", raising=False)
    done = probes.ask("ros1", "timer-cyclic")
    assert done.returncode == 1
    assert "ROS_MASTER_URI" in done.stderr


def test_a_topic_name_that_ros1_refuses_is_said(probes: Probes) -> None:
    running = probes.start("ros1", "pubsub", "--role", "subscriber", "--topic", "a b")
    assert running.end() == 1
    assert "a b" in running.document()["error"]["why"]


@pytest.mark.parametrize("payload", [0, 200, 20_000])
def test_udp_topics_count_what_they_lose(probes: Probes, payload: int) -> None:
    arguments = ("--transport", "udpros", "--payload-bytes", payload, "--count", COUNT)
    subscriber = probes.start("ros1", "pubsub", "--role", "subscriber", *arguments)
    publisher = probes.start("ros1", "pubsub", "--role", "publisher", *arguments, record=False)
    check_document(publisher, "publisher")
    assert publisher.document()["sent"] == COUNT
    check(subscriber, "subscriber")
    assert subscriber.document()["received"] > 0
