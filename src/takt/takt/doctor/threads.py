# SPDX-License-Identifier: Apache-2.0
"""The kernel's threads that deliver messages of other hosts: their priority is the network's."""

from __future__ import annotations

from takt.doctor.check import BY_HAND, UNREADABLE, Check, Judgement, good, note
from takt.machine import threads
from takt.machine.kernel_thread import ThreadScheduling
from takt.machine.preemption import preemption_model
from takt.machine.system import System


def _priorities(system: System, found: list[ThreadScheduling]) -> dict[str, int] | None:
    """The real-time priority of each, 0 where it has none; None where one cannot be read."""
    try:
        return {one.name: system.scheduling(one.pid)[1] for one in found}
    except OSError:
        return None


def _words(priorities: dict[str, int]) -> str:
    """``SCHED_FIFO 50``, or ``SCHED_OTHER``, each once."""
    words = {f"SCHED_FIFO {one}" if one else "SCHED_OTHER" for one in priorities.values()}
    return ", ".join(sorted(words))


def _softirq(system: System) -> Judgement | None:
    """Under traffic ksoftirqd handles network packets, on PREEMPT_RT sooner than elsewhere."""
    priorities = _priorities(system, threads.softirq_threads(system))
    if not priorities:  # a container sees no threads of the kernel
        return UNREADABLE if preemption_model(system)[0] == "PREEMPT_RT" else None
    value = _words(priorities)
    return good(value) if all(priorities.values()) else note(value, BY_HAND)


def _interrupts(system: System) -> Judgement | None:
    """Interrupt threads of the network, where the kernel has such."""
    priorities = _priorities(system, threads.network_threads(system))
    if not priorities:
        return None
    low = min(priorities.values()) < threads.NETWORK_PRIORITY
    return note(_words(priorities), BY_HAND) if low else good(_words(priorities))


CHECKS = (
    Check(
        "ksoftirqd",
        "Priority of ksoftirqd",
        _softirq,
        "When packets come faster than interrupts handle them, ksoftirqd delivers them. At "
        "normal priority any real-time thread can starve it: the loop is on time, but its messages "
        "from another host wait.",
    ),
    Check(
        "irq-threads",
        "Priority of network interrupts",
        _interrupts,
        "On this kernel, threads handle interrupts, at priority 50 by default. A loop with a "
        "higher priority that waits for a message of another host delays its own message.",
    ),
)
