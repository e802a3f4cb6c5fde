# SPDX-License-Identifier: Apache-2.0
"""CTF 1.8 traces of made-up events of ros2_tracing, for babeltrace2 to read."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

Value = int | str
Record = tuple[int, str, dict[str, Value]]  # ns, event, fields

_HEAD = """/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le; };
clock { name = monotonic; freq = 1000000000; offset = 1000000000; };
typealias integer { size = 64; align = 8; signed = false;
  map = clock.monotonic.value; } := stamp_t;
stream {
  event.header := struct { integer { size = 32; align = 8; signed = false; } id;
    stamp_t timestamp; };
  event.context := struct { integer { size = 32; align = 8; signed = true; } vpid;
    integer { size = 32; align = 8; signed = true; } vtid; };
};
"""


def write(folder: Path, records: Iterable[Record], *, process: int = 7) -> Path:
    """A field `vtid` of a record is its thread, `vpid` its process; addresses are hexadecimal."""
    folder.mkdir(parents=True)
    kinds: dict[tuple[str, tuple[str, ...]], int] = {}
    body = []
    metadata = [_HEAD]
    for time, event, fields in sorted(records, key=lambda record: record[0]):
        own = {key: value for key, value in fields.items() if key not in {"vpid", "vtid"}}
        kind = (event, tuple(own))
        if kind not in kinds:
            kinds[kind] = len(kinds)
            metadata.append(_event(kinds[kind], event, own))
        vpid, vtid = int(fields.get("vpid", process)), int(fields.get("vtid", process))
        body.append(struct.pack("<IQii", kinds[kind], time, vpid, vtid))
        for value in own.values():
            text = isinstance(value, str)
            body.append(str(value).encode() + b"\0" if text else struct.pack("<q", value))
    (folder / "metadata").write_text("".join(metadata))
    (folder / "stream").write_bytes(b"".join(body))
    return folder


def _event(number: int, name: str, fields: dict[str, Value]) -> str:
    declared = ""
    for key, value in fields.items():
        base = "" if key in {"period", "queue_depth", "prev_tid", "next_tid"} else " base = hex;"
        integer = f"integer {{ size = 64; align = 8; signed = true;{base} }} {key};"
        declared += f"string {key};" if isinstance(value, str) else integer
    return f'event {{ id = {number}; name = "{name}"; fields := struct {{ {declared} }}; }};\n'


class Robot:
    """Makes the events of nodes, timers, subscriptions and their callbacks."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self._handles = 0x1000

    def handle(self) -> int:
        """A new address."""
        self._handles += 0x10
        return self._handles

    def say(self, time: int, event: str, **fields: Value) -> None:
        """One event."""
        self.records.append((time, event if event == "sched_switch" else f"ros2:{event}", fields))

    def node(self, name: str, namespace: str = "/") -> int:
        """Its handle."""
        handle = self.handle()
        self.say(
            0, "rcl_node_init", node_handle=handle, rmw_handle=1, node_name=name,
            namespace=namespace,
        )  # fmt: skip
        return handle

    def publisher(self, node: int, topic: str) -> int:
        """Its handle."""
        handle = self.handle()
        self.say(
            0, "rcl_publisher_init", publisher_handle=handle, node_handle=node, topic_name=topic,
            queue_depth=10,
        )  # fmt: skip
        return handle

    def timer(self, node: int, period: int) -> int:
        """Its callback."""
        timer, callback = self.handle(), self.handle()
        self.say(0, "rcl_timer_init", timer_handle=timer, period=period)
        self.say(0, "rclcpp_timer_callback_added", timer_handle=timer, callback=callback)
        self.say(0, "rclcpp_timer_link_node", timer_handle=timer, node_handle=node)
        return callback

    def subscription(self, node: int, topic: str, depth: int = 5) -> int:
        """Its callback."""
        handle, subscription, callback = self.handle(), self.handle(), self.handle()
        self.say(
            0, "rcl_subscription_init", subscription_handle=handle, node_handle=node,
            topic_name=topic, queue_depth=depth,
        )  # fmt: skip
        self.say(
            0, "rclcpp_subscription_init", subscription_handle=handle, subscription=subscription
        )
        self.say(
            0, "rclcpp_subscription_callback_added", subscription=subscription, callback=callback
        )
        return callback

    def service(self, node: int, name: str) -> int:
        """Its callback."""
        handle, callback = self.handle(), self.handle()
        self.say(0, "rcl_service_init", service_handle=handle, node_handle=node, service_name=name)
        self.say(0, "rclcpp_service_callback_added", service_handle=handle, callback=callback)
        return callback

    def call(
        self, begin: int, end: int, callback: int, publishers: Iterable[int] = (), thread: int = 7
    ) -> None:
        """One call of a callback, which publishes right before its end."""
        self.say(begin, "callback_start", callback=callback, is_intra_process=0, vtid=thread)
        for publisher in publishers:
            self.say(end - 1, "rcl_publish", publisher_handle=publisher, message=1, vtid=thread)
        self.say(end, "callback_end", callback=callback, vtid=thread)
