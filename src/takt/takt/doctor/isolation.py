# SPDX-License-Identifier: Apache-2.0
"""Who else runs on the cores of the control loop: other tasks, the tick, interrupts, a sibling."""

from __future__ import annotations

from takt.doctor.check import BY_HAND, UNREADABLE, Check, Judgement, good, note, warning
from takt.machine.boot import boot_option_fix
from takt.machine.cores import loop_cores, service_cpus
from takt.machine.fast_cores import best_core, fast_cores
from takt.machine.interrupt import handlers
from takt.machine.system import System, format_cpu_list, parse_cpu_list


def _isolation(system: System) -> Judgement:
    if not system.exists("/sys/devices/system/cpu/isolated"):
        return UNREADABLE
    fast = fast_cores(system, system.online)
    differ = len(fast) < len(system.online)
    if isolated := system.isolated:
        value = f"CPUs {format_cpu_list(isolated)} are isolated"
        if differ and not set(isolated) & set(fast):
            option = _option(best_core(system, system.online))
            fix = f"on the kernel command line, replace isolcpus by: {option}   (then reboot)"
            return note(f"{value}; the fast cores are {format_cpu_list(fast)}", fix)
        return good(value)
    if len(system.online) < 2:
        return note("there is only one CPU")
    value = "no CPU is isolated"
    value += f"; the fast cores are {format_cpu_list(fast)}" if differ else ""
    option = _option(best_core(system, system.online))
    return warning(value, boot_option_fix(system, option))


def _option(cpu: int) -> str:
    return f"isolcpus=domain,managed_irq,{cpu}"


def _tick(system: System) -> Judgement:
    """nohz_full and rcu_nocbs matter where a core is isolated; elsewhere they are advice."""
    quiet = set(parse_cpu_list(system.text("/sys/devices/system/cpu/nohz_full")))
    offloaded = set(parse_cpu_list(system.boot_option("rcu_nocbs"))) | quiet
    isolated = set(system.isolated)
    cpus = format_cpu_list(isolated)
    if not isolated:
        return note("no isolated core to keep it from")
    if not isolated - quiet and not isolated - offloaded:
        return good(f"off on CPUs {cpus} while one runs")
    value, option = "the tick and RCU work run on the isolated cores too", f"rcu_nocbs={cpus}"
    if system.kernel_config and system.kernel_config.get("CONFIG_NO_HZ_FULL") != "y":
        value += "; this kernel was built without NO_HZ_FULL"
    else:
        option = f"nohz_full={cpus} {option}"
    return note(value, boot_option_fix(system, option))


def _interrupts(system: System) -> Judgement:
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
    if not read:
        return UNREADABLE
    if len(online) < 2:
        return note("all fire on the only CPU")
    if not touching and isolated:
        return good("kept away from cores of the loop")
    if not touching:
        return note("spread by hand over single cores")
    if isolated:
        value = f"{len(touching)} of {read} fire on isolated cores ({', '.join(touching[:6])})"
        return warning(value, BY_HAND)
    return note(f"{len(touching)} of {read} may fire on any core", BY_HAND)


def _irqbalance(system: System) -> Judgement:
    if not system.names("/proc"):
        return UNREADABLE
    if any((system.text(path) or "") == "irqbalance" for path in system.glob("/proc/[0-9]*/comm")):
        return warning("running", "sudo systemctl disable --now irqbalance")
    return good("not running")


def sibling_threads(system: System) -> set[str]:
    """The lists of CPUs that are hardware threads of one core."""
    pairs = set()
    for cpu in system.online:
        folder = f"/sys/devices/system/cpu/cpu{cpu}/topology"
        together = parse_cpu_list(
            system.text(f"{folder}/thread_siblings_list") or system.text(f"{folder}/core_cpus_list")
        )
        if len(set(together) & set(system.online)) > 1:
            pairs.add(format_cpu_list(together))
    return pairs


def _siblings(system: System) -> Judgement:
    if not system.online:
        return UNREADABLE
    pairs = sibling_threads(system)
    if not pairs:
        return good("the kernel reports no sibling hardware threads")
    control = "/sys/devices/system/cpu/smt/control"
    return warning(
        f"{len(pairs)} cores run two threads each",
        f"echo off | sudo tee {control}"
        if system.text(control) in ("on", "off")
        else "switch SMT (Hyper-Threading) off in the firmware",
    )


def _numa(system: System) -> Judgement:
    """Automatic balancing between memory nodes."""
    nodes = parse_cpu_list(system.text("/sys/devices/system/node/online"))
    if not nodes:
        return note("not a NUMA kernel, or could not be read")
    if len(nodes) == 1:
        return good("one node")
    if system.number("/proc/sys/kernel/numa_balancing"):
        return warning(f"{len(nodes)} nodes, automatic balancing on", BY_HAND)
    return note(f"{len(nodes)} nodes")


def _cpusets(system: System) -> Judgement | None:
    """Whether services of the system may run on the loop's core."""
    groups = service_cpus(system)
    loop = set(loop_cores(system))
    if not groups or not loop:
        return None
    if allowed := [name for name, cpus in groups.items() if cpus & loop]:
        return note(f"{', '.join(allowed)} may run on CPU {format_cpu_list(loop)}", BY_HAND)
    return good("kept away from the loop's core")


CHECKS = (
    Check(
        "isolation",
        "Isolated cores",
        _isolation,
        "On a shared core the loop finds cold caches and kernel work that others left behind. "
        "On a core of its own it finds everything as it left it.",
    ),
    Check(
        "interrupts",
        "Interrupt affinity",
        _interrupts,
        "Each interrupt of disk, network or camera stops the loop on whose core it fires, for "
        "microseconds to a tenth of a millisecond.",
    ),
    Check(
        "irqbalance",
        "irqbalance",
        _irqbalance,
        "irqbalance moves interrupts between the cores while the robot works, also onto the "
        "core of the control loop.",
    ),
    Check(
        "cpusets",
        "Cores of system services",
        _cpusets,
        "A service that runs between two cycles leaves cold caches to the loop, and work of "
        "the kernel on its core. Where the core is isolated, it does so only when it asks to.",
    ),
    Check(
        "smt",
        "Hardware threads (SMT)",
        _siblings,
        "Two hardware threads share one core. When the neighbour computes, the loop takes up "
        "to twice as long for the same work.",
    ),
    Check(
        "tick",
        "Scheduler tick and RCU callbacks",
        _tick,
        "The tick interrupts a running loop 100 to 1000 times a second for a few µs, and RCU "
        "frees other programs' memory on its core.",
    ),
    Check(
        "numa",
        "Memory nodes (NUMA)",
        _numa,
        "Memory of another node is slower, and automatic balancing takes pages away from a "
        "running loop to move them: page faults although all memory is locked.",
    ),
)
