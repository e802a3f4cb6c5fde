# SPDX-License-Identifier: Apache-2.0
"""takt model of whatever ran, overload and lost ends too: analyse takes the file that it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

import takt_core
import trace_files
from takt_core import EventType as Type

from takt.errors import TaktError
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.model.model import model
from takt.schedule.trace.file import NO_DEADLINE

POLICIES = ("fp", "rm", "dm", "edf", "np-fp", "np-edf", "p-rm", "cw-edf", "one of its own")
WAITING = ("fp", "rm", "dm")
CORES = {"one": 10, "two": 11}
US = 1000
Job = dict[str, Any]
# Of one job: until the release after it, from release to start, how long it computes.
JOBS = st.fixed_dictionaries(
    {
        "gap": st.integers(1, 50_000).map(lambda one: one * US),
        "late": st.integers(0, 5_000).map(lambda one: one * US),
        "computes": st.one_of(st.just(0), st.integers(1, 200_000_000)),
        "waits": st.one_of(st.just(0), st.integers(1, 100_000_000)),
        "ends": st.integers(0, 9).map(bool),
        "skips": st.sampled_from([0, 0, 0, 1, 3]),
    }
)
DECLARED = st.fixed_dictionaries(
    {"kind": st.sampled_from(["timer", "timer", "message"])},
    optional={
        "period": st.integers(1, 50_000).map(lambda one: one * US),
        "deadline": st.integers(1, 60_000).map(lambda one: one * US),
        "offset": st.integers(0, 10_000_000) | st.just("unknown"),
        "budget": st.integers(1, 300_000_000),
        "overrun": st.sampled_from(["skip", "queue_one", "catch_up"]),
        "group": st.sampled_from(["one", "two"]),
        "waits": st.booleans(),
        "active": st.booleans(),
        "expected_execution": st.integers(1, 100_000_000),
        "priority": st.integers(0, 98),
    },
)
TASKS = st.lists(
    st.tuples(st.none() | DECLARED, st.lists(JOBS, max_size=12), st.booleans()),
    min_size=1,
    max_size=5,
)


def recorded(tasks: list[tuple[Job | None, list[Job], bool]], policy: str) -> list[bytes]:
    """One core a task, as if each ran alone: what matters is what is seen of it."""
    names = [trace_files.name("attribute", 0, f"policy.default={policy}")]
    names.append(trace_files.name("attribute", 0, "scenario=default"))
    events: list[tuple[int, bytes]] = []
    for task, (declared, jobs, has_deadline) in enumerate(tasks):
        name = f"/ns/node{task}.one"
        names.append(trace_files.name("task", task, name))
        if declared is not None:
            description = {"name": name} | declared
            # As every executor asks of its tasks.
            if description.get("waits"):
                description.pop("group" if policy in WAITING else "waits", None)
            if declared["kind"] == "message":
                names.append(trace_files.name("topic", task, f"/topic{task}"))
                description["trigger"] = f"/topic{task}"
            names.append(trace_files.name("attribute", 0, f"task={json.dumps(description)}"))
        # The members of a group have one core.
        core = CORES.get((declared or {}).get("group"), task)
        release, free = 0, 0
        for job, one in enumerate(jobs):
            deadline = release + one["gap"] if has_deadline else NO_DEADLINE
            start = max(release + one["late"], free)
            end = start + one["computes"] + one["waits"]
            events.append((release, event(release, Type.release, task, job, deadline, core)))
            if one["skips"]:
                events.append((release, event(release, Type.skip, task, job, one["skips"], core)))
            events.append((start, event(start, Type.start, task, job, 10 + task, core)))
            if one["ends"]:
                events.append((end, event(end, Type.end, task, job, one["computes"], core)))
                free = end
            release += one["gap"]
    return [*names, *(text for _, text in sorted(events, key=lambda one: one[0]))]


def event(time: int, type_: Type, task: int, job: int, value: int, core: int) -> bytes:
    return trace_files.event(time, type_, task=task, job=job, value=value, core=core)


@settings(
    max_examples=100,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(tasks=TASKS, policy=st.sampled_from(POLICIES), margin=st.sampled_from([0.0, 0.2, 3.0]))
def test_what_model_writes_analyse_takes(
    tmp_path: Path, tasks: list[tuple[Job | None, list[Job], bool]], policy: str, margin: float
) -> None:
    trace = trace_files.write(tmp_path / "any.takttrace", recorded(tasks, policy))
    out = tmp_path / "any.app.yaml"
    out.unlink(missing_ok=True)
    refused = ""
    try:
        model(trace, out, margin)
    except TaktError as error:
        refused = error.what
    # Nothing that ran is "damaged".
    assert refused in ("", "no callback ran in it", "the trace contains no callback")
    assert out.exists() == (not refused)
    if refused:
        return
    report = takt_core.analyse(json.dumps(flat(read_application(out))), proposals=False)
    assert report["verdict"] in ("meets", "misses", "not_proved")
