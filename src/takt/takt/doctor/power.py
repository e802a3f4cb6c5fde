# SPDX-License-Identifier: Apache-2.0
"""Power saving: a core that slept deeply or clocked down is late before the loop has begun."""

from __future__ import annotations

from collections import Counter

from takt.doctor.check import BY_HAND, Check, Judgement, good, note, problem, unknown, warning
from takt.doctor.virtual import is_virtual
from takt.machine.cores import DEEP_SLEEP_US
from takt.machine.system import System


def _governors(system: System) -> dict[int, str]:
    found = {}
    for cpu in system.online:
        text = system.text(f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor")
        if text:
            found[cpu] = text
    return found


def governor_name(system: System) -> str | None:
    """The governors in use, the most frequent first; None where the kernel does not scale."""
    return ", ".join(name for name, _ in Counter(_governors(system).values()).most_common()) or None


def _absent(system: System, value: str) -> Judgement:
    """What a virtual machine does not decide, and a real one should."""
    return note("decided by the host") if is_virtual(system) else unknown(value)


def _governor(system: System) -> Judgement:
    governors = _governors(system)
    slow = {name for name in governors.values() if name != "performance"}
    if not governors:
        return _absent(system, "no frequency scaling found")
    if not slow:
        return good(f"performance on {len(governors)} CPUs")
    value = ", ".join(f"{n} on {c} CPUs" for n, c in Counter(governors.values()).most_common())
    return (problem if "powersave" in slow else warning)(value, BY_HAND)


def _turbo(system: System) -> Judgement:
    no_turbo = system.number("/sys/devices/system/cpu/intel_pstate/no_turbo")
    boost = system.number("/sys/devices/system/cpu/cpufreq/boost")
    if no_turbo is None and boost is None:
        return _absent(system, "no switch found")
    if no_turbo == 0:
        return note("on", "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo")
    if boost == 1 and no_turbo is None:
        return note("on", "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost")
    return good("off")


def _idle_states(system: System) -> Judgement:
    driver = system.text("/sys/devices/system/cpu/cpuidle/current_driver")
    deepest, name = 0, ""
    for cpu in system.online:
        folder = f"/sys/devices/system/cpu/cpu{cpu}/cpuidle"
        for state in system.names(folder):
            latency = system.number(f"{folder}/{state}/latency")
            disabled = system.number(f"{folder}/{state}/disable")
            if latency is not None and not disabled and latency >= deepest:
                deepest, name = latency, system.text(f"{folder}/{state}/name") or state
    if not name:
        absent = _absent(system, "no idle states found")
        return note(absent.value) if driver == "none" else absent
    value = f"deepest is {name}, {deepest} µs to wake ({driver or 'unknown driver'})"
    return warning(value, BY_HAND) if deepest > DEEP_SLEEP_US else good(value)


def _latency_request(system: System) -> Judgement:
    """/dev/cpu_dma_latency: an open file that forbids deep sleep while a program runs."""
    device = "/dev/cpu_dma_latency"
    if not system.exists(device):
        return note("this kernel has no such device")
    if system.writable(device):
        return good("granted")
    return note(
        "refused",
        'echo \'KERNEL=="cpu_dma_latency", GROUP="realtime", MODE="0660"\' | '
        "sudo tee /etc/udev/rules.d/99-cpu-dma-latency.rules && "
        "sudo groupadd -f realtime && sudo udevadm trigger",
    )


CHECKS = (
    Check(
        "governor",
        "CPU frequency governor",
        _governor,
        "Between two cycles the core looks idle, so the governor slows it down; the next cycle "
        "starts at a third of the speed and ends late.",
    ),
    Check(
        "idle-states",
        "CPU sleep states",
        _idle_states,
        "A core in deep sleep needs this long to wake up, in each single cycle, before the "
        "first line of the loop runs.",
    ),
    Check(
        "cpu-dma-latency",
        "Permission to forbid deep sleep",
        _latency_request,
        "A program that may write to /dev/cpu_dma_latency keeps the cores awake exactly while "
        "it controls the robot, and lets the battery rest afterwards.",
    ),
    Check(
        "turbo",
        "Turbo frequencies",
        _turbo,
        "With turbo, speed depends on temperature and on what the other cores do: the same "
        "computation takes longer once the robot has warmed up. Averages get better, the worst "
        "case gets harder to know.",
    ),
)
