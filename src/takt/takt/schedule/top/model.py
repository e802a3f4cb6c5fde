# SPDX-License-Identifier: Apache-2.0
"""What executors say about their tasks (src/takt_core/include/takt/executor/report.hpp)."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

SCHEMA_VERSION = 2
HARDWARE_ID = "takt"
LEVELS = ("ok", "warn", "error", "stale")
_EXECUTOR = "executor"
_LIMIT = "limit: "
_NOT_GRANTED = ("not_granted", "shortfall")  # the second in reports of older programs


class Task(BaseModel):
    """One task; counts and worst times since the start of its executor."""

    model_config = ConfigDict(extra="ignore")  # later versions may tell more

    name: str
    level: str
    message: str
    releases: int
    completed: int
    skipped: int
    lost_arrivals: int
    early_releases: int
    deadline_misses: int
    budget_overruns: int
    age_violations: int
    delivered: int
    worst_response_us: float
    worst_lateness_us: float
    worst_age_us: float
    worst_cpu_time_us: float


class Limit(BaseModel):
    """One limit that the executor watches; counts since its start."""

    model_config = ConfigDict(extra="ignore")  # later versions may tell more

    name: str
    level: str
    message: str
    subject: str
    quantity: str
    topic: str
    limit_us: float  # 0: a count, or until the deadline
    allowed: float  # share
    checked: int
    exceeded: int
    worst_us: float


class Executor(BaseModel):
    """One report of one executor."""

    model_config = ConfigDict(extra="forbid")

    node: str
    stamp_ns: int  # CLOCK_REALTIME of the reporting host
    level: str = LEVELS[0]
    message: str = ""
    scenario: str = ""
    lost_trace_events: int = 0
    not_granted: list[str] = []
    tasks: list[Task] = []
    limits: list[Limit] = []


def executors(message: dict[str, Any]) -> list[Executor]:
    """The executors that a message of ``diagnostics_to_json`` tells of; others' status is left out.

    Raises ValueError for a status that claims to be Takt's and lacks what those have.
    """
    found: dict[str, Executor] = {}
    for status in message["status"]:
        node, separator, what = status["name"].partition(": ")
        if status["hardware_id"] != HARDWARE_ID or not separator:
            continue
        executor = found.setdefault(node, Executor(node=node, stamp_ns=message["stamp_ns"]))
        level = LEVELS[min(status["level"], len(LEVELS) - 1)]
        values = [(key, value) for key, value in status["values"]]
        if what == _EXECUTOR and any(key == "tasks" for key, _ in values):
            executor.level, executor.message = level, status["message"]
            executor.scenario = dict(values).get("scenario", "")
            executor.lost_trace_events = int(dict(values).get("lost_trace_events", 0))
            executor.not_granted = [value for key, value in values if key in _NOT_GRANTED]
        else:
            known = {**dict(values), "level": level, "message": status["message"]}
            if what.startswith(_LIMIT) and "limit_us" in known:
                limit = {**known, "name": what.removeprefix(_LIMIT)}
                executor.limits.append(Limit.model_validate(limit))
            else:
                executor.tasks.append(Task.model_validate({**known, "name": what}))
    return list(found.values())
