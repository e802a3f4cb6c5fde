# SPDX-License-Identifier: Apache-2.0
"""Who else runs on the cores of the control loop: other tasks, the tick, interrupts, a sibling."""

from __future__ import annotations

from takt.doctor.finding import Finding, Severity
from takt.machine.boot import boot_option_fix
from takt.machine.cores import loop_cores, service_cpus
from takt.machine.interrupt import handlers
from takt.machine.settings import by_hand
from takt.machine.system import System, format_cpu_list, parse_cpu_list


def example_core(system: System) -> int:
    """The core that fixes name when there is none isolated yet: the last one."""
    return (loop_cores(system) or [1])[-1]


def isolation(system: System) -> Finding:
    """Looks for cores that the scheduler leaves to those who ask for them."""
    isolated = system.isolated
    core = example_core(system)
    if not system.exists("/sys/devices/system/cpu/isolated"):
        severity, value = Severity.unknown, "could not be read"
    elif isolated:
        severity, value = Severity.good, f"CPUs {format_cpu_list(isolated)} are isolated"
    elif len(system.online) < 2:
        severity, value = Severity.note, "there is only one CPU"
    else:
        severity, value = Severity.warning, "no CPU is isolated"
    return Finding(
        id="isolation",
        title="Isolated cores",
        severity=severity,
        value=value,
        why="On a shared core the loop finds cold caches and kernel work that others left behind. "
        "On a core of its own it finds everything as it left it.",
        fix=boot_option_fix(system, f"isolcpus=domain,managed_irq,{core}")
        if severity is Severity.warning
        else None,
    )


def tick(system: System) -> Finding:
    """nohz_full and rcu_nocbs matter where a core is isolated; elsewhere they are advice."""
    quiet = set(parse_cpu_list(system.text("/sys/devices/system/cpu/nohz_full")))
    offloaded = set(parse_cpu_list(system.boot_option("rcu_nocbs"))) | quiet
    isolated = set(system.isolated)
    fix = None
    compiled = system.kernel_config.get("CONFIG_NO_HZ_FULL")
    if not isolated:
        severity, value = Severity.note, "no isolated core to keep it from"
    elif not isolated - quiet and not isolated - offloaded:
        severity, value = Severity.good, f"off on CPUs {format_cpu_list(isolated)} while one runs"
    else:
        severity, value = Severity.note, "the tick and RCU work run on the isolated cores too"
        cpus = format_cpu_list(isolated)
        fix = boot_option_fix(system, f"nohz_full={cpus} rcu_nocbs={cpus}")
    if system.kernel_config and compiled != "y" and fix:
        value += "; this kernel was built without NO_HZ_FULL"
        fix = boot_option_fix(system, f"rcu_nocbs={format_cpu_list(isolated)}")
    return Finding(
        id="tick",
        title="Scheduler tick and RCU callbacks",
        severity=severity,
        value=value,
        why="The tick interrupts a running loop 100 to 1000 times a second for a few µs, and RCU "
        "frees other programs' memory on its core.",
        fix=fix,
    )


def interrupts(system: System) -> Finding:
    """Interrupts that may fire on the isolated cores, or on every core where none is isolated."""
    isolated, online = set(system.isolated), set(system.online)
    read, touching = 0, []
    for number in system.names("/proc/irq"):
        path = f"/proc/irq/{number}/smp_affinity_list"
        allowed = system.text(path)
        if not number.isdecimal() or allowed is None or not handlers(system, path):
            continue  # nobody's interrupt does not fire
        read += 1
        effective = system.text(f"/proc/irq/{number}/effective_affinity_list")
        cpus = set(parse_cpu_list(effective if isolated and effective else allowed))
        if (cpus & isolated) if isolated else cpus >= online:
            touching.append(number)
    fix = by_hand("interrupts", system)
    if not read:
        severity, value, fix = Severity.unknown, "could not be read", ""
    elif len(online) < 2:
        severity, value, fix = Severity.note, "all fire on the only CPU", ""
    elif not touching:
        severity, value, fix = Severity.good, "kept away from cores of the loop", ""
        if not isolated:
            severity, value = Severity.note, "spread by hand over single cores"
    elif isolated:
        severity = Severity.warning
        value = f"{len(touching)} of {read} fire on isolated cores ({', '.join(touching[:6])})"
    else:
        severity = Severity.note
        value = f"{len(touching)} of {read} may fire on any core"
    return Finding(
        id="interrupts",
        title="Interrupt affinity",
        severity=severity,
        value=value,
        why="Each interrupt of disk, network or camera stops the loop on whose core it fires, for "
        "microseconds to a tenth of a millisecond.",
        fix=fix or None,
    )


