# SPDX-License-Identifier: Apache-2.0
"""Stacks without executables, and plans for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from takt.measure.experiment.faults import Machine
from takt.measure.experiment.file import Source, check
from takt.measure.experiment.plan import Plan, plan
from takt.network.stacks import Capability, Exclusion, Stack, Stacks

TRANSPORTS = ("shm", "udp", "process")
TWO = "here,namespace"
UDP = {"transport": "udp"}
QUALITY: dict[str, Any] = {
    "durabilities": ["volatile", "transient_local"],
    "histories": ["keep_last", "keep_all"],
}
KEPT = "its queues keep the last messages; late joiners get none"
WITHOUT = {
    "iceoryx2": dict.fromkeys(("reliability", "durability", "history"), KEPT),
    "zenoh": {"reliability": "its transport decides", "durability": KEPT, "history": KEPT},
}
RR = "the threads of Takt's executor run at fifo"
MACHINE = Machine(frozenset({0, 1}), 1 << 30)


class Installed(Stacks):
    """Stacks without executables."""

    def __init__(self) -> None:
        capabilities = [
            Capability(
                kind=kind,
                transport=transport,
                roles=roles,
                wire="rtps" if transport == "udp" else None,
                **QUALITY,
                dds=True,
                allocators=["heap", "tlsf"],
            )
            for kind, roles in (
                ("pingpong", ["pong", "ping"]),
                ("pubsub", ["subscriber", "publisher"]),
            )
            for transport in TRANSPORTS
        ]
        without_peer = Capability(kind="pubsub", transport="alone", roles=["both"])
        fixed = Capability(
            kind="pingpong", transport="fixed", roles=["both"], fixed_payload_bytes=[64, 4096]
        )
        raw = Capability(kind="wakeup", transport="nanosleep", roles=["both"])
        watched = Capability(kind="supply", transport="clock", roles=["both"])
        several = raw.model_copy(update={"threads": True})
        text = capabilities[0].model_copy(
            update={"contents": ["bytes", "string"], "min_string_bytes": 49}
        )
        small = Capability(
            kind="pingpong",
            transport="udp",
            roles=["pong", "ping"],
            max_payload_bytes=65_000,
            wire="raw",
            without=dict.fromkeys(("reliability", "depth", "durability", "history"), "no QoS"),
        )
        apart = small.model_copy(update={"transport": "apart", "apart": True})
        waits = {"timer-oneshot": ["idle", "busy"], "timer-cyclic": ["idle"]}
        timers = [
            Capability(kind=kind, transport=transport, roles=["both"], waits=waits[kind])
            for kind, transport in (
                ("timer-oneshot", "rcl_timer"),
                ("timer-cyclic", "rcl_timer"),
                ("timer-cyclic", "executor"),
            )
        ]
        timers[-1].excluded = [Exclusion(values={"policy": "rr"}, why=RR)]
        excluded = [Exclusion(values={"executor": "takt", "policy": "rr"}, why=RR)]
        executors = {"executors": ["single_threaded", "events", "takt"], "excluded": excluded}
        rclcpp = [one.model_copy(update=executors) for one in (*capabilities, timers[0])]
        known = ("rcl", "raw", "other", "iceoryx2", "zenoh", "rclcpp", "cyclictest", "texts")
        super().__init__({name: Path(name) for name in known})
        self._asked["cyclictest"] = Stack("cyclictest", Path("cyclictest"), [several])
        self._asked["texts"] = Stack("texts", Path("texts"), [text])
        self._asked["rclcpp"] = Stack("rclcpp", Path("rclcpp"), rclcpp)
        plain = [one.model_copy(update={key: [] for key in QUALITY}) for one in capabilities]
        for name, without in WITHOUT.items():
            ways = [one.model_copy(update={"without": without}) for one in plain]
            self._asked[name] = Stack(name, Path(name), ways)
        self._asked["other"] = Stack("other", Path("other"), capabilities)
        self._asked["rcl"] = Stack(
            "rcl", Path("rcl"), [*capabilities, fixed, without_peer, *timers]
        )
        self._asked["raw"] = Stack("raw", Path("raw"), [raw, watched, small, apart])


def planned(seed: int = 0, machine: Machine = MACHINE, **keys: Any) -> Plan:
    top = {key: keys.pop(key) for key in ("repetitions", "skip_missing") if key in keys}
    block = {"kind": "pingpong", "stack": "rcl", "duration": "1s"} | keys
    document = {"name": "x", "measurements": [block], **top}
    return plan(check(document, Source()), Source(), Installed(), machine, seed)
