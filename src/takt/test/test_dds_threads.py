# SPDX-License-Identifier: Apache-2.0
"""Priorities of a DDS implementation's threads, as its own configuration has them."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from takt.network import transport
from takt.network.dds_threads import DdsThreads

NAMESPACE = "{http://www.eprosima.com}"
ASKED = DdsThreads.of("fifo", "70-80")


def priorities(text: str) -> dict[str, set[tuple[str, str]]]:
    """Policy and priority of each kind of thread in a profile of Fast DDS."""
    found: dict[str, set[tuple[str, str]]] = {}
    for one in ElementTree.fromstring(text).iter():  # noqa: S314 - our own
        policy, priority = (one.find(f"{NAMESPACE}{name}") for name in POLICY)
        if policy is not None and priority is not None:
            kind = one.tag.removeprefix(NAMESPACE)
            found.setdefault(kind, set()).add((policy.text or "", priority.text or ""))
    return found


POLICY = ("scheduling_policy", "priority")


@pytest.mark.parametrize("way", ["udp", "shm", "process"])
def test_fast_dds_receives_high_and_keeps_house_low(way: str) -> None:
    found = priorities(transport.profile(way, 500, threads=ASKED))
    assert found.pop("default_reception_threads") == {("1", "80")}
    assert set.union(*found.values()) == {("1", "70")}
    assert ("dump_thread" in found) == (way != "udp")


def test_fast_dds_never_sends_above_its_events() -> None:
    found = priorities(transport.profile("udp", 500, threads=ASKED))
    assert found["builtin_controllers_sender_thread"] == found["timed_events_thread"]


def test_cyclone_dds_knows_its_threads_by_name() -> None:
    document = ElementTree.fromstring(transport.cyclone(500, threads=ASKED))  # noqa: S314
    threads = {
        one.get("name"): (one.findtext("Scheduling/Class"), one.findtext("Scheduling/Priority"))
        for one in document.iter("Thread")
    }
    assert threads["recv"] == threads["dq.user"] == ("realtime", "80")
    assert threads["tev"] == threads["gc"] == ("realtime", "70")


@pytest.mark.parametrize("way", ["udp", "shm", "process"])
def test_what_is_not_asked_is_not_configured(way: str) -> None:
    assert priorities(transport.profile(way, 500)) == {}
    assert "Thread" not in transport.cyclone(500)
    assert DdsThreads.of("fifo", "") is None


def test_round_robin_is_round_robin() -> None:
    found = priorities(transport.profile("udp", 500, threads=DdsThreads.of("rr", "60")))
    assert set.union(*found.values()) == {("2", "60")}
