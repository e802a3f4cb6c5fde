# SPDX-License-Identifier: Apache-2.0
"""The kernel's own rules: may it be preempted, may it stop real-time threads, who disturbs."""

from __future__ import annotations

from takt.doctor.finding import Finding, Severity
from takt.machine.kernel import fair_server_ns, has_fair_server
from takt.machine.preemption import preemption_model
from takt.machine.settings import by_hand
from takt.machine.system import System

_FAIR_SERVER_NS = 50_000_000  # the default of Linux


def _realtime_kernel_fix(system: System) -> str:
    distribution = system.distribution.get("ID", "")
    if distribution in {"debian", "raspbian"}:
        return "sudo apt install linux-image-rt-$(dpkg --print-architecture)   # then reboot"
    if distribution == "ubuntu":
        return "sudo pro attach && sudo pro enable realtime-kernel   # then reboot"
    if distribution in ("fedora", "rhel", "centos", "rocky", "almalinux"):
        return "sudo dnf install kernel-rt   # then reboot; RHEL: from the Real Time repository"
    return "boot a kernel built with CONFIG_PREEMPT_RT=y (in mainline Linux since 6.12)"


def preemption(system: System) -> Finding:
    """Judges how much of the kernel can be interrupted."""
    model, mode = preemption_model(system)
    value = f"{model}, mode {mode or 'not readable'}" if model == "PREEMPT_DYNAMIC" else model
    fix: str | None = _realtime_kernel_fix(system)
    if model == "PREEMPT_RT":
        severity, fix = Severity.good, None
        why = (
            "The kernel can be interrupted almost everywhere, so a control loop is late by tens of "
            "µs at worst, also when disk and network are busy."
        )
    elif not model:
        severity, fix = Severity.unknown, "uname -v   # should name PREEMPT_RT"
        why = (
            "Without knowing how the kernel may be interrupted, nobody can say how late a control "
            "loop may get."
        )
    elif model == "NONE" or mode in ("none", "voluntary"):
        severity = Severity.problem
        fix = f"{fix}\n{by_hand('preemption-mode', system)}" if mode else fix
        why = (
            "A system call of any other program runs to its end before the control loop gets the "
            "core: one long call, and the arm moves several cycles on its old set point."
        )
    else:
        severity = Severity.warning
        why = (
            "System calls can be interrupted, but locks and interrupt handlers cannot: the loop "
            "runs well while the robot idles and misses cycles by milliseconds when disk or "
            "network get busy."
        )
    return Finding(
        id="preemption",
        title="Kernel preemption",
        severity=severity,
        value=value or "could not be read",
        why=why,
        fix=fix,
    )


def throttling(system: System) -> Finding:
    """The net below runaway real-time threads: RT throttling, since Linux 6.12 the fair server."""
    runtime = system.number("/proc/sys/kernel/sched_rt_runtime_us")
    period = system.number("/proc/sys/kernel/sched_rt_period_us")
    server = fair_server_ns(system)
    fix: str | None = by_hand("rt-throttling", system)
    if runtime is None or period is None:
        severity, value, fix = Severity.unknown, "could not be read", None
    elif runtime == 0:
        severity, value = Severity.problem, "real-time threads get no time at all"
        fix = "sudo sysctl -w kernel.sched_rt_runtime_us=950000"
    elif server == 0 or (runtime < 0 and not has_fair_server(system)):
        severity, value, fix = Severity.good, "off", None
    elif has_fair_server(system):
        severity = Severity.note
        taken = _FAIR_SERVER_NS if server is None else server
        value = f"fair server, about {taken / 1e6:g} ms per second"
    else:
        severity = Severity.note if runtime >= 0.9 * period else Severity.warning
        value = f"{runtime / 1000:g} ms of every {period / 1000:g} ms"
    return Finding(
        id="rt-throttling",
        title="Real-time throttling",
        severity=severity,
        value=value,
        why="When real-time threads fill a core, the kernel stops them to let the rest run. A loop "
        "that sleeps between its cycles never meets this; one that polls stands still for tens of "
        "milliseconds every second.",
        fix=fix,
    )


def autogroup(system: System) -> Finding:
    """Looks whether nice values count across terminals."""
    value = system.number("/proc/sys/kernel/sched_autogroup_enabled")
    return Finding(
        id="autogroup",
        title="Scheduler autogroup",
        severity=Severity.unknown if value is None else Severity.note if value else Severity.good,
        value={None: "could not be read", 0: "off"}.get(value, "on"),
        why="Autogrouping divides the time by terminal session, so nice values of ordinary ROS "
        "nodes started in different terminals do not work against each other. Threads with "
        "SCHED_FIFO are not touched.",
        fix=by_hand("autogroup", system) if value else None,
    )


def watchdog(system: System) -> Finding:
    """Looks for the lockup detectors."""
    hard = system.number("/proc/sys/kernel/nmi_watchdog")
    soft = system.number("/proc/sys/kernel/soft_watchdog")
    names = [name for name, on in (("NMI", hard), ("soft lockup", soft)) if on]
    unknown = hard is None and soft is None
    return Finding(
        id="watchdog",
        title="Kernel watchdogs",
        severity=Severity.unknown if unknown else Severity.note if names else Severity.good,
        value="could not be read" if unknown else " and ".join(names) or "off",
        why="The lockup watchdogs wake every core every few seconds at the highest priority: a few "
        "µs of jitter, seen only by loops that count single microseconds.",
        fix=by_hand("watchdog", system) if names else None,
    )


CHECKS = (preemption, throttling, watchdog, autogroup)
