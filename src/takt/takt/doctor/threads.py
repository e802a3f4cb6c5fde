# SPDX-License-Identifier: Apache-2.0
"""The kernel's threads that deliver messages of other hosts: their priority is the network's."""

from __future__ import annotations

from takt.doctor.finding import Finding, Severity
from takt.machine import threads
from takt.machine.kernel_thread import ThreadScheduling
from takt.machine.preemption import preemption_model
from takt.machine.settings import by_hand
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


def softirq(system: System) -> Finding | None:
    """Under traffic ksoftirqd handles network packets, on PREEMPT_RT sooner than elsewhere."""
    priorities = _priorities(system, threads.softirq_threads(system))
    if not priorities and preemption_model(system)[0] != "PREEMPT_RT":
        return None  # a container, which sees no threads of the kernel
    normal = priorities and not all(priorities.values())
    return Finding(
        id="ksoftirqd",
        title="Priority of ksoftirqd",
        severity=Severity.unknown if not priorities else Severity.note if normal else Severity.good,
        value=_words(priorities) if priorities else "could not be read",
        why="When packets come faster than interrupts handle them, ksoftirqd delivers them. At "
        "normal priority any real-time thread can starve it: the loop is on time, but its messages "
        "from another host wait.",
        fix=by_hand("ksoftirqd", system) if normal else None,
    )


def interrupts(system: System) -> Finding | None:
    """Interrupt threads of the network, where the kernel has such."""
    priorities = _priorities(system, threads.network_threads(system))
    if not priorities:
        return None
    low = min(priorities.values()) < threads.NETWORK_PRIORITY
    return Finding(
        id="irq-threads",
        title="Priority of network interrupts",
        severity=Severity.note if low else Severity.good,
        value=_words(priorities),
        why="On this kernel threads handle interrupts, at 50 unless told otherwise. A loop above "
        "that which waits for a message from another host is in the way of its own message.",
        fix=by_hand("irq-threads", system) if low else None,
    )


CHECKS = (softirq, interrupts)
