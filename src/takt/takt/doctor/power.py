# SPDX-License-Identifier: Apache-2.0
"""Power saving: a core that slept deeply or clocked down is late before the loop has begun."""

from __future__ import annotations

from collections import Counter

from takt.doctor.finding import Finding, Severity
from takt.doctor.virtual import is_virtual
from takt.machine.cores import DEEP_SLEEP_US
from takt.machine.settings import by_hand
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


def governor(system: System) -> Finding:
    """Judges whether the clock of an idle core goes down."""
    governors = _governors(system)
    slow = {name for name in governors.values() if name != "performance"}
    if not governors:
        virtual = is_virtual(system)
        severity = Severity.note if virtual else Severity.unknown
        value = "decided by the host" if virtual else "no frequency scaling found"
        fix = None
    elif slow:
        severity = Severity.problem if "powersave" in slow else Severity.warning
        value = ", ".join(f"{n} on {c} CPUs" for n, c in Counter(governors.values()).most_common())
        fix = by_hand("governor", system)
    else:
        severity, value, fix = Severity.good, f"performance on {len(governors)} CPUs", None
    return Finding(
        id="governor",
        title="CPU frequency governor",
        severity=severity,
        value=value,
        why="Between two cycles the core looks idle, so the governor slows it down; the next cycle "
        "starts at a third of the speed and ends late.",
        fix=fix,
    )


def turbo(system: System) -> Finding:
    """Looks whether speed depends on temperature."""
    no_turbo = system.number("/sys/devices/system/cpu/intel_pstate/no_turbo")
    boost = system.number("/sys/devices/system/cpu/cpufreq/boost")
    if no_turbo is None and boost is None:
        virtual = is_virtual(system)
        severity = Severity.note if virtual else Severity.unknown
        value, fix = "decided by the host" if virtual else "no switch found", None
    elif no_turbo == 0:
        severity, value = Severity.note, "on"
        fix = "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
    elif boost == 1 and no_turbo is None:
        severity, value = Severity.note, "on"
        fix = "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
    else:
        severity, value, fix = Severity.good, "off", None
    return Finding(
        id="turbo",
        title="Turbo frequencies",
        severity=severity,
        value=value,
        why="With turbo, speed depends on temperature and on what the other cores do: the same "
        "computation takes longer once the robot has warmed up. Averages get better, the worst "
        "case gets harder to know.",
        fix=fix,
    )


def idle_states(system: System) -> Finding:
    """Judges how long the deepest allowed sleep takes to leave."""
    driver = system.text("/sys/devices/system/cpu/cpuidle/current_driver")
    deepest, name = 0, ""
    for cpu in system.online:
        folder = f"/sys/devices/system/cpu/cpu{cpu}/cpuidle"
        for state in system.names(folder):
            latency = system.number(f"{folder}/{state}/latency")
            disabled = system.number(f"{folder}/{state}/disable")
            if latency is not None and not disabled and latency >= deepest:
                deepest, name = latency, system.text(f"{folder}/{state}/name") or state
    fix = None
    if not name:
        virtual = is_virtual(system)
        severity = Severity.note if virtual or driver == "none" else Severity.unknown
        value = "decided by the host" if virtual else "no idle states found"
    elif deepest > DEEP_SLEEP_US:
        severity = Severity.warning
        value = f"deepest is {name}, {deepest} µs to wake ({driver or 'unknown driver'})"
        fix = by_hand("idle-states", system)
    else:
        severity = Severity.good
        value = f"deepest is {name}, {deepest} µs to wake ({driver or 'unknown driver'})"
    return Finding(
        id="idle-states",
        title="CPU sleep states",
        severity=severity,
        value=value,
        why="A core in deep sleep needs this long to wake up, in each single cycle, before the "
        "first line of the loop runs.",
        fix=fix,
    )


def latency_request(system: System) -> Finding:
    """/dev/cpu_dma_latency: an open file that forbids deep sleep while a program runs."""
    device = "/dev/cpu_dma_latency"
    fix = None
    if not system.exists(device):
        severity, value = Severity.note, "this kernel has no such device"
    elif system.writable(device):
        severity, value = Severity.good, "granted"
    else:
        severity, value = Severity.note, "refused"
        fix = (
            'echo \'KERNEL=="cpu_dma_latency", GROUP="realtime", MODE="0660"\' | '
            "sudo tee /etc/udev/rules.d/99-cpu-dma-latency.rules && "
            "sudo groupadd -f realtime && sudo udevadm trigger"
        )
    return Finding(
        id="cpu-dma-latency",
        title="Permission to forbid deep sleep",
        severity=severity,
        value=value,
        why="A program that may write to /dev/cpu_dma_latency keeps the cores awake exactly while "
        "it controls the robot, and lets the battery rest afterwards.",
        fix=fix,
    )


CHECKS = (governor, idle_states, latency_request, turbo)
