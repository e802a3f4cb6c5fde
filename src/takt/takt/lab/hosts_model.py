# SPDX-License-Identifier: Apache-2.0
"""What ``takt lab hosts --json`` prints and its folder keeps as ``hosts.json``."""

from __future__ import annotations

from takt.lab.model import Model
from takt.lab.modes import Mode

DOCUMENT = "hosts.json"
SCHEMA_VERSION = 1


class NetworkThread(Model):
    """A thread of a guest's kernel that delivers packets, during one test."""

    host: str  # controller, component
    thread: str  # its name, as the kernel cuts it
    scheduling: str  # other, or fifo and the priority
    ran_ms: float  # on the CPU
    waited_ms: float  # ready to run, while others had the CPU


class HostsTest(Model):
    """One test of the paper, in one round."""

    test: str  # the paper's name: 1.D, 2.F, 4.A; or 2.F-normal
    cell: str  # in the run folder
    sent: int
    late: int  # round trips beyond the deadline, lost ones included
    lost: int
    p50_us: float | None
    p99_us: float | None
    max_us: float | None
    traffic_there_mbps: float | None  # received by the component; null: none was asked for
    traffic_back_mbps: float | None  # received by the controller
    threads: list[NetworkThread]
    fault: str | None = None  # why it does not count


class LateShare(Model):
    """How many round trips were late in one test, over all its rounds."""

    test: str
    late: int
    sent: int
    share: float


class Compared(Model):
    """What raised priorities (test 4.A) change about the share of late round trips of a test."""

    test: str  # 2.F, or 2.F-normal
    less_low: float | None  # at least this share less is late, at 95 %; null: not measured
    less_high: float | None  # and at most this one
    helps: bool | None  # null: not decided


class Hosts(Model):
    """The whole of it."""

    schema_version: int = SCHEMA_VERSION
    mode: Mode
    numbers: str  # what the times are: "instruction time, one virtual CPU"
    kernel: str  # of both guests, as uname says it, and its preemption
    deadline_us: float
    traffic_mbps: int  # asked for, each way
    seed: int
    seconds: float  # that it took, or its last part where it was stopped
    tests: list[HostsTest]
    late: list[LateShare]
    compared: list[Compared]
    headline: str
    results: str  # the folder of all of it
