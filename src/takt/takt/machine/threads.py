# SPDX-License-Identifier: Apache-2.0
"""Settings of the kernel's threads that deliver messages from other hosts.

Priorities from Gutierrez et al. 2018, test B.4: interrupt threads of the network 90, ROS 2 80,
ksoftirqd 60. With ksoftirqd at normal priority they lost messages under traffic, so almost none.
"""

from __future__ import annotations

from collections.abc import Iterator

from takt.machine.kernel_thread import ThreadScheduling, kernel_thread
from takt.machine.setting import Listed, Setting, Wish
from takt.machine.system import System

SOFTIRQ_PRIORITY = 60
NETWORK_PRIORITY = 90


def softirq_threads(system: System) -> list[ThreadScheduling]:
    """One for each CPU."""
    return [one for one in _threads(system) if one.name.startswith("ksoftirqd/")]


def network_threads(system: System) -> list[ThreadScheduling]:
    """Interrupt threads of network devices; the kernel has them with PREEMPT_RT or threadirqs."""
    numbers = _network_interrupts(system)
    names = [one for one in system.names("/sys/class/net") if one != "lo"]
    found = []
    for thread in _threads(system):
        number, _, device = thread.name.removeprefix("irq/").partition("-")
        # Names of threads are cut to 15 characters, so the number counts, too.
        if thread.name.startswith("irq/") and (
            number in numbers or any(device.startswith(name) for name in names)
        ):
            found.append(thread)
    return found


def _threads(system: System) -> Iterator[ThreadScheduling]:
    """Kernel threads of these two kinds, in the order of their numbers."""
    for pid in sorted(map(int, filter(str.isdecimal, system.names("/proc")))):
        name = system.text(f"/proc/{pid}/comm") or ""
        if name.startswith(("ksoftirqd/", "irq/")) and (thread := kernel_thread(system, pid)):
            yield thread


def _network_interrupts(system: System) -> set[str]:
    found: set[str] = set()
    for name in system.names("/sys/class/net"):
        for folder in ("device", "device/.."):  # of virtio, the device above has them
            found.update(system.names(f"/sys/class/net/{name}/{folder}/msi_irqs"))
            number = system.number(f"/sys/class/net/{name}/{folder}/irq")
            found.update([str(number)] if number else [])
    return found


SETTINGS = (
    Setting(
        id="ksoftirqd",
        title="Priority of ksoftirqd",
        why="Under traffic it delivers network packets; at normal priority any loop starves it.",
        findings=("ksoftirqd",),
        wishes=lambda system: [
            Wish(one, f"fifo {SOFTIRQ_PRIORITY}") for one in softirq_threads(system)
        ],
        places=(Listed(ThreadScheduling, "ksoftirqd/[0-9]+"),),
        by_hand=lambda _: (
            f"for p in $(pgrep ksoftirqd); do sudo chrt -f -p {SOFTIRQ_PRIORITY} $p; done"
        ),
        caution=f"loops below {SOFTIRQ_PRIORITY} wait for bursts of packets",
    ),
    Setting(
        id="irq-threads",
        title="Priority of network interrupts",
        why="At the default 50, packets wait for every loop of a higher priority.",
        findings=("irq-threads",),
        wishes=lambda system: [
            Wish(one, f"fifo {NETWORK_PRIORITY}") for one in network_threads(system)
        ],
        places=(Listed(ThreadScheduling, "irq/[ -~]+"),),
        by_hand=lambda system: (
            f"for p in {' '.join(str(one.pid) for one in network_threads(system))}; do "
            f"sudo chrt -f -p {NETWORK_PRIORITY} $p; done"
        ),
        absent="this kernel has no threads for network interrupts: it needs PREEMPT_RT, or the "
        "boot parameter threadirqs",
        caution=f"loops below {NETWORK_PRIORITY} wait for packets",
    ),
)
