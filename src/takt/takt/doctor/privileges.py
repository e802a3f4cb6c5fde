# SPDX-License-Identifier: Apache-2.0
"""What this user is allowed to do: real-time scheduling and locked memory."""

from __future__ import annotations

import os

from takt.doctor.container import cpu_controller_path
from takt.doctor.finding import Finding, Severity
from takt.machine.memory import USUAL_PRIORITY
from takt.machine.settings import by_hand
from takt.machine.system import System
from takt.machine.writable import CAP_SYS_NICE

CAP_IPC_LOCK = 14

# What a ROS 2 process with its middleware keeps resident once mlockall() has touched it all.
LOCKED_BY_A_ROS_PROCESS = 256 * 1024 * 1024

CONTAINER_FIX = "docker run --cap-add=SYS_NICE --ulimit rtprio=98 --ulimit memlock=-1 …"


def fifo(system: System) -> Finding:
    """Really asks for SCHED_FIFO: limits, capabilities and cgroups all have a say."""
    error = system.try_fifo()
    limit = system.limit("Max realtime priority")
    by_limit = int(min(limit[0], 99)) if limit else None
    highest = 99 if system.capable(CAP_SYS_NICE) else by_limit
    severity, value, fix = Severity.good, "granted", None
    if error:
        severity = Severity.problem
        value = f"refused: {os.strerror(error)}"
        group = cpu_controller_path(system)
        if highest and group and system.number(f"{group}/cpu.rt_runtime_us") == 0:
            value += ", by the control group"
            fix = f"echo 200000 | sudo tee {group}/cpu.rt_runtime_us"
        else:
            fix = CONTAINER_FIX if system.exists("/.dockerenv") else by_hand("limits", system)
    elif highest is not None:
        value = f"granted, up to priority {highest}"
        if highest < USUAL_PRIORITY:
            severity, fix = Severity.warning, by_hand("limits", system)
    return Finding(
        id="sched-fifo",
        title="Permission for SCHED_FIFO",
        severity=severity,
        value=value,
        why="Without a real-time priority, the control loop shares the core fairly with the logger "
        "and the browser: it waits its turn, several milliseconds at a time.",
        fix=fix,
    )


def locked_memory(system: System) -> Finding:
    """Judges whether a ROS 2 process may lock all of its memory."""
    limit = system.limit("Max locked memory")
    capable = system.capable(CAP_IPC_LOCK)
    fix = None
    if capable or (limit and limit[0] == float("inf")):
        severity, value = Severity.good, "unlimited"
    elif limit is None:
        severity, value = Severity.unknown, "could not be read"
    else:
        severity, value = Severity.problem, f"at most {limit[0] / 2**20:.3g} MiB"
        if limit[0] >= LOCKED_BY_A_ROS_PROCESS:
            severity = Severity.note
        fix = CONTAINER_FIX if system.exists("/.dockerenv") else by_hand("limits", system)
    return Finding(
        id="locked-memory",
        title="Permission to lock memory",
        severity=severity,
        value=value,
        why="Memory that is not locked may have to be fetched in the middle of a cycle: a page "
        "fault costs microseconds, from disk milliseconds. A ROS 2 process needs about 200 MiB.",
        fix=fix,
    )


CHECKS = (fifo, locked_memory)
