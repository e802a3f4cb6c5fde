# SPDX-License-Identifier: Apache-2.0
"""What a reader of a result must know of the machine, and nothing that tells whose it is.

No host name, no user name, no path, no address: results are made to be shown around.
"""

from __future__ import annotations

import platform
import re
import subprocess
from collections.abc import Mapping
from os import environ
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from takt import __version__
from takt.doctor.isolation import sibling_threads
from takt.doctor.power import governor_name
from takt.doctor.virtual import hypervisor_name
from takt.machine.memory import memory_bytes
from takt.machine.preemption import preemption_model
from takt.machine.system import System, format_cpu_list

# Boot options that change timing. Everything else on the command line stays private.
_BOOT_OPTIONS = frozenset(
    {
        "amd_pstate",
        "cgroup_disable",
        "clocksource",
        "cpufreq.default_governor",
        "cpuidle.off",
        "cpuidle_haltpoll.force",
        "haltpoll.guest_halt_poll_ns",
        "highres",
        "hpet",
        "idle",
        "intel_idle.max_cstate",
        "intel_pstate",
        "irqaffinity",
        "isolcpus",
        "kthread_cpus",
        "maxcpus",
        "mitigations",
        "nmi_watchdog",
        "nohz",
        "nohz_full",
        "nosmt",
        "nosoftlockup",
        "nowatchdog",
        "nr_cpus",
        "preempt",
        "processor.max_cstate",
        "rcu_nocb_poll",
        "rcu_nocbs",
        "rcupdate.rcu_expedited",
        "rcupdate.rcu_normal_after_boot",
        "rt_group_sched",
        "skew_tick",
        "swapaccount",
        "threadirqs",
        "transparent_hugepage",
        "tsc",
    }
)
_VALUE = re.compile(r"[\w.,:+-]*")  # a value with anything else in it may be a path or an address
_PATH = re.compile(r"'[^']*'|/\S*")

_ROS_PACKAGES = ("rcl", "rclcpp", "rmw_fastrtps_cpp", "rmw_cyclonedds_cpp", "rmw_zenoh_cpp")
# The year's distribution by the major version of rcl (REP 2000).
_DISTRIBUTION_OF_RCL = {3: "galactic", 5: "humble", 6: "iron", 9: "jazzy", 10: "kilted"}


def fingerprint(system: System | None = None) -> dict[str, Any]:
    """Kernel, CPU, settings and versions as plain JSON values; None for what is not known."""
    system = system or System()
    model, mode = preemption_model(system)
    clocksource = system.text("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    ros = ros_versions(environ)
    return {
        "kernel": system.release or None,
        "kernel_version": system.text("/proc/sys/kernel/version"),
        "preemption": model or None,
        "preemption_mode": mode,
        "hz": system.kernel_config.get("CONFIG_HZ"),
        "boot_options": _boot_options(system),
        "architecture": platform.machine(),
        "cpu_model": _cpu_model(system),
        "cpus": len(system.online) or None,
        "smt": bool(sibling_threads(system)),
        "governor": governor_name(system),
        "isolated_cpus": format_cpu_list(system.isolated),
        "clocksource": clocksource,
        "virtualised": hypervisor_name(system) is not None,
        "hypervisor": hypervisor_name(system),
        "memory_bytes": memory_bytes(system, "MemTotal"),
        "distribution": system.distribution.get("PRETTY_NAME"),
        "libc": " ".join(platform.libc_ver()).strip() or None,
        "python": platform.python_version(),
        "takt": __version__,
        **tool_commit(Path(__file__).resolve().parents[4]),
        "ros_distribution": environ.get("ROS_DISTRO") or distribution_of(ros.get("rcl")),
        "ros_packages": ros,
        "rt_tests": _rt_tests_version(),
    }


def _boot_options(system: System) -> list[str]:
    kept = []
    for word in system.command_line:
        name, _, value = word.partition("=")
        if name in _BOOT_OPTIONS:
            kept.append(word if _VALUE.fullmatch(value) else f"{name}=…")
    return kept


def _cpu_model(system: System) -> str | None:
    pairs = system.pairs("/proc/cpuinfo")
    board = system.text("/proc/device-tree/model")
    return pairs.get("model name") or board or pairs.get("Model") or pairs.get("uarch")


def ros_versions(environment: Mapping[str, str]) -> dict[str, str]:
    """Versions of the ROS packages that decide timing, from the first prefix that has each."""
    prefixes = [environment.get(name, "") for name in ("TAKT_PREFIX", "TAKT_ROS_WHEELS")]
    prefixes += environment.get("AMENT_PREFIX_PATH", "").split(":")
    versions: dict[str, str] = {}
    for prefix in filter(None, prefixes):
        for package in _ROS_PACKAGES:
            manifest = Path(prefix) / "share" / package / "package.xml"
            try:
                version = ElementTree.parse(manifest).findtext("version")  # noqa: S314 - own files
            except (OSError, ElementTree.ParseError):
                continue
            if version:
                versions.setdefault(package, version.strip())
    return versions


def distribution_of(rcl: str | None) -> str | None:
    """The distribution of ROS 2 that has this version of rcl; None where that is not known."""
    major = (rcl or "").partition(".")[0]
    return _DISTRIBUTION_OF_RCL.get(int(major)) if major.isdecimal() else None


def tool_commit(root: Path) -> dict[str, str | None]:
    """The commit of the source tree that this runs from, or why git does not tell it.

    Neither where it is installed.
    """
    if not (root / ".git").exists():
        return {"takt_commit": None}
    git = ["git", "-C", str(root)]
    try:
        commit = _printed([*git, "rev-parse", "--short=12", "HEAD"])
        changed = _printed([*git, "status", "--porcelain", "--untracked-files=no"])
    except _UnknownError as error:
        return {"takt_commit": None, "takt_commit_unknown": str(error)}
    return {"takt_commit": commit + ("+changes" if changed else "")}


class _UnknownError(Exception):
    """Why a program does not tell something, without anybody's paths."""


def _printed(git: list[str]) -> str:
    """What git says on standard output; raises _UnknownError."""
    environment = {**environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            git, capture_output=True, text=True, errors="replace", timeout=5, env=environment
        )
    except FileNotFoundError:
        raise _UnknownError("git is not installed") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _UnknownError(f"git does not run: {type(error).__name__}") from None
    if done.returncode:
        first = next(iter(done.stderr.splitlines()), f"exit code {done.returncode}")
        raise _UnknownError(f"git: {_PATH.sub('…', first.removeprefix('fatal: '))}"[:200])
    return done.stdout.strip()


def _rt_tests_version() -> str | None:
    text = _output(["cyclictest", "--help"])
    found = re.search(r"cyclictest V ?([\d.]+)", text or "")
    return found.group(1) if found else None


def _output(command: list[str]) -> str | None:
    """What a program printed on either stream; None where it is absent or hangs."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return (done.stdout + done.stderr).strip()
