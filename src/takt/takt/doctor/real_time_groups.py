# SPDX-License-Identifier: Apache-2.0
"""Control groups with RT_GROUP_SCHED: a group without a real-time budget is refused SCHED_FIFO.

Version 1 has a budget of each group in a file. Version 2 has none: a group below the root whose CPU
controller is on has the budget 0, and nothing but the boot option or the global limit changes that.
"""

from __future__ import annotations

import errno

from takt.doctor.check import Check, Judgement, good, note, problem
from takt.doctor.control_group import cpu_controller_path, unified_folders
from takt.machine.surroundings import in_container, in_user_namespace
from takt.machine.system import System
from takt.machine.writable import CAP_SYS_NICE

_GLOBAL = "/proc/sys/kernel/sched_rt_runtime_us"
_OPTION_SINCE = (6, 16)
_BOOT = "boot with rt_group_sched=0 (Linux 6.16 or later), or a kernel without RT_GROUP_SCHED"
_GLOBAL_FIX = "sudo sysctl -w kernel.sched_rt_runtime_us=-1"


def refusal(system: System) -> tuple[str, str] | None:
    """Why this control group is refused SCHED_FIFO, and the fix; None where it is not the cause."""
    group = cpu_controller_path(system)
    budget = system.number(f"{group}/cpu.rt_runtime_us") if group else None
    if budget == 0:
        fix = f"echo 200000 | sudo tee {group}/cpu.rt_runtime_us"
        return "this control group has no real-time budget", fix
    if budget is not None or not _unified_group(system) or _rationed(system) is False:
        return None
    if system.number(_GLOBAL) == -1 or in_user_namespace(system):
        return None
    if system.try_fifo() != errno.EPERM or not _permitted(system):
        return None
    why = "this control group has no real-time budget, and version 2 cannot give it one"
    if _rationed(system) is None:
        why = (
            "SCHED_FIFO is refused despite the permission: by the control group, if this "
            "kernel has RT_GROUP_SCHED (its configuration is not readable)"
        )
    where = "on the host: " if in_container(system) else ""
    caution = "   # until reboot; without throttling a runaway loop hangs its core"
    return why, f"{where}{_GLOBAL_FIX}{caution}\n{where}{_BOOT}"


def _permitted(system: System) -> bool:
    """Whether capabilities or limits of this process allow a real-time priority."""
    limit = system.limit("Max realtime priority")
    return system.capable(CAP_SYS_NICE) or bool(limit and limit[0] > 0)


def _unified_group(system: System) -> str | None:
    """The version 2 group that the CPU controller schedules this process in; None for the root."""
    folders = unified_folders(system)
    return next((one for one in folders if system.exists(f"{one}/cpu.weight")), None)


def _rationed(system: System) -> bool | None:
    """Whether RT_GROUP_SCHED is on; None where the configuration of the kernel is not readable."""
    config = system.kernel_config
    if not config:
        return None
    if config.get("CONFIG_RT_GROUP_SCHED") != "y":
        return False
    option = system.boot_option("rt_group_sched")
    if option is not None and system.release_number >= _OPTION_SINCE:
        return option not in ("0", "n", "off")
    return config.get("CONFIG_RT_GROUP_SCHED_DEFAULT_DISABLED") != "y"


def _judge(system: System) -> Judgement:
    if found := refusal(system):
        return problem(*found)
    group = cpu_controller_path(system)
    budget = system.number(f"{group}/cpu.rt_runtime_us") if group else None
    if budget is not None:
        return note(
            f"this group may use {budget / 1000:g} ms per second; new ones below it nothing",
            "boot with rt_group_sched=0 (Linux 6.16 or later), or give each group a budget",
        )
    if not _rationed(system):
        return good("not in use")
    if not unified_folders(system):
        return good("compiled in, but not in use")
    if system.number(_GLOBAL) == -1:
        return note("no budget for groups; without effect while real-time throttling is off", _BOOT)
    return note("groups with a CPU controller have no real-time budget", _BOOT)


CHECKS = (
    Check(
        "rt-groups",
        "Real-time control groups",
        _judge,
        "A service or container started in a new control group is refused SCHED_FIFO, even as "
        "root: the same node that was on time from a terminal is late from systemd.",
    ),
)
