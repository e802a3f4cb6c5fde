# SPDX-License-Identifier: Apache-2.0
"""Follows events of tracetools: which callbacks ran when, and what was published in them.

LTTng recorded them (ros2 trace), or takt record.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

from takt.errors import TaktError
from takt.schedule.ros2 import babeltrace, recordings
from takt.schedule.ros2.called import Call, Entity, Handle
from takt.schedule.ros2.event import Event
from takt.schedule.ros2.messages import Messages
from takt.schedule.ros2.stand_ins import stand_ins
from takt.schedule.ros2.topics import request_topic, topic_name

_KERNEL = "sched_switch"
_RCLCPP = "rclcpp_"
_WAIT = "rclcpp_executor_wait_for_work"
# What starts like this is followed by the method of its name, where there is one.
_HANDLED = ("callback_", "rcl_", "rclcpp_", "rmw_")
# What a thread does once the callback of a response has ended, of which no event tells.
_AFTER_RESPONSE = {
    "callback_start",
    "rmw_take",
    "rmw_take_request",
    "rmw_take_response",
    "rclcpp_ring_buffer_dequeue",
    _WAIT,
    "rclcpp_executor_execute",
}
_RECORDING, _TRACE = "recording of takt record", "trace of ros2_tracing"
_NO_CALLBACK_FIX = {
    _RECORDING: "record a program on rclcpp until its callbacks ran. Those of rclpy and rcl are "
    "not recorded; takt view, trace and metrics show their messages, if they exchange any",
    _TRACE: "start the trace before the application, because callbacks are named only at "
    "startup: run ros2 trace, then the application",
}


def read(path: Path, progress: Callable[[int], None] = lambda _: None) -> Reading:
    """Reads a trace of ros2_tracing, or a folder of takt record; raises TaktError for others."""
    if recordings.is_recorded(path):
        reading = Reading(_RECORDING)
        events = recordings.events(path)
    else:
        reading = Reading(_TRACE)
        events = babeltrace.events(
            path, lambda name: name.startswith("ros2:") or name == _KERNEL, progress
        )
    for event in events:
        reading.take(event)
    return reading


class Reading:
    """Follows handles from nodes to callbacks, and threads through their callbacks."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.messages = Messages()
        self.nodes: dict[Handle, str] = {}
        self._topics: dict[Handle, str] = {}  # of publishers
        self.entities: dict[Handle, Entity] = {}  # by rcl handle
        self._subscriptions: dict[Handle, Handle] = {}  # of rclcpp to those of rcl
        self._callbacks: dict[Handle, Entity] = {}
        self._early: dict[Handle, list[Handle]] = {}  # callbacks by a subscription still unknown
        # Services whose callback was not added so far, by node; rcl_action keeps its own.
        self._without_callback: dict[Handle, list[Entity]] = defaultdict(list)
        self._lifecycle: dict[Handle, list[Entity]] = {}  # of them those of the newest, by thread
        self._running: dict[Handle, list[tuple[Handle, Call]]] = defaultdict(list)  # by thread
        self._clients: dict[Handle, Entity] = {}  # by the handle of rmw
        self._answering: dict[Handle, tuple[Entity, Call]] = {}  # callbacks of responses, by thread
        self._off_core: dict[int, int] = {}  # since when, by thread of the kernel
        self.waited: Counter[Handle] = Counter()  # for its wait set, by thread
        self._with_rclcpp: set[int] = set()  # processes
        self.executed: Counter[Handle] = Counter()  # timers and subscriptions out of wait sets
        self.outside: dict[str, list[int]] = defaultdict(list)
        self.unknown: Counter[Handle] = Counter()  # calls of callbacks whose begin was missed
        self.span: tuple[int, int] | None = None
        self.has_threads = False
        self._has_kernel = False
        self._has_cpu_time = False

    def take(self, event: Event) -> None:
        """The next event."""
        if event.name == recordings.PAUSE:  # what runs now ends unrecorded
            self._running.clear()
            self._answering.clear()
            self.messages.pause()
            return
        self.span = (self.span[0] if self.span else event.time, event.time)
        if event.name == _KERNEL:
            self._switch(event)
            return
        self.has_threads |= "vtid" in event.fields
        name = event.name.removeprefix("ros2:")
        if name.startswith(_RCLCPP):
            self._with_rclcpp.add(event.process)
        if name in _AFTER_RESPONSE:
            self._end_response(event)
        self.messages.take(name, event, self._call(event.thread))
        if name.startswith(_HANDLED) and (handler := getattr(self, f"_{name}", None)):
            handler(event)

    def _call(self, thread: Handle) -> Call | None:
        """The callback that runs in a thread."""
        if stack := self._running[thread]:
            return stack[-1][1]
        return self._answering[thread][1] if thread in self._answering else None

    def _text(self, event: Event, key: str) -> str:
        return str(event.fields.get(key, ""))

    def _rcl_node_init(self, event: Event) -> None:
        namespace = self._text(event, "namespace").strip("/")
        name = self._text(event, "node_name")
        path = f"/{namespace}/{name}" if namespace else f"/{name}"
        self.nodes[event.handle("node_handle")] = path

    def _rcl_publisher_init(self, event: Event) -> None:
        topic = topic_name(self._text(event, "topic_name"))
        self._topics[event.handle("publisher_handle")] = topic

    def _rcl_subscription_init(self, event: Event) -> None:
        handle = event.handle("subscription_handle")
        self.entities[handle] = Entity(
            "subscription",
            handle,
            event.handle("node_handle"),
            topic_name(self._text(event, "topic_name")),
            depth=int(event.fields.get("queue_depth", 0)),
        )

    def _rclcpp_subscription_init(self, event: Event) -> None:
        handle = event.handle("subscription_handle")
        subscription = event.handle("subscription")
        self._subscriptions[subscription] = handle
        # Within a process, rclcpp adds the callback before it says of which subscription it is.
        for callback in self._early.pop(subscription, ()):
            if handle in self.entities:
                self._callbacks[callback] = self.entities[handle]

    def _rclcpp_subscription_callback_added(self, event: Event) -> None:
        key = "subscription" if "subscription" in event.fields else "subscription_handle"
        subscription = event.handle(key)
        handle = self._subscriptions.get(subscription, subscription)
        self._added(event, handle)
        if handle not in self.entities:
            self._early.setdefault(subscription, []).append(event.handle("callback"))

    def _rcl_service_init(self, event: Event) -> None:
        handle = event.handle("service_handle")
        name = topic_name(self._text(event, "service_name"))
        node = event.handle("node_handle")
        entity = self.entities[handle] = Entity("service", handle, node, name)
        self._without_callback[node].append(entity)

    def _rcl_client_init(self, event: Event) -> None:
        handle, name = event.handle("client_handle"), topic_name(self._text(event, "service_name"))
        entity = Entity("client", handle, event.handle("node_handle"), name)
        self.entities[handle] = self._clients[event.handle("rmw_client_handle")] = entity

    def _rmw_send_request(self, event: Event) -> None:
        client = self._clients.get(event.handle("rmw_client_handle"))
        if client is not None:
            self._send(event, request_topic(client.name), "rcl")

    def _rmw_take_response(self, event: Event) -> None:
        """Its callback begins, unless another one has waited for it in this thread."""
        if not event.fields.get("taken"):
            return
        within = self._call(event.thread)
        core = int(event.fields.get("core", -1))
        job = Call(event.time, event.cpu_time, event.thread, core)
        self.messages.take_response(event, within, job)
        client = self._clients.get(event.handle("rmw_client_handle"))
        # Of rclpy nobody knows when it ends.
        if client is not None and within is None and event.process in self._with_rclcpp:
            self._answering[event.thread] = client, job

    def _end_response(self, event: Event) -> None:
        """Without a wait set, what comes next in its thread may come much later."""
        if (answering := self._answering.pop(event.thread, None)) is None:
            return
        client, job = answering
        has_waited = self.waited[event.thread] or event.name.endswith(_WAIT)
        if has_waited and not event.name.endswith("callback_start"):
            job.compute(event.cpu_time)
            # Of several threads one waits at a time, and the others for their turn.
            single = sum(process == event.process for process, _ in self.waited) == 1
            used = None if job.computed is None else job.begin + job.computed
            job.end = event.time if single or used is None else max(job.end, used)
        job.end = max(job.end, job.begin + 1)
        client.jobs.append(job)

    def _rclcpp_service_callback_added(self, event: Event) -> None:
        handle = event.handle("service_handle")
        if (entity := self.entities.get(handle)) is not None:
            self._added(event, handle)
            bare = self._without_callback[entity.node or handle]
            bare[:] = [one for one in bare if one is not entity]
        elif copied := self._lifecycle.get(event.thread):
            # rcl made them, and rclcpp copies them in the same order, to addresses of its own.
            self._callbacks[event.handle("callback")] = copied.pop(0)

    def _rcl_lifecycle_state_machine_init(self, event: Event) -> None:
        self._lifecycle[event.thread] = self._without_callback.pop(event.handle("node_handle"), [])

    def _rcl_timer_init(self, event: Event) -> None:
        handle = event.handle("timer_handle")
        period = int(event.fields.get("period", 0))
        self.entities[handle] = Entity("timer", handle, period=period, created=event.time)

    def _rclcpp_timer_callback_added(self, event: Event) -> None:
        self._added(event, event.handle("timer_handle"))

    def _rclcpp_timer_link_node(self, event: Event) -> None:
        entity = self.entities.get(event.handle("timer_handle"))
        if entity is not None:
            entity.node = event.handle("node_handle")

    def _added(self, event: Event, handle: Handle) -> None:
        if handle in self.entities:
            self._callbacks[event.handle("callback")] = self.entities[handle]

    def _callback_start(self, event: Event) -> None:
        callback = event.handle("callback")
        core = int(event.fields.get("core", -1))
        job = Call(event.time, event.cpu_time, event.thread, core)
        if (entity := self._callbacks.get(callback)) is not None:
            self.messages.begins(job, entity.topic)
        self._running[event.thread].append((callback, job))

    def _callback_end(self, event: Event) -> None:
        callback = event.handle("callback")
        stack = self._running[event.thread]
        while stack:
            begun, job = stack.pop()
            if begun != callback:
                continue  # its end was lost
            job.end = event.time
            if job.compute(event.cpu_time):
                self._has_cpu_time = True
            entity = self._callbacks.get(callback)
            if entity is None:
                self.unknown[callback] += 1
            else:
                entity.jobs.append(job)
            self.messages.ends(job)
            return

    def _rclcpp_executor_wait_for_work(self, event: Event) -> None:
        self.waited[event.thread] += 1

    def _rclcpp_executor_execute(self, event: Event) -> None:
        self.executed[event.thread] += 1

    def _rcl_publish(self, event: Event) -> None:
        self._publish(event, "rcl")

    def _rclcpp_intra_publish(self, event: Event) -> None:
        self._publish(event, "intra")

    def _publish(self, event: Event, way: str) -> None:
        if (topic := self._topics.get(event.handle("publisher_handle"))) is not None:
            self._send(event, topic, way)

    def _send(self, event: Event, topic: str, way: str) -> None:
        if (call := self._call(event.thread)) is not None:
            call.published[topic, way] += 1
            if event.thread in self._answering:
                call.end = event.time + 1  # not before
                call.compute(event.cpu_time)
        elif way == "rcl" or not self.outside[topic] or self.outside[topic][-1] < event.time:
            self.outside[topic].append(event.time)

    def _switch(self, event: Event) -> None:
        """The kernel gives a core from one thread to another."""
        self._has_kernel = True
        previous, following = (int(event.fields.get(key, 0)) for key in ("prev_tid", "next_tid"))
        self._off_core[previous] = event.time
        since = self._off_core.pop(following, None)
        if since is None:
            return
        for (_, thread), stack in self._running.items():
            if thread == following:
                for _, job in stack:
                    job.off_core += event.time - max(since, job.begin)

    @property
    def has_cpu_time(self) -> bool:
        """Whether calls have their CPU time, or the kernel's events to compute it."""
        return self._has_kernel or self._has_cpu_time

    def require_callbacks(self, path: Path) -> None:
        """Raises TaktError if no call of a callback is known; to be called at the end."""
        if any(entity.jobs for entity in self.entities.values()):
            return
        missed = sum(self.unknown.values())
        raise TaktError(
            "the trace contains no callback"
            + (f" by its name, and of {missed} calls of unknown ones" if missed else ""),
            where=str(path),
            fix=_NO_CALLBACK_FIX[self.source],
        )

    def exchanged(self) -> list[tuple[str, Entity]]:
        """What stands for callbacks of processes in which none was called, as those of rclpy.

        To be called once, at the end.
        """
        called = {process for process, _ in self.unknown}
        called |= {one.handle[0] for one in self.entities.values() if one.jobs}
        publications, takes = (
            [one for one in each if one.by.handle[0] not in called]
            for each in (self.messages.publications, self.messages.takes)
        )
        return stand_ins(publications, takes, self.nodes)

    def named(self) -> list[tuple[str, Entity]]:
        """All entities with the names that Takt's executor of rclcpp nodes would give them."""
        ordinals: Counter[str] = Counter()
        found = []
        for entity in self.entities.values():
            node = self.nodes.get(entity.node) if entity.node else None
            alike = f"{(node or 'unknown').lstrip('/')}.{entity.kind}"
            if entity.kind != "timer":
                alike += f":/{entity.name.lstrip('/')}"
            ordinal = ordinals[alike]
            ordinals[alike] += 1
            number = "" if entity.kind != "timer" and not ordinal else f"#{ordinal}"
            found.append((alike + (str(ordinal) if entity.kind == "timer" else number), entity))
        return found
