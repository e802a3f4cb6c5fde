# SPDX-License-Identifier: Apache-2.0
"""Control groups and containers: time and cores that are rationed."""

from __future__ import annotations

from takt.doctor.check import UNREADABLE, Check, Judgement, good, note, problem
from takt.doctor.control_group import cpu_controller_path, unified_folders
from takt.machine.system import System, format_cpu_list, parse_cpu_list


def _quota(system: System) -> tuple[float, float, str] | None:
    """CPU time in ms per period in ms and the file that says so; None where not limited."""
    for folder in unified_folders(system):
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
        "allowed-cpus",
        "CPUs that this process may use",
        _allowed_cpus,
        "A cpuset keeps the robot's nodes on these cores. That is good when it was meant, and "
        "a crowd on one core when it was not.",
    ),
)
