# SPDX-License-Identifier: Apache-2.0
"""What events of tracetools tell about an application under the executors of rclcpp.

LTTng recorded them (ros2 trace), or takt record.

It tells when callbacks began and ended, of which timers and topics, and what was published in them.
It has no priorities, deadlines and groups, for these executors have none that count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from takt.errors import TaktError
from takt.schedule.model import babeltrace, recordings
from takt.schedule.model.called import Call, Entity, Handle
from takt.schedule.model.event import Event
from takt.schedule.model.messages import Messages
from takt.schedule.model.seen import Seen, SeenCallback, Times
from takt.schedule.trace.names import topic_name, whole_name

_KERNEL = "sched_switch"
_HANDLED = {
    "rcl_node_init",
    "rcl_publisher_init",
    "rcl_subscription_init",
    "rclcpp_subscription_init",
    "rclcpp_subscription_callback_added",
    "rcl_service_init",
    "rclcpp_service_callback_added",
    "rcl_timer_init",
    "rclcpp_timer_callback_added",
    "rclcpp_timer_link_node",
    "callback_start",
    "callback_end",
    "rcl_publish",
    "rclcpp_intra_publish",
}
_ENOUGH = 10  # calls of a timer, of which one begins soon after it is due
_EVENT_LATE = 50_000  # ns
_RECORDING, _TRACE = "recording of takt record", "trace of ros2_tracing"
_NO_CALLBACK_FIX = {
    _RECORDING: "record a program on rclcpp until its callbacks ran: those of rclpy and rcl are "
    "not recorded",
    _TRACE: "start the trace before the application, because callbacks are named only at "
    "startup: run ros2 trace, then the application",
}
_NEVER_TOLD = (
    (
        "policy, priorities, deadlines, cores: not used by the executors of rclcpp; the "
        "file has defaults for Takt's executor: edf on core 0, periods as deadlines "
        "(deadline: 5ms)"
    ),
    (
        "exclusive callback groups: not in this trace; assumed: one group for all "
        "callbacks of a node (the default of rclcpp)"
    ),
    (
        "data stored by a subscription and used by another callback: not in this trace "
        "(reads: [topic])"
    ),
)


def seen(path: Path, progress: Callable[[int], None] = lambda _: None) -> Seen:
    """Reads a trace once; raises TaktError for what is none, or tells of no callback."""
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
    return reading.result(path)


def read_recording(folder: Path) -> Reading:
    """All events of a folder of takt record; raises TaktError for a damaged file."""
    reading = Reading(_RECORDING)
    for event in recordings.events(folder):
        reading.take(event)
    return reading


class Reading:
    """Follows handles from nodes to callbacks, and threads through their callbacks."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.messages = Messages()
        self._nodes: dict[Handle, str] = {}
        self._topics: dict[Handle, str] = {}  # of publishers
        self._entities: dict[Handle, Entity] = {}  # by rcl handle
        self._subscriptions: dict[Handle, Handle] = {}  # of rclcpp to those of rcl
        self._callbacks: dict[Handle, Entity] = {}
        self._early: dict[Handle, list[Handle]] = {}  # callbacks by a subscription still unknown
        self._running: dict[Handle, list[tuple[Handle, Call]]] = defaultdict(list)  # by thread
        self._off_core: dict[int, int] = {}  # since when, by thread of the kernel
        self._outside: dict[str, list[int]] = defaultdict(list)
        self._unknown: Counter[Handle] = Counter()  # calls of callbacks whose begin was missed
        self._span: tuple[int, int] | None = None
        self._has_threads = False
        self._has_kernel = False
        self._has_cpu_time = False

    def take(self, event: Event) -> None:
        """The next event."""
        if event.name == recordings.PAUSE:  # what runs now ends unrecorded
            self._running.clear()
            self.messages.pause()
            return
        self._span = (self._span[0] if self._span else event.time, event.time)
        if event.name == _KERNEL:
            self._switch(event)
            return
        self._has_threads |= "vtid" in event.fields
        name = event.name.removeprefix("ros2:")
        stack = self._running[event.thread]
        self.messages.take(name, event, stack[-1][1] if stack else None)
        if name in _HANDLED:
            getattr(self, f"_{name}")(event)

    def _text(self, event: Event, key: str) -> str:
        return str(event.fields.get(key, ""))

    def _rcl_node_init(self, event: Event) -> None:
        namespace = self._text(event, "namespace").strip("/")
        name = self._text(event, "node_name")
        path = f"/{namespace}/{name}" if namespace else f"/{name}"
        self._nodes[event.handle("node_handle")] = path

    def _rcl_publisher_init(self, event: Event) -> None:
        topic = topic_name(self._text(event, "topic_name"))
        self._topics[event.handle("publisher_handle")] = topic

    def _rcl_subscription_init(self, event: Event) -> None:
        handle = event.handle("subscription_handle")
        self._entities[handle] = Entity(
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
            if handle in self._entities:
                self._callbacks[callback] = self._entities[handle]

    def _rclcpp_subscription_callback_added(self, event: Event) -> None:
        key = "subscription" if "subscription" in event.fields else "subscription_handle"
        subscription = event.handle(key)
        handle = self._subscriptions.get(subscription, subscription)
        self._added(event, handle)
        if handle not in self._entities:
            self._early.setdefault(subscription, []).append(event.handle("callback"))

    def _rcl_service_init(self, event: Event) -> None:
        handle = event.handle("service_handle")
        name = topic_name(self._text(event, "service_name"))
        self._entities[handle] = Entity("service", handle, event.handle("node_handle"), name)

    def _rclcpp_service_callback_added(self, event: Event) -> None:
        self._added(event, event.handle("service_handle"))

    def _rcl_timer_init(self, event: Event) -> None:
        handle = event.handle("timer_handle")
        period = int(event.fields.get("period", 0))
        self._entities[handle] = Entity("timer", handle, period=period, made=event.time)

    def _rclcpp_timer_callback_added(self, event: Event) -> None:
        self._added(event, event.handle("timer_handle"))

    def _rclcpp_timer_link_node(self, event: Event) -> None:
        entity = self._entities.get(event.handle("timer_handle"))
        if entity is not None:
            entity.node = event.handle("node_handle")

    def _added(self, event: Event, handle: Handle) -> None:
        if handle in self._entities:
            self._callbacks[event.handle("callback")] = self._entities[handle]

    def _callback_start(self, event: Event) -> None:
        callback = event.handle("callback")
        cpu = event.fields.get("cpu_time")
        core = int(event.fields.get("core", -1))
        job = Call(event.time, cpu if isinstance(cpu, int) else None, event.thread, core)
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
            cpu = event.fields.get("cpu_time")
            if job.cpu is not None and isinstance(cpu, int):
                job.computed = cpu - job.cpu
                self._has_cpu_time = True
            entity = self._callbacks.get(callback)
            if entity is None:
                self._unknown[callback] += 1
            else:
                entity.jobs.append(job)
            return

    def _rcl_publish(self, event: Event) -> None:
        self._publish(event, "rcl")

    def _rclcpp_intra_publish(self, event: Event) -> None:
        self._publish(event, "intra")

    def _publish(self, event: Event, way: str) -> None:
        topic = self._topics.get(event.handle("publisher_handle"))
        if topic is None:
            return
        stack = self._running[event.thread]
        if stack:
            stack[-1][1].published[topic, way] += 1
        elif way == "rcl" or not self._outside[topic] or self._outside[topic][-1] < event.time:
            self._outside[topic].append(event.time)

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

    def result(self, path: Path) -> Seen:
        """To be called at the end of the trace."""
        if not any(entity.jobs for entity in self._entities.values()):
            missed = sum(self._unknown.values())
            raise TaktError(
                "the trace contains no callback"
                + (f" by its name, and of {missed} calls of unknown ones" if missed else ""),
                where=str(path),
                fix=_NO_CALLBACK_FIX[self._source],
            )
        span = self._span or (0, 0)
        callbacks = [self._callback(entity, name) for name, entity in self.named()]
        depths = {
            one.name: one.depth
            for one in self._entities.values()
            if one.kind == "subscription" and one.depth
        }
        return Seen(
            source=f"{path.name}, a {self._source}",
            duration=span[1] - span[0],
            callbacks=callbacks,
            policy="edf",
            cpus=[0],
            outside={
                topic: np.array(times, np.int64) for topic, times in self._outside.items() if times
            },
            depths=depths,
            notes=self._notes(),
        )

    def named(self) -> list[tuple[str, Entity]]:
        """All entities with the names that Takt's executor of rclcpp nodes would give them."""
        ordinals: Counter[str] = Counter()
        found = []
        for entity in self._entities.values():
            node = self._nodes.get(entity.node) if entity.node else None
            alike = f"{(node or 'unknown').lstrip('/')}.{entity.kind}"
            if entity.kind != "timer":
                alike += f":/{entity.name.lstrip('/')}"
            ordinal = ordinals[alike]
            ordinals[alike] += 1
            number = "" if entity.kind != "timer" and not ordinal else f"#{ordinal}"
            found.append((alike + (str(ordinal) if entity.kind == "timer" else number), entity))
        return found

    def _callback(self, entity: Entity, recorded: str) -> SeenCallback:
        jobs = sorted(entity.jobs, key=lambda job: job.begin)
        begins = np.array([job.begin for job in jobs], np.int64)
        writes: Counter[str] = Counter()
        most: dict[str, int] = {}
        for job in jobs:
            writes.update({topic for topic, _ in job.published})
            for (topic, _), count in job.published.items():
                most[topic] = max(count, most.get(topic, 0))
        found = SeenCallback(
            name=whole_name(recorded),
            recorded=recorded,
            kind="timer" if entity.kind == "timer" else "message",
            execution=np.array([job.execution for job in jobs], np.int64),
            execution_is="CPU time" if self._has_cpu else "from begin to end",
            releases=begins,
            indices=np.arange(len(begins), dtype=np.int64),
            writes=dict(writes),
            most_written=most,
        )
        found.told = {"group": found.name.split(".")[0]}
        if entity.kind == "timer":
            found.told |= {"name": recorded, "kind": "timer", "period": entity.period}
            if entity.period and len(begins):
                found.releases, found.indices = due(begins, entity.period, entity.made)
                late = int((begins - found.releases).max())
                found.notes.append(f"its executor started it up to {late / 1e6:.6g} ms late")
        else:
            found.trigger = entity.topic
        return found

    @property
    def _has_cpu(self) -> bool:
        return self._has_kernel or self._has_cpu_time

    def _notes(self) -> list[str]:
        notes = list(_NEVER_TOLD)
        notes += self._numbered_otherwise()
        if not self._has_cpu:
            notes.append(
                "CPU time: not in this trace; execution times are from begin to end and "
                "include preemption; also trace the kernel's sched_switch"
            )
        if not self._has_threads:
            notes.append(
                "threads: not in this trace; publishers are correct only for a single "
                "thread (ros2 trace adds vpid and vtid by default)"
            )
        if self._unknown:
            notes.append(
                f"{sum(self._unknown.values())} calls of {len(self._unknown)} callbacks "
                "created before the start of the trace: without names they are excluded"
            )
        return notes

    def _numbered_otherwise(self) -> list[str]:
        """Nodes whose timers Takt's executor may count in another order."""
        periods: dict[str, list[int]] = defaultdict(list)
        for entity in self._entities.values():
            if entity.kind == "timer":
                node = self._nodes.get(entity.node) if entity.node else None
                periods[node or "unknown"].append(entity.period)
        return [
            f"timers of {node}: numbered in order of creation ("
            + ", ".join(f"timer{i}: {period / 1e6:.6g} ms" for i, period in enumerate(each))
            + "); Takt's executor numbers timers of the default callback group "
            "first, then those of each other group: before using an ordinal "
            "in a timing file, check executor.callbacks() and the periods in "
            "its trace"
            for node, each in periods.items()
            if len(each) > 1
        ]


def due(begins: Times, period: int, made: int | None) -> tuple[Times, Times]:
    """When a timer that began at these times was due, and how many periods after its first time.

    A timer of rclcpp is due a period after it was made, and keeps its phase, whenever its callback
    begins. One that was made before the recording, or reset, has another phase.
    """
    if made is None:
        return on_grid(begins, period)
    late = (begins - made) % period
    if len(late) >= _ENOUGH and late.min() > period // 10:
        return on_grid(begins, period)
    # The event comes shortly after the time that the timer counts from.
    early = late[late > period - min(_EVENT_LATE, period // 20)]
    made -= int(period - early.min()) if len(early) else 0
    indices = (begins - made) // period
    return made + indices * period, indices - indices[0]


def on_grid(begins: Times, period: int) -> tuple[Times, Times]:
    """When a timer that began at these times was due, and how many periods after its first time.

    A timer of rclcpp keeps its phase, whenever its callback begins: that which began earliest
    against a grid of the period lies on it, as long as none begins half a period late.
    """
    residues = (begins - begins[0] + period // 2) % period - period // 2
    phase = begins[0] + residues.min()
    indices = (begins - phase) // period
    return phase + indices * period, indices - indices[0]
