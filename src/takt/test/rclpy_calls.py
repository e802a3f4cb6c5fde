# SPDX-License-Identifier: Apache-2.0
"""Two programs of rclpy, as users write them: one serves, the other one calls it and waits.

Usage: rclpy_calls.py serve, until SIGINT, or rclpy_calls.py call COUNT.
"""

from __future__ import annotations

import contextlib
import sys
import threading

import rclpy
from lifecycle_msgs.srv import GetState
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import (
    Executor,
    ExternalShutdownException,
    MultiThreadedExecutor,
    SingleThreadedExecutor,
)
from rclpy.node import Node

PATIENCE_S = 30.0


def spin(executor: Executor) -> None:
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        executor.spin()


def serve() -> None:
    """Until SIGINT: a response that was just sent may be lost where its server ends."""
    node = Node("planner")
    node.create_service(GetState, "/plan", lambda _, response: response)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    spin(executor)


def call(count: int) -> None:
    node = Node("control")
    client = node.create_client(GetState, "/plan", callback_group=MutuallyExclusiveCallbackGroup())
    if not client.wait_for_service(timeout_sec=PATIENCE_S):
        sys.exit("no server")
    done = threading.Event()
    left = count

    def plan() -> None:
        nonlocal left
        if left:
            client.call(GetState.Request(), timeout_sec=PATIENCE_S)
            left -= 1
        if not left:
            done.set()

    node.create_timer(0.005, plan)
    executor = MultiThreadedExecutor(num_threads=2)
    executor.add_node(node)
    thread = threading.Thread(target=spin, args=[executor])
    thread.start()
    ended = done.wait(PATIENCE_S)
    rclpy.try_shutdown()
    thread.join()
    if not ended:
        sys.exit("no answer")


if __name__ == "__main__":
    rclpy.init()
    if sys.argv[1] == "serve":
        serve()
    else:
        call(int(sys.argv[2]))
    rclpy.try_shutdown()
