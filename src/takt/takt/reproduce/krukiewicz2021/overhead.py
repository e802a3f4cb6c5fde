# SPDX-License-Identifier: Apache-2.0
"""Tables 5.6 to 5.8: what an executor costs between two callbacks.

On rcl as ``takt bench dispatch`` measures it. With rclcpp its own single-threaded executor is
baseline0, and Takt's for nodes of rclcpp stands beside it: the same nodes under both.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from takt.bench.model import Table
from takt.bench.overhead import DURATION_MS, Application, on_rcl
from takt.bench.overhead import tables as overhead_tables
from takt.documents.writing import write_bytes
from takt.errors import Failure
from takt.processes.scratch import temporary
from takt.reproduce.krukiewicz2021.beginning import RCLCPP, Baselines
from takt.reproduce.krukiewicz2021.executions import Executions
from takt.reproduce.model import Request
from takt.schedule.execution import execute
from takt.schedule.metrics import measure

OVERHEAD = "overhead.json"
ROUNDS, LEAST_ROUNDS = 7, 4
APPROACHES = {"baseline0": "rclcpp_single_threaded", "takt": "rclcpp_takt"}
UTILIZATION = 0.5
SLOWEST_PRIORITY = 40
MESSAGE_BYTES = 16
MS = 1_000_000


def kept_or_measured(
    request: Request, folder: Path, done: Executions, baselines: Baselines
) -> list[Table]:
    """The tables; kept for the next time."""
    kept, adapter = folder / OVERHEAD, TypeAdapter(list[Table])
    if not kept.exists():
        if done.left:
            done.overhead_left = True
            return []
        rounds = max(LEAST_ROUNDS, min(ROUNDS, round(ROUNDS * 10 * request.scale)))
        measured_by = by_rclcpp if baselines == RCLCPP else on_rcl
        try:
            measured = overhead_tables(
                rounds, max(os.sched_getaffinity(0)), request.say, measured_by
            )
        except Failure as failure:
            done.overhead_failed = failure.what
            return []
        write_bytes(kept, adapter.dump_json(measured))
    return adapter.validate_json(kept.read_bytes())


def by_rclcpp(application: Application, executor: str, cpu: int) -> dict[str, float]:
    """The CPU time between two callbacks of a thread, in µs, by column of the tables."""
    with temporary() as scratch:
        execution = execute(
            flat(application, cpu),
            APPROACHES[executor],
            trace=scratch / "execution" / "overhead.takttrace",
            duration_s=DURATION_MS / 1000,
        )
        found = measure(execution.trace).overhead.cpu_us
    if found is None:
        raise Failure(f"no callback followed another one under {APPROACHES[executor]}")
    return found.model_dump()


def flat(application: Application, cpu: int) -> dict[str, Any]:
    """The application of a table: nodes with a timer each, as the bench on rcl has them.

    The first nodes publish; the last ones subscribe, each to another topic than its own.
    """
    periods = sorted(application.periods_ms, reverse=True)
    publishing = round(application.publishers * application.nodes)
    subscribing = round(application.subscribers * application.nodes) if publishing else 0
    callbacks = []
    for number in range(application.nodes):
        rank = number % len(periods)
        period = periods[rank] * MS
        callback: dict[str, Any] = {
            "name": f"node{number}.work",
            "node": f"node{number}",
            "period": period,
            "priority": SLOWEST_PRIORITY + rank,
            "execution": {"worst": round(UTILIZATION / application.nodes * period)},
        }
        if number < publishing:
            callback["writes"] = [f"topic{number}"]
        if number >= application.nodes - subscribing:
            callback["reads"] = [{"topic": f"topic{(number + 1) % publishing}"}]
        callbacks.append(callback)
    return {
        "version": 1,
        "name": "overhead",
        "policy": "fp",
        "cpus": [cpu],
        "callbacks": callbacks,
        "topics": [{"name": f"topic{one}", "bytes": MESSAGE_BYTES} for one in range(publishing)],
    }
