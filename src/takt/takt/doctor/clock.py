# SPDX-License-Identifier: Apache-2.0
"""Clocks and timers: what reading the time costs and how late a timer may fire."""

from __future__ import annotations

from takt.doctor.check import BY_HAND, UNREADABLE, Check, Judgement, good, note, problem, switch
from takt.machine.boot import boot_option_fix
from takt.machine.system import System

_CLOCKSOURCE = "/sys/devices/system/clocksource/clocksource0"
_FAST = ("tsc", "arch_sys_counter", "riscv_clocksource")
_PARAVIRTUAL = ("kvm-clock", "hyperv_clocksource_tsc_page", "xen")


def _clocksource(system: System) -> Judgement:
    current = system.text(f"{_CLOCKSOURCE}/current_clocksource")
    others = (system.text(f"{_CLOCKSOURCE}/available_clocksource") or "").split()
    if not current:
        return UNREADABLE
    if current in _FAST:
        return good(current)
    if current in _PARAVIRTUAL:
        return note(current)
    fix = BY_HAND if "tsc" in others else boot_option_fix(system, "tsc=reliable")
    return problem(current, fix)


def _timer_slack(system: System) -> Judgement:
    slack = system.number("/proc/self/timerslack_ns")
    if slack is None:
        return UNREADABLE
    value = f"{slack / 1000:g} µs"
    if slack <= 1000:
        return good(value)
    return note(value, "prctl(PR_SET_TIMERSLACK, 1) in the thread that runs the loop")


def _high_resolution(system: System) -> Judgement:
    text = system.text("/proc/timer_list")
    config = system.kernel_config.get("CONFIG_HIGH_RES_TIMERS")
    off = system.boot_option("highres") in ("off", "n", "0")
    fix = (
        "remove highres=off from the kernel command line, or boot a kernel with "
        "CONFIG_HIGH_RES_TIMERS=y"
    )
    if off or "hres_active: 0" in " ".join((text or "").split()).replace(" :", ":"):
        return problem("off", fix)
    if config == "y" or "hres_active" in (text or ""):
        return good("on")
    if config is None and not system.kernel_config:
        return UNREADABLE
    return problem("not in this kernel", fix)


CHECKS = (
    Check(
        "clocksource",
        "Clock source",
        _clocksource,
        "A loop reads the time several times a cycle. With tsc that costs 30 ns; with hpet or "
        "acpi_pm a trip over the bus of microseconds, and all cores queue for it.",
    ),
    Check(
        "high-resolution-timers",
        "High-resolution timers",
        _high_resolution,
        "Without them a sleeping loop wakes at the next scheduler tick: up to 10 ms late.",
    ),
    Check(
        "timer-slack",
        "Timer slack",
        _timer_slack,
        "A thread at normal priority may be woken this much late, so that the kernel can wake "
        "several at once. Threads with SCHED_FIFO are exempt.",
    ),
    Check(
        "timer-migration",
        "Timer migration",
        switch("/proc/sys/kernel/timer_migration"),
        "An idle core hands its timers to a busy one to sleep longer: the core of the loop is "
        "interrupted for others. Isolated cores with nohz_full are exempt.",
    ),
)
