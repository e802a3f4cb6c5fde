# SPDX-License-Identifier: Apache-2.0
"""Settings of the kernel's own rules: its scheduler, timers, watchdogs and clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from takt.machine.place import KernelFile
from takt.machine.preemption import preemption_model
from takt.machine.setting import Listed, Setting, Wish
from takt.machine.system import System

_KERNEL = "/proc/sys/kernel"
_FAIR = "/sys/kernel/debug/sched/fair_server"
_PREEMPT = "/sys/kernel/debug/sched/preempt"
_CLOCKS = "/sys/devices/system/clocksource/clocksource0"


def file(path: str, value: str) -> Callable[[System], Iterator[Wish]]:
    """One file of the kernel, where it has it."""

    def wishes(system: System) -> Iterator[Wish]:
        if system.exists(path):
            yield Wish(KernelFile(path=path), value)

    return wishes


def has_fair_server(system: System) -> bool:
    """Since Linux 6.12 it, and not throttling, keeps time for all but real-time threads."""
    return system.exists(_FAIR) or system.release_number >= (6, 12)


def fair_server_ns(system: System) -> int | None:
    """The most that it takes of a core in each second, in ns; None where debugfs is not there."""
    times = (system.number(f"{_FAIR}/{cpu}/runtime") for cpu in system.names(_FAIR))
    return max((one for one in times if one is not None), default=None)


def _throttling(system: System) -> Iterator[Wish]:
    yield from file(f"{_KERNEL}/sched_rt_runtime_us", "-1")(system)
    for cpu in system.names(_FAIR):
        yield from file(f"{_FAIR}/{cpu}/runtime", "0")(system)


def _watchdogs(system: System) -> Iterator[Wish]:
    for name in ("nmi_watchdog", "soft_watchdog"):
        yield from file(f"{_KERNEL}/{name}", "0")(system)


def _preempt_mode(system: System) -> Iterator[Wish]:
    if preemption_model(system)[0] == "PREEMPT_DYNAMIC" and system.exists(_PREEMPT):
        yield Wish(KernelFile(path=_PREEMPT, form="choice"), "full")


def _clock(system: System) -> Iterator[Wish]:
    """Only where the clock in use is one of those that cost a trip over the bus."""
    current = system.text(f"{_CLOCKS}/current_clocksource")
    offered = (system.text(f"{_CLOCKS}/available_clocksource") or "").split()
    if current in ("hpet", "acpi_pm", "jiffies", "refined-jiffies") and "tsc" in offered:
        yield Wish(KernelFile(path=f"{_CLOCKS}/current_clocksource"), "tsc")


def _by_hand_throttling(system: System) -> str:
    if has_fair_server(system):
        return (
            f"sudo sh -c 'for f in {_FAIR}/cpu*/runtime; do echo 0 > $f; done'"
            "   # only for a loop that keeps a core busy"
        )
    return "sudo sysctl -w kernel.sched_rt_runtime_us=-1   # a runaway loop then hangs"


SETTINGS = (
    Setting(
        id="preemption-mode",
        title="Preemption of this kernel",
        why="In the other modes, system calls of other processes complete before the loop starts.",
        findings=("preemption",),
        wishes=_preempt_mode,
        places=(Listed(KernelFile, f"{_PREEMPT} choice"),),
        by_hand=lambda _: f"echo full | sudo tee {_PREEMPT}   # helps until the next boot",
    ),
    Setting(
        id="rt-throttling",
        title="Real-time throttling",
        why="The kernel stops real-time threads on a fully used core for tens of ms each second.",
        findings=("rt-throttling",),
        wishes=_throttling,
        places=(
            Listed(KernelFile, f"{_KERNEL}/sched_rt_runtime_us"),
            Listed(KernelFile, f"{_FAIR}/cpu[0-9]+/runtime"),
        ),
        by_hand=_by_hand_throttling,
        caution="a loop that never sleeps then hangs its core",
    ),
    Setting(
        id="timer-migration",
        title="Timer migration",
        why="Idle cores move their timers to busy cores, including the loop's.",
        findings=("timer-migration",),
        wishes=file(f"{_KERNEL}/timer_migration", "0"),
        places=(Listed(KernelFile, f"{_KERNEL}/timer_migration"),),
        by_hand=lambda _: "sudo sysctl -w kernel.timer_migration=0",
        caution="idle cores wake more often",
    ),
    Setting(
        id="watchdog",
        title="Kernel watchdogs",
        why="They wake every core every few seconds at the highest priority.",
        findings=("watchdog",),
        wishes=_watchdogs,
        places=(Listed(KernelFile, f"{_KERNEL}/(nmi|soft)_watchdog"),),
        by_hand=lambda _: "sudo sysctl -w kernel.watchdog=0 kernel.nmi_watchdog=0",
        caution="the kernel log no longer reports a hanging core",
    ),
    Setting(
        id="autogroup",
        title="Scheduler autogroup",
        why="Nice values have no effect between nodes of different terminals.",
        findings=("autogroup",),
        wishes=file(f"{_KERNEL}/sched_autogroup_enabled", "0"),
        places=(Listed(KernelFile, f"{_KERNEL}/sched_autogroup_enabled"),),
        by_hand=lambda _: "sudo sysctl -w kernel.sched_autogroup_enabled=0",
    ),
    Setting(
        id="clocksource",
        title="Clock source",
        why="Reading this clock costs microseconds, with tsc 30 ns.",
        findings=("clocksource",),
        wishes=_clock,
        places=(Listed(KernelFile, f"{_CLOCKS}/current_clocksource"),),
        by_hand=lambda _: f"echo tsc | sudo tee {_CLOCKS}/current_clocksource",
        caution="the kernel may have left tsc because it was unstable: see dmesg",
    ),
)
