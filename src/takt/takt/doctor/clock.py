# SPDX-License-Identifier: Apache-2.0
"""Clocks and timers: what reading the time costs and how late a timer may fire."""

from __future__ import annotations

from takt.doctor.finding import Finding, Severity
from takt.machine.boot import boot_option_fix
from takt.machine.settings import by_hand
from takt.machine.system import System

_CLOCKSOURCE = "/sys/devices/system/clocksource/clocksource0"
_FAST = ("tsc", "arch_sys_counter", "riscv_clocksource")
_PARAVIRTUAL = ("kvm-clock", "hyperv_clocksource_tsc_page", "xen")


def clocksource(system: System) -> Finding:
    """Judges what reading the time costs."""
    current = system.text(f"{_CLOCKSOURCE}/current_clocksource")
    others = (system.text(f"{_CLOCKSOURCE}/available_clocksource") or "").split()
    fix = None
    if not current:
        severity = Severity.unknown
    elif current in _FAST:
        severity = Severity.good
    elif current in _PARAVIRTUAL:
        severity = Severity.note
    else:
        severity = Severity.problem
        fix = boot_option_fix(system, "tsc=reliable")
    if fix and "tsc" in others:
        fix = by_hand("clocksource", system)
    return Finding(
        id="clocksource",
        title="Clock source",
        severity=severity,
        value=current or "could not be read",
        why="A loop reads the time several times a cycle. With tsc that costs 30 ns; with hpet or "
        "acpi_pm a trip over the bus of microseconds, and all cores queue for it.",
        fix=fix,
    )


def timer_slack(system: System) -> Finding:
    """Judges how much later than asked a normal thread may be woken."""
    slack = system.number("/proc/self/timerslack_ns")
    return Finding(
        id="timer-slack",
        title="Timer slack",
        severity=Severity.unknown
        if slack is None
        else Severity.note
        if slack > 1000
        else Severity.good,
        value="could not be read" if slack is None else f"{slack / 1000:g} µs",
        why="A thread at normal priority may be woken this much late, so that the kernel can wake "
        "several at once. Threads with SCHED_FIFO are exempt.",
        fix="prctl(PR_SET_TIMERSLACK, 1) in the thread that runs the loop"
        if slack and slack > 1000
        else None,
    )


def high_resolution(system: System) -> Finding:
    """With low-resolution timers every sleep ends at a scheduler tick."""
    text = system.text("/proc/timer_list")
    config = system.kernel_config.get("CONFIG_HIGH_RES_TIMERS")
    off = system.boot_option("highres") in ("off", "n", "0")
    if off or "hres_active: 0" in " ".join((text or "").split()).replace(" :", ":"):
        severity, value = Severity.problem, "off"
    elif config == "y" or "hres_active" in (text or ""):
        severity, value = Severity.good, "on"
    elif config is None and not system.kernel_config:
        severity, value = Severity.unknown, "could not be read"
    else:
        severity, value = Severity.problem, "not in this kernel"
    return Finding(
        id="high-resolution-timers",
        title="High-resolution timers",
        severity=severity,
        value=value,
        why="Without them a sleeping loop wakes at the next scheduler tick: up to 10 ms late.",
        fix="remove highres=off from the kernel command line, or boot a kernel with "
        "CONFIG_HIGH_RES_TIMERS=y"
        if severity is Severity.problem
        else None,
    )


def timer_migration(system: System) -> Finding:
    """Looks whether timers of idle cores go to busy ones."""
    value = system.number("/proc/sys/kernel/timer_migration")
    return Finding(
        id="timer-migration",
        title="Timer migration",
        severity=Severity.unknown if value is None else Severity.note if value else Severity.good,
        value={None: "could not be read", 0: "off"}.get(value, "on"),
        why="An idle core hands its timers to a busy one to sleep longer: the core of the loop is "
        "interrupted for others. Isolated cores with nohz_full are exempt.",
        fix=by_hand("timer-migration", system) if value else None,
    )


CHECKS = (clocksource, high_resolution, timer_slack, timer_migration)
