# SPDX-License-Identifier: Apache-2.0
"""Recordings of takt record made by hand, in the layout of src/takt_record/src/recording.hpp."""

from __future__ import annotations

import re
import struct
from pathlib import Path

MS = 1_000_000
DEFINED = (Path(__file__).parents[2] / "takt_record/src/events.def").read_text(encoding="utf-8")
# Texts of one event may stand in several literals.
KINDS = {
    name: re.sub(r'"\s*"', "", kinds).strip('"').split()
    for name, kinds in re.findall(r'TAKT_EVENT\((\w+),\s*((?:"[^"]*"\s*)+),', DEFINED)
}
NUMBERS = {name: number for number, name in enumerate(KINDS)}
BEGIN = 1_000 * MS  # CLOCK_MONOTONIC at the first event
REALTIME = 1_700_000_000_000 * MS


class Process:
    """The recording of one process, event by event."""

    def __init__(self, number: int, program: str = "robot") -> None:
        self.number, self.program = number, program
        self.core = 1  # of the events that follow
        self._events = b""
        self._topics: dict[int, int] = {}

    def add(self, time: int, name: str, *values: int | str, thread: int = 0, cpu: int = -1) -> None:
        """One event; ``time`` and ``cpu`` in ns."""
        fields = b""
        for kind, value in zip(KINDS[name], values, strict=True):
            if isinstance(value, str):
                raw = value.encode()
                size = b"" if kind.endswith("=g") else struct.pack("<Q", len(raw))
                fields += size + raw + bytes(-len(raw) % 8)
            else:
                fields += struct.pack("<q", value)
        size, of = 32 + len(fields), thread or self.number
        head = struct.pack("<IHHqqII", size, NUMBERS[name], self.core, BEGIN + time, cpu, of, 0)
        self._events += head + fields

    def node(self, handle: int, name: str) -> None:
        self.add(0, "rcl_node_init", handle, handle, name, "/")

    def timer(self, callback: int, node: int, period: int, time: int = 0) -> None:
        handle = callback + 1
        self.add(time, "rcl_timer_init", handle, period)
        self.add(time, "rclcpp_timer_callback_added", handle, callback)
        self.add(time, "rclcpp_timer_link_node", handle, node)

    def publisher(self, handle: int, node: int, topic: str) -> None:
        self.add(0, "rcl_publisher_init", handle, node, handle + 1, topic, 10)

    def subscription(self, callback: int, node: int, topic: str) -> None:
        self.add(0, "rcl_subscription_init", callback + 1, node, callback + 2, topic, 10)
        self.add(0, "rclcpp_subscription_init", callback + 1, callback + 3)
        self.add(0, "rclcpp_subscription_callback_added", callback + 3, callback)

    def service(self, callback: int, node: int, name: str) -> None:
        self.add(0, "rcl_service_init", callback + 1, node, callback + 2, name)
        self.add(0, "rclcpp_service_callback_added", callback + 1, callback)

    def client(self, handle: int, node: int, name: str) -> None:
        self.add(0, "rmw_client_init", handle + 1, _gid(handle))
        self.add(0, "rcl_client_init", handle, node, handle + 1, name)

    def request(self, time: int, client: int, number: int, **of: int) -> None:
        self.add(time, "rmw_send_request", client + 1, 7, number, **of)

    def serve(
        self, begin: int, end: int, service: int, client: int, number: int, thread: int = 0
    ) -> None:
        """The call for a request, and the response right after it."""
        key, of = (_gid(client), number), {"thread": thread}
        self.add(begin - 1, "rmw_take_request", service + 2, 7, *key, 1, **of)
        self.call(begin, end, service, **of)
        self.add(end + 1, "rmw_send_response", service + 2, 7, *key, REALTIME + end, **of)

    def take_response(self, time: int, client: int, number: int, **of: int) -> None:
        self.add(time, "rmw_take_response", client + 1, 7, number, REALTIME + time, 1, **of)

    def publish(self, time: int, publisher: int, **of: int) -> None:
        """To other processes; its source time stamp is the time."""
        self.add(time, "rclcpp_publish", 0, 7, **of)
        self.add(time, "rcl_publish", publisher, 7, **of)
        self.add(time, "rmw_publish", publisher + 1, 7, REALTIME + time, **of)

    def take(self, time: int, callback: int, source: int, **of: int) -> None:
        self.add(time, "rmw_take", callback + 2, 7, REALTIME + source, 1, **of)

    def call(self, begin: int, end: int, callback: int, thread: int = 0, intra: int = 0) -> None:
        """A call that was never interrupted; what it publishes is added between, by its time."""
        self.add(begin, "callback_start", callback, intra, thread=thread, cpu=begin)
        self.add(end, "callback_end", callback, thread=thread, cpu=end)

    def write(self, folder: Path, *, dropped: int = 0) -> Path:
        """Writes the file; times of events need not be in order."""
        folder.mkdir(exist_ok=True)
        lines = "".join(f"{' '.join([name, *kinds])}\n" for name, kinds in KINDS.items())
        names = f"{lines}\0{self.program}\0".encode()
        names += bytes(-len(names) % 8)
        size = 72 + len(names) + len(self._events)
        head = struct.pack(
            "<8sQQQqqiIQQ",
            b"TAKTREC2",
            size,
            size,
            dropped,
            BEGIN,
            REALTIME + BEGIN,
            self.number,
            len(names),
            0,
            0,
        )
        short = self.program.split(" ")[0].rsplit("/", 1)[-1]
        file = folder / f"{short}.{self.number}.taktrecord"
        file.write_bytes(head + names + self._events)
        return file


def _gid(client: int) -> str:
    return f"{client:016}"


SENSOR, FILTER, PLAN = 100, 200, 300  # callbacks
SCAN, POINTS = 400, 500  # publishers


def robot(folder: Path, jobs: int = 20, *, outside: bool = False) -> Path:
    """A sensor every 10 ms in one process; a filter and a plan of its points in another one.

    The sensor takes 1 ms from 0.1 ms after its release on and publishes at 0.9 ms; the filter
    begins 0.5 ms after that and publishes its points within the process after 1 ms, the plan
    begins 0.1 ms later, in another thread, and takes 2 ms. ``outside``: the first process is not
    recorded.
    """
    first, second = Process(11, "sensors"), Process(22, "planning")
    first.node(1, "sensor")
    first.timer(SENSOR, 1, 10 * MS)
    first.publisher(SCAN, 1, "/scan")
    second.node(1, "filter")
    second.node(2, "plan")
    second.subscription(FILTER, 1, "/scan")
    second.publisher(POINTS, 1, "/points")
    second.subscription(PLAN, 2, "/points")
    for job in range(jobs):
        release = (job + 1) * 10 * MS
        first.call(release + MS // 10, release + MS * 11 // 10, SENSOR)
        sent = release + MS * 9 // 10
        first.publish(sent, SCAN)
        begin = sent + MS // 2
        second.take(begin, FILTER, sent)
        second.call(begin, begin + MS * 11 // 10, FILTER)
        second.add(begin + MS, "rclcpp_intra_publish", POINTS, 7)
        second.add(begin + MS, "rclcpp_ring_buffer_enqueue", 77, 0, 1, 0)
        begin += MS * 11 // 10
        second.add(begin, "rclcpp_ring_buffer_dequeue", 77, 0, 0, thread=23)
        second.call(begin, begin + 2 * MS, PLAN, thread=23, intra=1)
    if not outside:
        first.write(folder)
    second.write(folder)
    return folder
