# SPDX-License-Identifier: Apache-2.0
"""Control groups and containers: time that is rationed, real-time that is refused."""

from __future__ import annotations

from takt.doctor.finding import Finding, Severity
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


def quota(system: System) -> Finding:
    """Looks for a CPU quota on the control group or any above it."""
    found = _quota(system)
    readable = system.text("/proc/self/cgroup") is not None
    value, fix = "none" if readable else "could not be read", None
    if found:
        value = f"{found[0]:g} ms of CPU in every {found[1]:g} ms"
        unlimited = "max" if found[2].endswith("max") else "-1"
        fix = f"start the container without --cpus, or: echo {unlimited} | sudo tee {found[2]}"
    return Finding(
        id="cpu-quota",
        title="CPU quota of the control group",
        severity=Severity.problem if found else Severity.good if readable else Severity.unknown,
        value=value,
        why="When the quota is used up, ordinary threads of all nodes in the group stand still "
        "until the next period begins: tens of milliseconds, in the middle of a cycle.",
        fix=fix,
    )


def realtime_groups(system: System) -> Finding:
    """With RT_GROUP_SCHED a new control group has no real-time budget: SCHED_FIFO is refused."""
    group = cpu_controller_path(system)
    budget = system.number(f"{group}/cpu.rt_runtime_us") if group else None
    if budget is None:
        compiled = system.kernel_config.get("CONFIG_RT_GROUP_SCHED") == "y"
        severity, fix = Severity.good, None
        value = "compiled in, but not in use" if compiled else "not in use"
    elif budget == 0:
        severity, value = Severity.problem, "this control group has no real-time budget"
        fix = f"echo 200000 | sudo tee {group}/cpu.rt_runtime_us"
    else:
        severity = Severity.note
        value = f"this group may use {budget / 1000:g} ms per second; new ones below it nothing"
        fix = "boot with rt_group_sched=0 (Linux 6.16 or newer), or give each group a budget"
    return Finding(
        id="rt-groups",
        title="Real-time control groups",
        severity=severity,
        value=value,
        why="A service or container started in a new control group is refused SCHED_FIFO, even as "
        "root: the same node that was on time from a terminal is late from systemd.",
        fix=fix,
    )


def allowed_cpus(system: System) -> Finding:
    """Compares the CPUs of this process with those of the machine."""
    status = system.pairs("/proc/self/status")
    allowed = parse_cpu_list(status.get("Cpus_allowed_list"))
    missing = sorted(set(system.online) - set(allowed) - set(system.isolated))
    if not allowed or not system.online:
        severity, value = Severity.unknown, "could not be read"
    elif missing:
        severity = Severity.note
        value = f"{format_cpu_list(allowed)} of {format_cpu_list(system.online)}"
    else:
        severity, value = Severity.good, f"all that are not isolated ({format_cpu_list(allowed)})"
    return Finding(
        id="allowed-cpus",
        title="CPUs that this process may use",
        severity=severity,
        value=value,
        why="A cpuset keeps the robot's nodes on these cores. That is good when it was meant, and "
        "a crowd on one core when it was not.",
        fix="start the container without --cpuset-cpus, or the service without AllowedCPUs="
        if severity is Severity.note
        else None,
    )


CHECKS = (quota, realtime_groups, allowed_cpus)
