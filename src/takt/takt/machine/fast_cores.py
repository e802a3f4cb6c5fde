# SPDX-License-Identifier: Apache-2.0
"""Which cores are fast, where they differ: big.LITTLE, performance and efficiency cores.

Read from the kernel: the kind of an x86 core from the PMU that counts its events, the speed from
``cpu_capacity``, else from ``cpuinfo_max_freq``. Where one of the cores has neither, all count as
equal.
"""

from __future__ import annotations

from collections.abc import Collection

from takt.machine.system import System

CPU = "/sys/devices/system/cpu"
# Folders of the PMUs of hybrid x86 processors, the slowest kind first.
_KINDS = ("/sys/devices/cpu_lowpower", "/sys/devices/cpu_atom", "/sys/devices/cpu_core")
# Cores of one kind differ by a few steps of their turbo frequency, kinds by a fifth and more.
_SAME_SHARE = 0.9


def fast_cores(system: System, cpus: Collection[int]) -> list[int]:
    """The fastest kind of core among these CPUs, ascending."""
    kinds = {cpu: _kind(system, cpu) for cpu in cpus}
    best = [cpu for cpu in sorted(cpus) if kinds[cpu] == max(kinds.values())]
    speeds = _speeds(system, best)
    if speeds is None:
        return best
    return [cpu for cpu in best if speeds[cpu] >= _SAME_SHARE * max(speeds.values())]


def best_core(system: System, cpus: Collection[int]) -> int:
    """The core for a loop: the last fast one, but not the first CPU, which has the kernel's work.

    Raises ValueError without CPUs.
    """
    others = set(cpus) - set(system.online[:1] or [0])
    return fast_cores(system, others or cpus)[-1]


def _kind(system: System, cpu: int) -> int:
    """The place in :data:`_KINDS`; of a processor with one kind of core the last."""
    for place, folder in enumerate(_KINDS[:-1]):
        if cpu in (system.cpus(f"{folder}/cpus") or ()):
            return place
    return len(_KINDS) - 1


def _speeds(system: System, cpus: Collection[int]) -> dict[int, int] | None:
    for file in ("cpu_capacity", "cpufreq/cpuinfo_max_freq"):
        found = {cpu: system.number(f"{CPU}/cpu{cpu}/{file}") for cpu in cpus}
        known = {cpu: speed for cpu, speed in found.items() if speed}
        if known and len(known) == len(found):
            return known
    return None
