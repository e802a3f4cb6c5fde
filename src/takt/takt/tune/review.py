# SPDX-License-Identifier: Apache-2.0
"""What takes a reboot or another kernel: boot parameters and kernel options, as a file to review.

The kernel options are those of Ye et al. 2023, Table 3. Nothing here is changed by Takt: what it
writes is a fragment that a person reads, and gives to the kernel's ``merge_config.sh``.
"""

from __future__ import annotations

from dataclasses import dataclass

from takt.machine.boot import boot_option_fix
from takt.machine.cores import loop_cores, other_cores
from takt.machine.preemption import preemption_model
from takt.machine.system import System, format_cpu_list

_SOURCE = "Ye et al. 2023, Table 3"


@dataclass(frozen=True)
class Option:
    """A kernel option: its line, and what it stands for in the table."""

    name: str
    wanted: str  # "n" for one that is not set
    item: str

    def line(self) -> str:
        """As in a configuration of the kernel."""
        off = self.wanted == "n"
        return f"# {self.name} is not set" if off else f"{self.name}={self.wanted}"


TABLE_3 = (
    Option("CONFIG_PREEMPT_RT", "y", "Preemption model: fully preemptible kernel (real-time)"),
    Option("CONFIG_HIGH_RES_TIMERS", "y", "Timers subsystem: high-resolution timer support"),
    Option("CONFIG_NO_HZ_FULL", "y", "Timer tick handling: full dynticks system (tickless)"),
    Option("CONFIG_HZ_1000", "y", "Timer frequency: 1000 Hz"),
    Option("CONFIG_CPU_FREQ_DEFAULT_GOV_PERFORMANCE", "y", "Default CPUFreq governor: performance"),
    Option("CONFIG_CPU_IDLE", "n", "C-state: forbid"),
)


def boot_parameters(system: System) -> list[tuple[str, str]]:
    """Words for the kernel command line that are not on it yet, each with its reason."""
    wanted: list[tuple[str, str]] = []
    if cores := loop_cores(system):
        loop = format_cpu_list(cores)
        wanted = [
            (f"isolcpus=domain,managed_irq,{loop}", "a core of its own for the loop"),
            (f"nohz_full={loop}", "no tick while one thread runs there (CONFIG_NO_HZ_FULL)"),
            (f"rcu_nocbs={loop}", "no RCU callbacks there"),
        ]
        if others := other_cores(system):
            wanted.append((f"irqaffinity={others}", "interrupts elsewhere, from the start"))
    model, mode = preemption_model(system)
    if model == "PREEMPT_DYNAMIC" and mode != "full":
        wanted.append(("preempt=full", "system calls can be interrupted"))
    if model not in ("PREEMPT_RT", ""):
        wanted.append(("threadirqs", "interrupts in threads, below the loop's priority"))
    driver = system.text("/sys/devices/system/cpu/cpuidle/current_driver")
    if driver == "intel_idle":
        wanted.append(("intel_idle.max_cstate=0", "with the next: no sleep deeper than C1"))
    if driver in ("intel_idle", "acpi_idle"):
        wanted.append(("processor.max_cstate=1", f"no sleep deeper than C1 ({_SOURCE})"))
    return [(word, why) for word, why in wanted if not _is_there(system, word)]


def text(system: System) -> str:
    """The file: comments for people, and lines that ``merge_config.sh`` takes."""
    lines = [
        "# Boot parameters and kernel configuration for real time, to be reviewed.",
        "# takt tune changes neither of them: each takes a reboot, and the second a new kernel.",
        f"# This kernel: {system.release or 'unknown'}",
        "",
        "# 1. Boot parameters that are missing",
    ]
    parameters = boot_parameters(system)
    width = max((len(word) for word, _ in parameters), default=0)
    lines += [f"#   {word.ljust(width)}  {why}" for word, why in parameters]
    if parameters:
        lines += ["#", "# All of them:"]
        words = " ".join(word for word, _ in parameters)
        lines += [f"#   {one}" for one in boot_option_fix(system, words).splitlines()]
    else:
        lines.append("#   none")
    lines += ["", f"# 2. Kernel configuration ({_SOURCE}), for: scripts/kconfig/merge_config.sh"]
    for option in TABLE_3:
        lines += ["", f"# {option.item}; {_state(system, option)}", option.line()]
    if system.kernel_config.get("CONFIG_CPU_FREQ") != "y" and system.kernel_config:
        lines.append("# (this kernel has no CPUFreq: its firmware or host decides)")
    return "\n".join(lines) + "\n"


def _is_there(system: System, word: str) -> bool:
    name, equals, value = word.partition("=")
    have = system.boot_option(name)
    return have is not None and (not equals or have == value)


def _state(system: System, option: Option) -> str:
    if not system.kernel_config:
        return "the configuration of this kernel is unreadable"
    have = system.kernel_config.get(option.name, "n")
    return "this kernel has it" if have == option.wanted else f"this kernel has {have}"
