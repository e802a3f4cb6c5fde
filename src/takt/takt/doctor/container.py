# SPDX-License-Identifier: Apache-2.0
"""Control groups and containers: time that is rationed, real-time that is refused."""

from __future__ import annotations

from takt.doctor.check import UNREADABLE, Check, Judgement, good, note, problem
from takt.machine.system import System, format_cpu_list, parse_cpu_list


def cpu_controller_path(system: System) -> str | None:
    """The folder of this process's version 1 CPU control group, if there is one."""
    for line in (system.text("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if "cpu" in controllers.split(","):
            for mount in ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"):
                for folder in (mount + path.rstrip("/"), mount):  # in a container, only the mount
                    if system.exists(f"{folder}/cpu.shares"):
                        return folder
    return None


def _unified_folders(system: System) -> list[str]:
    """This process's version 2 control group and its parents, innermost first."""
    for line in (system.text("/proc/self/cgroup") or "").splitlines():
        if line.startswith("0::"):
            parts = [part for part in line[3:].split("/") if part and part != ".."]
            paths = ["/".join(parts[:n]) for n in range(len(parts), -1, -1)]
            return [f"/sys/fs/cgroup/{path}".rstrip("/") for path in paths]
    return []


def _quota(system: System) -> tuple[float, float, str] | None:
    """CPU time in ms per period in ms and the file that says so; None where not limited."""
    for folder in _unified_folders(system):
        words = (system.text(f"{folder}/cpu.max") or "").split()
        if len(words) == 2 and words[0].isdecimal() and words[1].isdecimal():
            return int(words[0]) / 1000, int(words[1]) / 1000, f"{folder}/cpu.max"
    if group := cpu_controller_path(system):
        quota = system.number(f"{group}/cpu.cfs_quota_us")
        period = system.number(f"{group}/cpu.cfs_period_us")
        if quota and quota > 0 and period:
            return quota / 1000, period / 1000, f"{group}/cpu.cfs_quota_us"
    return None


def _limited(system: System) -> Judgement:
    """A quota of this control group or of any above it."""
    if found := _quota(system):
        unlimited = "max" if found[2].endswith("max") else "-1"
        return problem(
            f"{found[0]:g} ms of CPU in every {found[1]:g} ms",
            f"start the container without --cpus, or: echo {unlimited} | sudo tee {found[2]}",
        )
    return UNREADABLE if system.text("/proc/self/cgroup") is None else good("none")


def _realtime_groups(system: System) -> Judgement:
    """With RT_GROUP_SCHED a new control group has no real-time budget."""
    group = cpu_controller_path(system)
    budget = system.number(f"{group}/cpu.rt_runtime_us") if group else None
    if budget is None:
        compiled = system.kernel_config.get("CONFIG_RT_GROUP_SCHED") == "y"
        return good("compiled in, but not in use" if compiled else "not in use")
    if budget == 0:
        fix = f"echo 200000 | sudo tee {group}/cpu.rt_runtime_us"
        return problem("this control group has no real-time budget", fix)
    return note(
        f"this group may use {budget / 1000:g} ms per second; new ones below it nothing",
        "boot with rt_group_sched=0 (Linux 6.16 or newer), or give each group a budget",
    )


def _allowed_cpus(system: System) -> Judgement:
    status = system.pairs("/proc/self/status")
    allowed = parse_cpu_list(status.get("Cpus_allowed_list"))
    if not allowed or not system.online:
        return UNREADABLE
    if set(system.online) - set(allowed) - set(system.isolated):
        return note(
            f"{format_cpu_list(allowed)} of {format_cpu_list(system.online)}",
            "start the container without --cpuset-cpus, or the service without AllowedCPUs=",
        )
    return good(f"all that are not isolated ({format_cpu_list(allowed)})")


CHECKS = (
    Check(
        "cpu-quota",
        "CPU quota of the control group",
        _limited,
        "When the quota is used up, ordinary threads of all nodes in the group stand still "
        "until the next period begins: tens of milliseconds, in the middle of a cycle.",
    ),
    Check(
        "rt-groups",
        "Real-time control groups",
        _realtime_groups,
        "A service or container started in a new control group is refused SCHED_FIFO, even as "
        "root: the same node that was on time from a terminal is late from systemd.",
    ),
    Check(
        "allowed-cpus",
        "CPUs that this process may use",
        _allowed_cpus,
        "A cpuset keeps the robot's nodes on these cores. That is good when it was meant, and "
        "a crowd on one core when it was not.",
    ),
)
