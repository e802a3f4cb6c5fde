# SPDX-License-Identifier: Apache-2.0
"""Settings of the cores: how fast, how deep asleep, and who else may use the loop's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from takt.machine.fast_cores import CPU, best_core
from takt.machine.interrupt import InterruptAffinity, handlers
from takt.machine.place import Controller, KernelFile
from takt.machine.setting import Listed, Setting, Wish
from takt.machine.system import System, format_cpu_list

# Waking from a state deeper than this is visible in a loop's jitter.
DEEP_SLEEP_US = 10
_CGROUPS = "/sys/fs/cgroup"
# What systemd keeps apart from the sessions of users; a loop is started in one of these seldom.
_SERVICES = ("system.slice", "init.scope", "machine.slice")


def loop_cores(system: System) -> list[int]:
    """The isolated cores; without any, the last of the fastest; none where there is only one."""
    if system.isolated:
        return system.isolated
    return [best_core(system, system.online)] if len(system.online) > 1 else []


def other_cores(system: System) -> str:
    """All cores but the loop's, as the kernel writes them; empty where that leaves none."""
    others = set(system.online) - set(loop_cores(system))
    return format_cpu_list(others) if loop_cores(system) else ""


def _governors(system: System) -> Iterator[Wish]:
    for cpu in system.online:
        folder = f"{CPU}/cpu{cpu}/cpufreq"
        offered = system.text(f"{folder}/scaling_available_governors")
        there = system.exists(f"{folder}/scaling_governor")
        if there and (offered is None or "performance" in offered.split()):
            yield Wish(KernelFile(path=f"{folder}/scaling_governor"), "performance")


def _idle_states(system: System) -> Iterator[Wish]:
    for cpu in system.online:
        folder = f"{CPU}/cpu{cpu}/cpuidle"
        for state in system.names(folder):
            if (system.number(f"{folder}/{state}/latency") or 0) > DEEP_SLEEP_US:
                yield Wish(KernelFile(path=f"{folder}/{state}/disable"), "1")


def _interrupts(system: System) -> Iterator[Wish]:
    if not (others := other_cores(system)):
        return
    cpus = set(system.online) - set(loop_cores(system))
    if system.exists("/proc/irq/default_smp_affinity"):
        mask = f"{sum(1 << cpu for cpu in cpus):x}"
        words = [mask[max(0, end - 8) : end] for end in range(len(mask), 0, -8)]
        place = KernelFile(path="/proc/irq/default_smp_affinity", form="mask")
        yield Wish(place, ",".join(reversed(words)))
    for number in sorted(filter(str.isdecimal, system.names("/proc/irq")), key=int):
        path = f"/proc/irq/{number}/smp_affinity_list"
        device = handlers(system, path)
        allowed = system.cpus(path)
        # Those without a handler do not fire; those kept away already may be so on purpose.
        if device and (allowed is None or allowed - cpus):
            yield Wish(InterruptAffinity(path=path, device=device), others)


def _services(system: System) -> tuple[str, list[str]]:
    """The root of the cpusets, and the groups of services that are there and not this process's."""
    own = system.text("/proc/self/cgroup") or ""
    unified = system.exists(f"{_CGROUPS}/cgroup.controllers")
    root = _CGROUPS if unified else f"{_CGROUPS}/cpuset"
    return root, [
        one for one in _SERVICES if system.exists(f"{root}/{one}") and f":/{one}" not in own
    ]


def service_cpus(system: System) -> dict[str, set[int]]:
    """The cores that each group of services may use."""
    root, groups = _services(system)
    return {one: system.cpus(f"{root}/{one}/cpuset.cpus") or set(system.online) for one in groups}


def _cpusets(system: System) -> Iterator[Wish]:
    root, groups = _services(system)
    others = other_cores(system)
    if not others or not groups:
        return
    if root == _CGROUPS:
        offered = (system.text(f"{root}/cgroup.controllers") or "").split()
        if "cpuset" not in offered:
            return
        yield Wish(Controller(group=root, name="cpuset"), "on")
    for group in groups:
        file = f"{root}/{group}/cpuset.cpus"
        if system.exists(file):  # with version 2, once the controller is on
            yield Wish(KernelFile(path=file), others)


def _by_hand_interrupts(system: System) -> str:
    others = other_cores(system) or "0"
    return f"for i in /proc/irq/*/smp_affinity_list; do echo {others} | sudo tee $i; done"


SETTINGS = (
    Setting(
        id="governor",
        title="CPU frequency governor",
        why="A core with a reduced frequency between two cycles is late in the next cycle.",
        findings=("governor",),
        wishes=_governors,
        places=(Listed(KernelFile, f"{CPU}/cpu[0-9]+/cpufreq/scaling_governor"),),
        by_hand=lambda _: f"echo performance | sudo tee {CPU}/cpu*/cpufreq/scaling_governor",
        caution="more heat, less battery",
    ),
    Setting(
        id="idle-states",
        title="CPU sleep states",
        why=f"Waking from a state deeper than {DEEP_SLEEP_US} µs delays each cycle by this time.",
        findings=("idle-states",),
        wishes=_idle_states,
        places=(Listed(KernelFile, f"{CPU}/cpu[0-9]+/cpuidle/state[0-9]+/disable"),),
        by_hand=lambda _: (
            f"sudo cpupower idle-set -D {DEEP_SLEEP_US}   # package linux-cpupower, until reboot"
        ),
        caution="more heat, less battery",
    ),
    Setting(
        id="interrupts",
        title="Interrupt affinity",
        why="An interrupt on the loop's core preempts the loop.",
        findings=("interrupts",),
        wishes=_interrupts,
        places=(
            Listed(KernelFile, "/proc/irq/default_smp_affinity mask"),
            Listed(InterruptAffinity, "/proc/irq/[0-9]+/smp_affinity_list"),
        ),
        by_hand=_by_hand_interrupts,
        caution="stop irqbalance first, otherwise it moves them back",
    ),
    Setting(
        id="cpusets",
        title="Cores of system services",
        why="Services on other cores do not evict the caches of the loop's core.",
        findings=("cpusets",),
        wishes=_cpusets,
        places=(
            Listed(Controller, f"{_CGROUPS} cpuset"),
            Listed(
                KernelFile,
                rf"{_CGROUPS}(/cpuset)?/({'|'.join(map(re.escape, _SERVICES))})/cpuset[.]cpus",
            ),
        ),
        by_hand=lambda system: (
            "sudo systemctl set-property --runtime system.slice "
            f"AllowedCPUs={other_cores(system) or '0'}"
        ),
        caution="a loop in a service or container below these groups cannot use that core",
    ),
)
