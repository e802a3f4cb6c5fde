# SPDX-License-Identifier: Apache-2.0
"""What two machines say of their interfaces proves that the network carried the messages."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from takt.measure.conditions.wire import Wire
from takt.network import second_path
from takt.network.hosts import Hosts, Side

PING, PONG = "192.0.2.2", "192.0.2.3"
COUNT, BYTES = 179, 500


class Counters:
    """Those of the interfaces of two machines, named by their addresses."""

    def __init__(self, net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = net / "dev_snmp6"
        self._folder.mkdir()
        self._frames: dict[str, Any] = {}
        monkeypatch.setattr(second_path, "NET", net)
        monkeypatch.setattr(second_path, "interface_of", lambda address: address)
        monkeypatch.setattr(psutil, "net_io_counters", lambda **_: self._frames)
        for address in (PING, PONG):
            self.count(address, into=0, out=0)

    def count(
        self,
        address: str,
        into: int,
        out: int,
        traffic_into: int = 0,
        traffic_out: int = 0,
    ) -> None:
        self._frames[address] = SimpleNamespace(bytes_recv=into, bytes_sent=out)
        said = {"Ip6InOctets": traffic_into, "Ip6InReceives": 0, "Ip6OutOctets": traffic_out}
        text = "".join(f"{name} {value}\n" for name, value in said.items())
        (self._folder / address).write_text(text, encoding="ascii")


@pytest.fixture
def counters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counters:
    return Counters(tmp_path, monkeypatch)


def watched(counters: Counters, **more: dict[str, int]) -> Wire:
    wire = Wire(Hosts(Side(PING), Side(PONG)))
    counters.count(PONG, **more["pong"])
    counters.count(PING, **more["ping"])
    wire.end()
    return wire


CELL: Any = SimpleNamespace(kind="pingpong", count=COUNT, payload_bytes=BYTES)
ENOUGH = COUNT * (BYTES + 80)


def test_traffic_that_a_queue_drops_hides_no_message(counters: Counters) -> None:
    dropped = 60_000  # IPv6 counts them as sent, the interface does not
    wire = watched(
        counters,
        pong={"into": 1_000_000 + ENOUGH, "out": 900_000 + ENOUGH}
        | {"traffic_into": 1_000_000, "traffic_out": 900_000 + dropped},
        ping={"into": 900_000 + ENOUGH, "out": 1_000_000 + ENOUGH, "traffic_into": 900_000},
    )
    assert wire.fault(CELL) is None
    into: Any = SimpleNamespace()
    wire.record(into)
    assert (into.messages_there_bytes, into.messages_back_bytes) == (ENOUGH, ENOUGH)
    assert (into.link_there_bytes, into.link_back_bytes) == (1_000_000 + ENOUGH, 900_000 + ENOUGH)


@pytest.mark.parametrize("lacking", [PING, PONG])
def test_traffic_is_no_message(counters: Counters, lacking: str) -> None:
    each = {
        address: {"into": 1_000_000 + (0 if address == lacking else ENOUGH), "out": 0}
        | {"traffic_into": 1_000_000}
        for address in (PING, PONG)
    }
    fault = watched(counters, ping=each[PING], pong=each[PONG]).fault(CELL)
    assert fault is not None
    assert fault.what == "the messages were not carried by the network"
    assert f"0 bytes that may be messages arrived at the interface with {PONG}" in fault.why or (
        f"and 0 at the one with {PING}" in fault.why
    )
