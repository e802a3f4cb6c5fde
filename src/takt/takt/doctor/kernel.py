# SPDX-License-Identifier: Apache-2.0
"""The kernel's own rules: may it be preempted, may it stop real-time threads, who disturbs."""

from __future__ import annotations

from takt.doctor import real_time_kernel
from takt.doctor.check import (
    BY_HAND,
    UNREADABLE,
    Check,
    Judgement,
    good,
    note,
    problem,
    switch,
    unknown,
    warning,
)
from takt.machine.kernel import fair_server_ns, has_fair_server
from takt.machine.preemption import preemption_model
from takt.machine.settings import by_hand
from takt.machine.system import System

_FAIR_SERVER_NS = 50_000_000  # the default of Linux


def _preemption(system: System) -> Judgement:
    model, mode = preemption_model(system)
    value = f"{model}, mode {mode or 'not readable'}" if model == "PREEMPT_DYNAMIC" else model
    if model == "PREEMPT_RT":
        return good(
            value,
            why="The kernel can be interrupted almost everywhere, so a control loop is late by "
            "tens of µs at worst, also when disk and network are busy.",
        )
    if not model:
        return unknown(
            UNREADABLE.value,
            "uname -v   # should name PREEMPT_RT",
            "Without the preemption model of the kernel, nothing bounds the lateness of a loop.",
        )
    fix = real_time_kernel.fix(system)
    if model == "NONE" or mode in ("none", "voluntary"):
        fix = f"{fix}\n{by_hand('preemption-mode', system)}" if mode else fix
        return problem(value, fix)
    return warning(
        value,
        fix,
        "System calls can be interrupted, but locks and interrupt handlers cannot: the loop runs "
        "well while the robot idles and misses cycles by milliseconds when disk or network get "
        "busy.",
    )


def _throttling(system: System) -> Judgement:
    """RT throttling; since Linux 6.12 the fair server keeps time for others."""
    runtime = system.number("/proc/sys/kernel/sched_rt_runtime_us")
    period = system.number("/proc/sys/kernel/sched_rt_period_us")
    server = fair_server_ns(system)
    if runtime is None or period is None:
        return UNREADABLE
    if runtime == 0:
        fix = "sudo sysctl -w kernel.sched_rt_runtime_us=950000"
        return problem("real-time threads get no time at all", fix)
    if server == 0 or (runtime < 0 and not has_fair_server(system)):
        return good("off")
    if has_fair_server(system):
        taken = _FAIR_SERVER_NS if server is None else server
        return note(f"fair server, about {taken / 1e6:g} ms per second", BY_HAND)
    judged = note if runtime >= 0.9 * period else warning
    return judged(f"{runtime / 1000:g} ms of every {period / 1000:g} ms", BY_HAND)


def _watchdogs(system: System) -> Judgement:
    hard = system.number("/proc/sys/kernel/nmi_watchdog")
    soft = system.number("/proc/sys/kernel/soft_watchdog")
    if hard is None and soft is None:
        return UNREADABLE
    names = [name for name, on in (("NMI", hard), ("soft lockup", soft)) if on]
    return note(" and ".join(names), BY_HAND) if names else good("off")


CHECKS = (
    Check(
        "preemption",
        "Kernel preemption",
        _preemption,
        "A system call of any other program runs to its end before the control loop gets the "
        "core: one long call, and the arm moves several cycles on its old set point.",
    ),
    Check(
        "rt-throttling",
        "Real-time throttling",
        _throttling,
        "When real-time threads fill a core, the kernel stops them to let the rest run. A loop "
        "that sleeps between its cycles never meets this; one that polls stands still for tens of "
        "milliseconds every second.",
    ),
    Check(
        "watchdog",
        "Kernel watchdogs",
        _watchdogs,
        "The lockup watchdogs wake every core every few seconds at the highest priority: a few "
        "µs of jitter, which matters only to loops that count single microseconds.",
    ),
    Check(
        "autogroup",
        "Scheduler autogroup",
        switch("/proc/sys/kernel/sched_autogroup_enabled"),
        "Autogrouping divides the time by terminal session, so nice values of ordinary ROS "
        "nodes started in different terminals do not work against each other. Threads with "
        "SCHED_FIFO are not touched.",
    ),
)
