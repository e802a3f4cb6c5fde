# SPDX-License-Identifier: Apache-2.0
"""What ``takt check`` measures: every layer from the bare timer up to ROS 2, normal and real-time.

The layers share rate and deadline, those of a 1 kHz control loop, so they can be read as a stack:
what the machine costs, what the kernel's network costs, what ROS 2 adds. Ten points, three
interleaved repetitions of 2.5 s: 75 s of measuring, 7,500 samples a point, enough to show that
fewer than 1 in 1,000 responses are late when at most two are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from takt.doctor import System
from takt.machine.fast_cores import best_core, fast_cores
from takt.machine.system import format_cpu_list
from takt.measure.experiment.model import Experiment

NAME = "check"
RATE = "1kHz"
DEADLINE = "1ms"
DURATION = "2500ms"
REPETITIONS = 3
REALTIME = "fifo 80"
PAYLOAD = "500B"

LAYERS: tuple[dict[str, Any], ...] = (
    {"stack": "raw", "kind": "wakeup", "transport": "nanosleep"},
    {"stack": "raw", "kind": "pingpong", "transport": "futex", "payload": PAYLOAD},
    {"stack": "raw", "kind": "pingpong", "transport": "udp", "payload": PAYLOAD},
    {"stack": "rcl", "kind": "pingpong", "transport": "shm", "payload": PAYLOAD},
    {"stack": "rcl", "kind": "pingpong", "transport": "process", "payload": PAYLOAD},
)


@dataclass(frozen=True)
class RealtimeCore:
    """The core that the real-time cells are pinned to, and why it was chosen."""

    cpu: int
    reason: str


def choose_core(system: System) -> RealtimeCore:
    """The fastest isolated core that this process may use, else the fastest of all that it may.

    Of several the last. Cores that ``isolcpus`` took away are missing from a process's affinity,
    but may be asked for.
    """
    usable = [cpu for cpu in system.isolated if system.try_cpu(cpu)]
    isolated = format_cpu_list(system.isolated)
    if usable:
        return RealtimeCore(fast_cores(system, usable)[-1], f"isolated ({isolated})")
    allowed = system.affinity()
    fast = fast_cores(system, allowed)
    cpu = best_core(system, allowed)
    which = "the last allowed CPU" if system.isolated else "the last CPU"
    if cpu not in fast:
        which = "the fastest CPU but the first"
    elif len(fast) < len(allowed):
        which = f"the last of the fast CPUs {format_cpu_list(fast)}"
    why = f"isolated {isolated} are not allowed" if system.isolated else "no CPU is isolated"
    return RealtimeCore(cpu, f"{which}; {why}")


def experiment(core: RealtimeCore) -> Experiment:
    """The experiment of ``takt check``."""
    settings = ({"scheduling": "other"}, {"scheduling": REALTIME, "cpu": core.cpu})
    return Experiment.model_validate(
        {
            "name": NAME,
            "description": "Every layer of this machine, normal and real-time",
            "repetitions": REPETITIONS,
            "duration": DURATION,
            "deadline": DEADLINE,
            "skip_missing": True,
            "measurements": [
                {**layer, "rate": RATE, **setting} for layer in LAYERS for setting in settings
            ],
        }
    )