def irqbalance(system: System) -> Finding:
    """Looks for the daemon that moves interrupts between cores."""
    running = any(
        (system.text(path) or "") == "irqbalance" for path in system.glob("/proc/[0-9]*/comm")
    )
    seen = bool(system.names("/proc"))
    return Finding(
        id="irqbalance",
        title="irqbalance",
        severity=Severity.unknown if not seen else Severity.warning if running else Severity.good,
        value="could not be read" if not seen else "running" if running else "not running",
        why="irqbalance moves interrupts between the cores while the robot works, also onto the "
        "core of the control loop.",
        fix="sudo systemctl disable --now irqbalance" if running else None,
    )


def siblings(system: System) -> Finding:
    """Two hardware threads of one core: the neighbour slows the loop and nobody sees it."""
    pairs = set()
    for cpu in system.online:
        folder = f"/sys/devices/system/cpu/cpu{cpu}/topology"
        together = parse_cpu_list(
            system.text(f"{folder}/thread_siblings_list") or system.text(f"{folder}/core_cpus_list")
        )
        if len(set(together) & set(system.online)) > 1:
            pairs.add(format_cpu_list(together))
    control = system.text("/sys/devices/system/cpu/smt/control")
    if not system.online:
        severity, value = Severity.unknown, "could not be read"
    elif pairs:
        severity, value = Severity.warning, f"{len(pairs)} cores run two threads each"
    else:
        severity, value = Severity.good, "each CPU is a core of its own, as far as can be seen"
    return Finding(
        id="smt",
        title="Hardware threads (SMT)",
        severity=severity,
        value=value,
        why="Two hardware threads share one core. When the neighbour computes, the loop takes up "
        "to twice as long for the same work.",
        fix=None
        if not pairs
        else "echo off | sudo tee /sys/devices/system/cpu/smt/control"
        if control in ("on", "off")
        else "switch SMT (Hyper-Threading) off in the firmware",
    )


def numa(system: System) -> Finding:
    """Judges automatic balancing between memory nodes."""
    nodes = parse_cpu_list(system.text("/sys/devices/system/node/online"))
    balancing = system.number("/proc/sys/kernel/numa_balancing")
    severity, fix = Severity.good, None
    value = "one node" if len(nodes) == 1 else f"{len(nodes)} nodes"
    if not nodes:
        severity, value = Severity.note, "not a NUMA kernel, or could not be read"
    elif len(nodes) > 1:
        severity = Severity.warning if balancing else Severity.note
        value += ", automatic balancing on" if balancing else ""
        fix = by_hand("numa", system) if balancing else None
    return Finding(
        id="numa",
        title="Memory nodes (NUMA)",
        severity=severity,
        value=value,
        why="Memory of another node is slower, and automatic balancing takes pages away from a "
        "running loop to move them: page faults although all memory is locked.",
        fix=fix,
    )


def cpusets(system: System) -> Finding | None:
    """Looks whether services of the system may run on the loop's core."""
    groups = service_cpus(system)
    loop = set(loop_cores(system))
    if not groups or not loop:
        return None
    allowed = [name for name, cpus in groups.items() if cpus & loop]
    return Finding(
        id="cpusets",
        title="Cores of system services",
        severity=Severity.note if allowed else Severity.good,
        value=f"{', '.join(allowed)} may run on CPU {format_cpu_list(loop)}"
        if allowed
        else "kept away from the loop's core",
        why="A service that runs between two cycles leaves cold caches to the loop, and work of "
        "the kernel on its core. Where the core is isolated, it does so only when it asks to.",
        fix=by_hand("cpusets", system) if allowed else None,
    )


CHECKS = (isolation, interrupts, irqbalance, cpusets, siblings, tick, numa)
