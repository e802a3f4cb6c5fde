# SPDX-License-Identifier: Apache-2.0
"""The flat form of an application: what the core parses (takt/application/parse.hpp).

Only what the app.yaml says is in it; the core knows the defaults.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from takt.schedule.application.callback import Callback, Timing
from takt.schedule.application.hosts import flat_cores
from takt.schedule.application.locks import flat_locks, flat_sections
from takt.schedule.application.model import Application
from takt.schedule.application.processes import process_of
from takt.schedule.application.robot import flat_processes
from takt.schedule.application.segments import flat_segments
from takt.schedule.application.services import DEPTH, Services, used_topics
from takt.schedule.application.threads import flat_execution
from takt.schedule.application.topics import Topic
from takt.schedule.ros2.topics import service_name

VERSION = 1


def flat(application: Application) -> dict[str, Any]:
    """The flat form, with all times in ns and all sizes in bytes."""
    services = Services(application)
    return {
        "version": VERSION,
        "name": application.name or "application",
        **_given(executor=application.executor, policy=application.policy, cpus=application.cpus),
        **flat_cores(application),
        **flat_processes(application),
        **flat_locks(application.locks),
        "callbacks": [
            {
                **_callback(node, f"{node}.{name}", callback, services),
                **_given(process=process_of(application.processes, node)),
            }
            for node, callbacks in application.nodes.items()
            for name, callback in callbacks.items()
        ],
        "topics": [_topic(*one) for one in _topics(application, services)],
        "chains": [
            {"name": name, "callbacks": chain.callbacks, **_given(max_latency=chain.max_latency)}
            for name, chain in application.chains.items()
        ],
        "scenarios": [
            {
                "name": name,
                **_given(policy=scenario.policy),
                "tasks": [_change(task, change) for task, change in scenario.changes.items()],
            }
            for name, scenario in application.scenarios.items()
        ],
        **_given(default_scenario=application.default_scenario),
        "switches": [{"at": one.at, "scenario": one.scenario} for one in application.switches],
        # Not as the model writes them: there they have units.
        "overheads": _given(**dict(application.overheads)) if application.overheads else {},
    }


def _given(**keys: Any) -> dict[str, Any]:
    return {key: value for key, value in keys.items() if value is not None}


def _timing(timing: Timing) -> dict[str, Any]:
    return _given(
        period=timing.period if timing.timer is None else timing.timer,
        offset=timing.offset,
        deadline=timing.deadline,
        priority=timing.priority,
        budget=timing.budget,
        overrun=timing.overrun,
        active=timing.active,
        reads=[
            {"topic": topic, **_given(max_age=read.max_age)} for topic, read in timing.reads.items()
        ],
        writes=list(timing.writes),
    )


def _callback(node: str, name: str, callback: Callback, services: Services) -> dict[str, Any]:
    timing = _timing(callback)
    return {
        "name": name,
        "node": node,
        **timing,
        **(services.release(callback) or _release(callback)),
        "writes": [*timing["writes"], *services.writes(callback)],
        **_messages(callback),
        **_work(callback, services),
        **_given(
            group=callback.group,
            join=callback.join,
            publishes=callback.publishes,
            jitter=callback.jitter,
            at_once=callback.at_once,
            cpu=callback.cpu,
        ),
        **flat_sections(callback.critical_sections),
    }


def _release(callback: Callback) -> dict[str, Any]:
    return {"kind": "timer"} if callback.on is None else {"kind": "message", "trigger": callback.on}


def _messages(callback: Callback) -> dict[str, Any]:
    """By topic, where one job may publish several messages: how many, or the least and the most."""
    several = {
        name: list(one.messages) if one.messages[0] < one.messages[1] else one.messages[0]
        for name, one in callback.writes.items()
        if one.messages != (1, 1)
    }
    return {"messages": several} if several else {}


def _work(callback: Callback, services: Services) -> dict[str, Any]:
    """How long a job computes and waits."""
    if callback.segments:
        return flat_segments(callback.segments, services.called)
    return {
        "execution": _execution(callback),
        **_given(suspension=callback.suspension, suspensions=callback.suspensions),
    }


def _execution(callback: Callback) -> dict[str, Any]:
    if callback.execution is None:
        return {"best": callback.wcet, "worst": callback.wcet, "quantiles": [callback.wcet]}
    found = flat_execution(callback.execution)
    if callback.wcet is not None:  # declared, whatever was observed
        found["worst"] = callback.wcet
    return found


def _change(task: str, change: Timing) -> dict[str, Any]:
    return {"task": task, **_given(expected_execution=change.wcet), **_timing(change)}


def _topics(
    application: Application, services: Services
) -> Iterator[tuple[str, Topic, int | None]]:
    """All topics: those that are declared, and those that only callbacks name."""
    declared = {services.topic(name): topic for name, topic in application.topics.items()}
    sizes: dict[str, int | None] = dict.fromkeys(declared)
    timings: list[Timing] = list(application.callbacks.values())
    for scenario in application.scenarios.values():
        timings += scenario.changes.values()
    for timing in timings:
        sizes.update((topic, None) for topic in timing.reads if topic not in sizes)
        if isinstance(timing, Callback) and timing.on is not None:
            sizes.setdefault(timing.on, None)
        for written, write in timing.writes.items():
            sizes[written] = sizes.get(written) if write.size is None else write.size
    for thread in application.threads.values():
        sizes.update((topic, None) for topic in thread.writes if topic not in sizes)
    sizes |= {name: sizes.get(name) for name in used_topics(application)}
    for name, size in sizes.items():
        topic = declared.get(name, Topic())
        yield name, topic, topic.size if size is None else size


def _topic(name: str, topic: Topic, size: int | None) -> dict[str, Any]:
    depth = DEPTH if topic.depth is None and service_name(name) else topic.depth
    return {
        "name": name,
        **_given(bytes=size, depth=depth),
        **({"reliable": topic.reliability == "reliable"} if topic.reliability else {}),
        **_given(
            external_period=topic.external_period,
            external_burst=topic.external_burst,
        ),
        **({"external": True} if topic.external_period is not None else {}),
    }
