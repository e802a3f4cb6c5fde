# SPDX-License-Identifier: Apache-2.0
"""What this user is allowed to do: real-time scheduling and locked memory."""

from __future__ import annotations

import os

from takt.doctor import real_time_groups
from takt.doctor.check import BY_HAND, UNREADABLE, Check, Judgement, good, note, problem, warning
from takt.machine.memory import USUAL_PRIORITY
from takt.machine.surroundings import in_container, in_user_namespace
from takt.machine.system import System
from takt.machine.writable import CAP_SYS_NICE

CAP_IPC_LOCK = 14

# What a ROS 2 process with its middleware keeps resident once mlockall() has touched it all.
LOCKED_BY_A_ROS_PROCESS = 256 * 1024 * 1024

CONTAINER_FIX = "docker run --cap-add=SYS_NICE --ulimit rtprio=98 --ulimit memlock=-1 …"


_ROOTFUL = (
    "run the container as root of the host (sudo docker, sudo podman): capabilities in a user "
    "namespace do not allow SCHED_FIFO"
)


def _limits_fix(system: System) -> str:
    return CONTAINER_FIX if in_container(system) else BY_HAND


def _fifo(system: System) -> Judgement:
    """Really asks for SCHED_FIFO: limits, capabilities and cgroups all have a say."""
    error = system.try_fifo()
    limit = system.limit("Max realtime priority")
    by_limit = int(min(limit[0], 99)) if limit else None
    highest = 99 if system.capable(CAP_SYS_NICE) else by_limit
    if error:
        value = f"refused: {os.strerror(error)}"
        if highest and (group := real_time_groups.refusal(system)):
            return problem(f"{value}, by the control group", group[1])
        if system.capable(CAP_SYS_NICE) and in_user_namespace(system):
            return problem(f"{value}, by the user namespace", _ROOTFUL)
        return problem(value, _limits_fix(system))
    if highest is None:
        return good("granted")
    value = f"granted, up to priority {highest}"
    return warning(value, BY_HAND) if highest < USUAL_PRIORITY else good(value)


def _locked_memory(system: System) -> Judgement:
    limit = system.limit("Max locked memory")
    if system.capable(CAP_IPC_LOCK) or (limit and limit[0] == float("inf")):
        return good("unlimited")
    if limit is None:
        return UNREADABLE
    judged = note if limit[0] >= LOCKED_BY_A_ROS_PROCESS else problem
    return judged(f"at most {limit[0] / 2**20:.3g} MiB", _limits_fix(system))


CHECKS = (
    Check(
        "sched-fifo",
        "Permission for SCHED_FIFO",
        _fifo,
        "Without a real-time priority, the control loop shares the core fairly with the logger "
        "and the browser: it waits its turn, several milliseconds at a time.",
    ),
    Check(
        "locked-memory",
        "Permission to lock memory",
        _locked_memory,
        "Memory that is not locked may have to be fetched in the middle of a cycle: a page "
        "fault costs microseconds, from disk milliseconds. A ROS 2 process needs about 200 MiB.",
    ),
)
