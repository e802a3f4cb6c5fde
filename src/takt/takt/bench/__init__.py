# SPDX-License-Identifier: Apache-2.0
"""Takt's own costs, each as a ratio to a baseline measured in the same run."""

from __future__ import annotations

from collections.abc import Callable

from takt.bench.analysis import analysis
from takt.bench.dispatch import dispatch
from takt.bench.history import history
from takt.bench.intra import intra
from takt.bench.model import Bench
from takt.bench.operations import switch, trace
from takt.bench.preempt import preempt
from takt.bench.rclcpp import rclcpp
from takt.bench.record import record
from takt.bench.record_ros import record_ros
from takt.bench.roundtrip import roundtrip
from takt.bench.vendors import vendors
from takt.bench.wakeup import wakeup
from takt.bench.watch import watch
from takt.network.rmw import RCL, RCLCPP

# A bench gets the rounds, the core that it may use, and where to say how far it is.
BENCHES: dict[str, Callable[[int, int, Callable[[str], None]], Bench]] = {
    "record": record,
    "record-ros": record_ros,
    "roundtrip": roundtrip,
    "wakeup": wakeup,
    "preempt": preempt,
    "switch": switch,
    "trace": trace,
    "watch": watch,
    "intra": intra,
    "dispatch": dispatch,
    "history": history,
    "analysis": analysis,
    "vendors": vendors,
    "rclcpp": rclcpp,
}
OF_STACK = {
    "record-ros": RCL,
    "vendors": "cyclonedds",
    "rclcpp": RCLCPP,
}  # what not every machine has: not among all without it
