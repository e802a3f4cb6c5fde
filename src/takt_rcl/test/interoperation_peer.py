# SPDX-License-Identifier: Apache-2.0
"""The rclpy side of test_interoperation.py: a program of its own, as rclpy may need another Python.

Usage: interoperation_peer.py listen|talk|echo-text|echo-bytes COUNT [--ros-args …]
Prints one JSON document with what it sent and what it received, in order.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.utilities import remove_ros_args
from std_msgs.msg import MultiArrayDimension, MultiArrayLayout, String, UInt8MultiArray

PATIENCE_S = 150.0
RELIABLE = QoSProfile(depth=1000)  # reliable is rclpy's default


def text(index: int) -> String:
    return String(data=f"hello {index}")


def octets(index: int) -> UInt8MultiArray:
    """As many dimensions and as many bytes as the number says: lists of messages of any length."""
    size = index % 50
    layout = MultiArrayLayout(
        dim=[
            MultiArrayDimension(label=f"axis {axis}", size=size, stride=2**32 - 1 - index)
            for axis in range(index % 4)
        ],
        data_offset=index,
    )
    return UInt8MultiArray(layout=layout, data=[index % 256] * size)


def fields(message: String | UInt8MultiArray) -> list[Any]:
    if isinstance(message, String):
        return [message.data]
    dimensions = [[one.label, one.size, one.stride] for one in message.layout.dim]
    return [dimensions, message.layout.data_offset, list(message.data)]


class Peer(Node):
    def __init__(self, kind: type, publish_to: str | None, listen_to: str | None) -> None:
        super().__init__("peer")
        self.sent: list[list[Any]] = []
        self.received: list[list[Any]] = []
        if publish_to:
            self.out = self.create_publisher(kind, publish_to, RELIABLE)
        if listen_to:
            self.into = self.create_subscription(kind, listen_to, self.receive, RELIABLE)

    def receive(self, message: String | UInt8MultiArray) -> None:
        self.received.append(fields(message))

    def publish(self, message: String | UInt8MultiArray) -> None:
        self.out.publish(message)
        self.sent.append(fields(message))

    def spin_until(self, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not reached() and time.monotonic() < deadline:
            rclpy.spin_once(self, timeout_sec=0.05)

    def wait_for_echo(self, make: Callable[[int], Any], index: int) -> None:
        """Sends until a reply comes: only the other side knows when its publisher has found us."""
        deadline = time.monotonic() + PATIENCE_S
        while not self.received and time.monotonic() < deadline:
            self.publish(make(index))
            rclpy.spin_once(self, timeout_sec=0.05)
            index += 1
        # Reliable topics keep the order: after the last of these come only the measured ones.
        self.spin_until(lambda: self.sent[-1] in self.received)
        self.sent.clear()
        self.received.clear()


def main(task: str, count: int) -> None:
    if task == "listen":
        peer = Peer(String, None, "chatter")
        peer.spin_until(lambda: len(peer.received) >= count)
    elif task == "talk":
        peer = Peer(String, "chatter", None)
        peer.spin_until(lambda: peer.out.get_subscription_count() > 0)
        for index in range(count):
            peer.publish(text(index))
        peer.out.wait_for_all_acked(Duration(seconds=PATIENCE_S))
    elif task in ("echo-text", "echo-bytes"):
        name = task.removeprefix("echo-")
        make = text if name == "text" else octets
        peer = Peer(String if name == "text" else UInt8MultiArray, f"{name}_in", f"{name}_out")
        peer.wait_for_echo(make, count)
        for index in range(count):
            peer.publish(make(index))
        peer.spin_until(lambda: len(peer.received) >= count)
    else:
        sys.exit(f"no task {task!r}")
    json.dump({"sent": peer.sent, "received": peer.received}, sys.stdout)


if __name__ == "__main__":
    rclpy.init()
    _, chosen, number = remove_ros_args(sys.argv)
    main(chosen, int(number))
    rclpy.shutdown()
